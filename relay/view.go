package relay

import (
	"svcrelay/nocgo"
	"svcrelay/translate"
)

// openView gives translate the configuration and says which sites are worth patching.
func openView(s *translate.Scratch) bool {
	if !view.Configure(conf.root, conf.binds, conf.ttl) {
		return false
	}
	wanted.Add(nocgo.SysOpenat)
	wanted.Add(nocgo.SysNewfstatat)
	return true
}

// stepIn brings the kernel's current directory to where PRoot's is.
func stepIn(s *translate.Scratch) {}
