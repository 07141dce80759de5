package translate

import "svcrelay/nocgo"

// resolve finds what a path names for a call that follows a link at the end, or does not: afterwards s.fd and s.call are
// what to give the kernel. An empty path is only noted; PRoot leaves it to the kernel, with its descriptor.
func (v *View) resolve(s *Scratch, dirfd, path uintptr, follow bool) (errno uintptr, why Reason) {
	if errno, why = v.find(s, dirfd, path, follow); errno == 0 && why == Answered && !s.empty {
		v.seal(s)
	}
	return errno, why
}

// find is resolve without what must follow the path.
func (v *View) find(s *Scratch, dirfd, path uintptr, follow bool) (errno uintptr, why Reason) {
	errno, why = v.begin(s, dirfd, path)
	if errno == 0 && why == Answered && !s.empty && (follow || s.tail != tailNone) {
		errno, why = v.chase(s)
	}
	return errno, why
}

// mkdir answers mkdirat, which does not follow a link at the end unless slashes follow it. Making something makes
// nothing wrong that is remembered.
//
// It declines the guest path of a binding: Termux's fork looks at the place that the binding covers. In modes it also declines
// what look does.
func (v *View) mkdir(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.resolveNew(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysMkdirat, s.fd, s.call, c.Arg[2], 0, 0, 0)
	v.madeIn(s, r)
	return v.priority(s, r)
}

// mknod answers mknodat. PRoot follows a link at the end, which the kernel alone would not do. It proves that there is none, and
// declines only paths; in modes also what look declines.
func (v *View) mknod(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.resolve(s, c.Arg[0], c.Arg[1], true)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysMknodat, s.fd, s.call, c.Arg[2], c.Arg[3], 0, 0)
	v.madeIn(s, r)
	return v.priority(s, r)
}

// symlink answers symlinkat. The text of the new link is the kernel's business.
//
// It declines what mkdir declines. PRoot 5.4.0 finds faults of the path before the kernel finds those of the text;
// Termux's fork leaves the last directory to the kernel. So it also declines where the path is at fault.
func (v *View) symlink(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.resolveNew(s, c.Arg[1], c.Arg[2])
	if errno != 0 {
		return 0, Differs
	}
	if why != Answered {
		return 0, why
	}
	r := nocgo.Raw(nocgo.SysSymlinkat, c.Arg[0], s.fd, s.call, 0, 0, 0)
	v.madeIn(s, r)
	return v.agreed(s, r)
}

// resolveNew is resolve for a name that is to be made. Where the path ends with a name, Termux's fork resolves its
// directory and adds the name, so bindings do not count there.
func (v *View) resolveNew(s *Scratch, dirfd, path uintptr) (errno uintptr, why Reason) {
	if errno, why = v.begin(s, dirfd, path); errno != 0 || why != Answered || s.empty {
		return errno, why
	}
	if s.leafBind != s.bind {
		return 0, Differs
	}
	if s.tail != tailNone {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return errno, why
		}
	}
	v.seal(s)
	return 0, Answered
}

// madeIn remembers the directory reached after a call that made something in it, or found something there. That nothing
// is there may be said of another path.
func (v *View) madeIn(s *Scratch, r uintptr) {
	if !nocgo.Failed(r) || r == nocgo.Fail(nocgo.EEXIST) {
		v.learnt(s, 0)
	}
}

// agreed is priority where only one line of PRoot would have failed before the kernel.
func (v *View) agreed(s *Scratch, r uintptr) (uintptr, Reason) {
	if !s.unproven || !nocgo.Failed(r) || r == nocgo.Fail(nocgo.ENOTDIR) {
		return r, Answered
	}
	errno, why := v.proveLate(s)
	if errno != 0 {
		return 0, Differs
	}
	return r, why
}

// proveLate makes sure that the directory reached is one, when s.host has become something else.
func (v *View) proveLate(s *Scratch) (errno uintptr, why Reason) {
	if why = v.settle(s); why != Answered {
		return 0, why
	}
	s.unproven = true
	return v.prove(s)
}
