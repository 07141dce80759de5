package translate

import "svcrelay/nocgo"

// change handles the calls that may change what paths mean. None is answered from memory.
//
//   - chdir and fchdir are issued so that PRoot answers them; afterwards the text of the current directory is
//     asked for again.
//   - Calls that rename, remove or change permissions are issued in the same way, and everything remembered is
//     forgotten when they are done, so that nobody remembers in between what no longer holds. Calls that only
//     create need none of this: what is remembered are directories that exist.
//   - Waiting for a child may block, so it is declined: everything is forgotten first. What other threads
//     remember while the caller waits holds for the lifetime, like anything that other processes change.
//   - Changing the root, the mounts or the namespaces ends the View for good.
func (v *View) change(c *Call) (uintptr, Reason) {
	switch c.Nr {
	case nocgo.SysChdir, nocgo.SysFchdir:
		r := v.plain(c)
		nocgo.Add32(&v.cwd, 1)
		return r, Answered
	case nocgo.SysRenameat, nocgo.SysRenameat2:
		r := v.plain(c)
		nocgo.Add32(&v.gen, 1)
		nocgo.Add32(&v.cwd, 1)
		return r, Answered
	case nocgo.SysUnlinkat, nocgo.SysFchmod, nocgo.SysFchmodat, nocgo.SysFchmodat2, nocgo.SysFchown,
		nocgo.SysFchownat:
		r := v.plain(c)
		nocgo.Add32(&v.gen, 1)
		return r, Answered
	case nocgo.SysWait4, nocgo.SysWaitid:
		nocgo.Add32(&v.gen, 1)
		return 0, Effect
	case nocgo.SysChroot, nocgo.SysMount, nocgo.SysUmount2, nocgo.SysPivotRoot, nocgo.SysUnshare, nocgo.SysSetns:
		v.Withdraw()
		return 0, Withdrawn
	}
	return 0, Number
}

// plain issues the call as it is.
func (v *View) plain(c *Call) uintptr {
	return nocgo.Plain(c.Nr, c.Arg[0], c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], c.Arg[5])
}
