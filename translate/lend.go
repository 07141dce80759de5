package translate

import "svcrelay/nocgo"

// While PRoot fakes root, it lends the guest rights on the way to a file for the time of a call (identity.go). It takes
// them back when the same thread stops the next time: at the end of calls whose end it wants to see, but only with the
// thread's next call of any kind after the others. A call that is answered here in between does not stop, and would see
// the lent rights. So after one of these others was left to PRoot, the thread is noted, and before something is
// answered that shows rights, it stops once for nothing.
//
// What other threads see of the lent rights meanwhile they may see without us, too.

// lenders is how many threads can be noted.
const lenders = 16

// anyThread is noted where two threads fall on one place.
const anyThread = ^uint32(0)

// EndsUnseen says whether a call may lend rights that are still lent when it is over.
func EndsUnseen(nr uintptr) bool {
	switch nr {
	case nocgo.SysOpenat, nocgo.SysFaccessat, nocgo.SysUnlinkat, nocgo.SysMkdirat, nocgo.SysUtimensat,
		nocgo.SysSymlinkat, nocgo.SysLinkat, nocgo.SysTruncate, nocgo.SysOpenat2, nocgo.SysFaccessat2,
		nocgo.SysGetxattr, nocgo.SysLgetxattr, nocgo.SysListxattr, nocgo.SysLlistxattr,
		nocgo.SysRemovexattr, nocgo.SysLremovexattr, nocgo.SysInotifyAdd, nocgo.SysNameToHandle,
		nocgo.SysBind, nocgo.SysConnect, nocgo.SysGetcwd, nocgo.SysAcct, nocgo.SysSwapon, nocgo.SysSwapoff, nocgo.SysUmount2:
		return true
	}
	return false
}

// noteLent notes this thread before a call that may leave it with lent rights.
func (v *View) noteLent() {
	tid := uint32(nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0))
	p := &v.lent[tid%lenders]
	if nocgo.CompareAndSwap32(p, 0, tid) {
		nocgo.Add32(&v.lending, 1)
		return
	}
	if nocgo.LoadAcquire32(p) != tid {
		nocgo.StoreRelease32(p, anyThread)
	}
}

// stop has the thread stop at a call without a path: PRoot takes back what it lent to it.
func stop() { nocgo.Plain(nocgo.SysFaccessat, nocgo.AtFdcwd, 0, 0, 0, 0, 0) }

// takeBack has PRoot take back what it lent to this thread.
func (v *View) takeBack() {
	tid := uint32(nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0))
	p := &v.lent[tid%lenders]
	held := nocgo.LoadAcquire32(p)
	if held != tid && held != anyThread {
		return
	}
	stop()
	if held == tid && nocgo.CompareAndSwap32(p, tid, 0) {
		nocgo.Add32(&v.lending, ^uint32(0))
	}
}

// MissLent tells the View that calls after which rights are still lent may pass unseen. Then every thread stops once
// before what shows rights.
func (v *View) MissLent() { v.missing = true }

// Passing tells the View of a call that goes on to PRoot without having been looked at.
func (v *View) Passing(nr uintptr) {
	if v.faked != 0 && EndsUnseen(nr) {
		v.noteLent()
	}
}

// settleLent has PRoot take back what it may have lent to this thread.
func (v *View) settleLent() {
	if v.missing {
		stop()
		return
	}
	v.takeBack()
}

// showsRights says whether the answer to a call shows rights on a file, or changes a file that PRoot would then give back
// its rights by name.
func showsRights(c *Call) bool {
	switch c.Nr {
	case nocgo.SysNewfstatat, nocgo.SysFstat, nocgo.SysStatx,
		nocgo.SysUnlinkat, nocgo.SysRenameat, nocgo.SysRenameat2, nocgo.SysMkdirat, nocgo.SysMknodat, nocgo.SysSymlinkat,
		nocgo.SysFchmodat, nocgo.SysFchownat, nocgo.SysFchmod, nocgo.SysFchown:
		return true
	case nocgo.SysOpenat:
		return c.Arg[2]&(nocgo.OCreat|nocgo.OTmpfile) != 0 // see createsAlike
	case nocgo.SysFaccessat2, nocgo.SysOpenat2, nocgo.SysFchmodat2:
		return true // where PRoot does not stop at them, the kernel answers, and what was lent allows more
	}
	return false
}
