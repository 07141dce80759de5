//go:build !freestanding

package relay

import "svcrelay/patcher"

// Wanted are the calls whose sites the constructor patches where PRoot does nothing but show files.
func Wanted() *patcher.Numbers {
	var n patcher.Numbers
	chooseSites(&n)
	return &n
}
