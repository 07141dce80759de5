package translate

import "svcrelay/nocgo"

// With --link2symlink PRoot makes a symbolic link, to a file .l2s.NAME0001, of what should be a hard link; that one is a
// link to the content, .l2s.NAME0001.0002, whose number is that of the names. PRoot then shows the content wherever a
// call ends at such a link, and for a file with such a name it makes the link count of the number. So:
//
//   - A path that ends at something else is answered: at no link, or at one whose text has another name at its end, and
//     at a name that does not begin like that.
//   - What a descriptor leads to is known by the text of its link under /proc. What has no path is as the kernel says:
//     Termux's fork finds nothing there. PRoot 5.4.0 then looks at a structure that lstat has not filled; it finds nothing
//     either, or by chance it fails with EPERM. To leave that to PRoot would only throw the dice once more.
//   - Everything else is declined, and so is every call that makes or removes names: those rename the content.

// isTwin says whether a name is of such a file.
func isTwin(name, n uintptr) bool {
	return n >= 5 && nocgo.Load8(name) == '.' && nocgo.Load8(name+4) == '.' &&
		nocgo.Load8(name+1) == 'l' && nocgo.Load8(name+2) == '2' && nocgo.Load8(name+3) == 's'
}

// endsTwin says whether a path of n bytes ends with such a name.
func endsTwin(path, n uintptr) bool {
	at := n
	for at > 0 && nocgo.Load8(path+at-1) != '/' {
		at--
	}
	return isTwin(path+at, n-at)
}

// statTwin declines what s.stat holds of the final component, if that is such a file or a link to one. It may overwrite
// s.host.
func (v *View) statTwin(s *Scratch) Reason {
	if s.empty {
		return Answered // the path that PRoot looks at is ""
	}
	if s.fd == nocgo.AtFdcwd {
		if endsTwin(s.hostAddr(), s.hostLen) {
			return Twin
		}
	} else if isTwin(s.name, s.nameLen) {
		return Twin
	}
	if s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink {
		return Answered
	}
	return v.linkTwin(s, s.hostAddr(), textMax)
}

// linkTwin declines a final component that is a link to such a file. Its text goes to a buffer of max bytes.
func (v *View) linkTwin(s *Scratch, buf, max uintptr) Reason {
	n := nocgo.Raw(nocgo.SysReadlinkat, s.fd, s.call, buf, max, 0, 0)
	switch {
	case n == nocgo.Fail(nocgo.EINVAL) || n == nocgo.Fail(nocgo.ENOENT) || n == nocgo.Fail(nocgo.ENOTDIR):
		return Answered
	case nocgo.Failed(n) || n >= max || endsTwin(buf, n):
		return Twin
	}
	return Answered
}

// notFollowed is for calls that end at the final component even if it is a link. Nothing is overwritten that they need.
func (v *View) notFollowed(s *Scratch) Reason {
	if v.modes&HardLinks == 0 || s.empty {
		return Answered
	}
	rest, max := s.restAddr(), uintptr(textMax)
	if s.name >= rest && s.name < rest+textSize {
		max = s.name - rest // what is left of a link's text
	}
	if max == 0 {
		return Twin
	}
	return v.linkTwin(s, rest, max)
}

// openTwin declines a descriptor of such a file. s.stat is what it is.
func (v *View) openTwin(s *Scratch, fd uintptr) Reason {
	const gone = 10 // the length of " (deleted)"
	n := s.fdText(fd)
	if nocgo.Failed(n) || n == 0 || n >= textMax || s.stat.Mode&nocgo.ModeType == nocgo.ModeSymlink {
		return Twin
	}
	text := s.hostAddr()
	if nocgo.Load8(text) != '/' {
		return Answered // a pipe, a socket
	}
	if n > gone && nocgo.Load8(text+n-gone) == ' ' && nocgo.Load8(text+n-gone+1) == '(' || endsTwin(text, n) {
		return Twin
	}
	return Answered
}
