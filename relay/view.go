package relay

import (
	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// chooseSites says which calls are worth a relay: those that translate answers, those after which what it
// remembers no longer holds, and those after which nothing may be answered any more.
func chooseSites(n *patcher.Numbers) {
	chooseUnanswered(n)
	n.Add(nocgo.SysOpenat)
	n.Add(nocgo.SysNewfstatat)
	n.Add(nocgo.SysFaccessat)
	n.Add(nocgo.SysStatx)
	n.Add(nocgo.SysReadlinkat)
	n.Add(nocgo.SysGetcwd)
	n.Add(nocgo.SysUname)
	n.Add(nocgo.SysFaccessat2)
	n.Add(nocgo.SysOpenat2)
	n.Add(nocgo.SysInotifyAdd)
	n.Add(nocgo.SysNameToHandle)
	n.Add(nocgo.SysBind)
	n.Add(nocgo.SysConnect)
	n.Add(nocgo.SysAccept)
	n.Add(nocgo.SysAccept4)
	n.Add(nocgo.SysGetsockname)
	n.Add(nocgo.SysGetpeername)

	n.Add(nocgo.SysChdir)
	n.Add(nocgo.SysFchdir)
	n.Add(nocgo.SysRenameat)
	n.Add(nocgo.SysRenameat2)
	n.Add(nocgo.SysUnlinkat)
	n.Add(nocgo.SysSymlinkat)
	n.Add(nocgo.SysLinkat)
	n.Add(nocgo.SysMkdirat)
	n.Add(nocgo.SysMknodat)
	n.Add(nocgo.SysUtimensat)
	n.Add(nocgo.SysTruncate)
	n.Add(nocgo.SysStatfs)
	n.Add(nocgo.SysGetxattr)
	n.Add(nocgo.SysLgetxattr)
	n.Add(nocgo.SysListxattr)
	n.Add(nocgo.SysLlistxattr)
	n.Add(nocgo.SysSetxattr)
	n.Add(nocgo.SysLsetxattr)
	n.Add(nocgo.SysFsetxattr)
	n.Add(nocgo.SysRemovexattr)
	n.Add(nocgo.SysLremovexattr)
	n.Add(nocgo.SysFremovexattr)
	n.Add(nocgo.SysFchmod)
	n.Add(nocgo.SysFchmodat)
	n.Add(nocgo.SysFchmodat2)
	n.Add(nocgo.SysFchown)
	n.Add(nocgo.SysFchownat)
	n.Add(nocgo.SysWait4)
	n.Add(nocgo.SysWaitid)
	n.Add(nocgo.SysChroot)
	n.Add(nocgo.SysMount)
	n.Add(nocgo.SysUmount2)
	n.Add(nocgo.SysPivotRoot)
	n.Add(nocgo.SysUnshare)
	n.Add(nocgo.SysSetns)

	for nr := uintptr(0); nr < patcher.MaxNumber; nr++ {
		if translate.ChangesRights(nr) {
			n.Add(nr)
		}
	}

	n.Add(nocgo.SysSigaltstack)
	n.Add(nocgo.SysPrctl)
	n.Add(nocgo.SysPtrace)
	n.Add(nocgo.SysSeccomp)

	if conf.stats {
		n.Add(nocgo.SysExitGroup)
		n.Add(nocgo.SysExecve)
		n.Add(nocgo.SysExecveat)
	}
}

// leaveEffects takes out of n what only answers: it leaves the calls after which the view may not be the same.
func leaveEffects(n *patcher.Numbers) {
	leaveUnanswered(n)
	n.Remove(nocgo.SysOpenat)
	n.Remove(nocgo.SysNewfstatat)
	n.Remove(nocgo.SysFaccessat)
	n.Remove(nocgo.SysStatx)
	n.Remove(nocgo.SysReadlinkat)
	n.Remove(nocgo.SysExitGroup)
	n.Remove(nocgo.SysExecve)
	n.Remove(nocgo.SysExecveat)
	n.Remove(nocgo.SysUtimensat)
	n.Remove(nocgo.SysTruncate)
	n.Remove(nocgo.SysStatfs)
	n.Remove(nocgo.SysGetxattr)
	n.Remove(nocgo.SysLgetxattr)
	n.Remove(nocgo.SysListxattr)
	n.Remove(nocgo.SysLlistxattr)
	n.Remove(nocgo.SysGetcwd)
	n.Remove(nocgo.SysUname)
	n.Remove(nocgo.SysFaccessat2)
	n.Remove(nocgo.SysOpenat2)
	n.Remove(nocgo.SysInotifyAdd)
	n.Remove(nocgo.SysNameToHandle)
	n.Remove(nocgo.SysAccept)
	n.Remove(nocgo.SysAccept4)
	n.Remove(nocgo.SysGetsockname)
	n.Remove(nocgo.SysGetpeername)
}

// watchesDirectory says whether all ways in which the C library changes the current directory are sites of the plan.
func watchesDirectory() bool {
	chdir, fchdir, rename := false, false, false
	for i := range plan.Count {
		s := &plan.Sites[i]
		switch uintptr(s.Nr) {
		case nocgo.SysChdir, nocgo.SysFchdir, nocgo.SysRenameat, nocgo.SysRenameat2:
			if !s.Published {
				return false
			}
		}
		if s.Form == patcher.Any && !s.Published {
			return false
		}
		switch uintptr(s.Nr) {
		case nocgo.SysChdir:
			chdir = true
		case nocgo.SysFchdir:
			fchdir = true
		case nocgo.SysRenameat, nocgo.SysRenameat2:
			rename = true
		}
	}
	return chdir && fchdir && rename && plan.Dispatchers > 0
}
