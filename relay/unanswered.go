package relay

import (
	"svcrelay/nocgo"
	"svcrelay/patcher"
)

// unanswered are calls with a path that are rare and always left to PRoot. They have relays so that the statistics and
// the log show every call that PRoot was stopped for because of a path.
var unanswered = [...]uintptr{nocgo.SysAcct, nocgo.SysSwapon, nocgo.SysSwapoff, nocgo.SysQuotactl, nocgo.SysFanotifyMark}

// chooseUnanswered adds them to n.
func chooseUnanswered(n *patcher.Numbers) {
	for _, nr := range unanswered {
		n.Add(nr)
	}
}

// leaveUnanswered takes them out of n.
func leaveUnanswered(n *patcher.Numbers) {
	for _, nr := range unanswered {
		n.Remove(nr)
	}
}
