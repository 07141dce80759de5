package translate

import "svcrelay/nocgo"

// Modes are the things that PRoot was asked to do besides showing files. The zero value is none of them.
type Modes uint32

// The modes that change answers. What else PRoot does in each is in docs/modes.md.
const (
	// Identity is -0, -i, --change-id and -S: see identity.go and lend.go.
	Identity Modes = 1 << iota
	// HardLinks is -l, --link2symlink: see twin.go.
	HardLinks
	// Release is -k, --kernel-release: uname shows what was asked for.
	Release
	// Ports is -p, and -n of the upstream line: addresses of sockets change that are no Unix sockets.
	Ports
	// HiddenFiles is -H: lists of directories change.
	HiddenFiles
	// Upstream and Termux say which line of descent PRoot is of; neither: not known.
	Upstream
	Termux
)

// fits says whether what is answered without modes is what PRoot answers in modes m, too. This is the one place that
// says so: a call that is not named here is answered only where PRoot does nothing but show files, or by edit (edits.go). Handlers that are
// named look at the modes themselves where it says so.
func fits(nr uintptr, m Modes) bool {
	switch nr {
	case nocgo.SysNewfstatat, nocgo.SysFstat, nocgo.SysStatx, nocgo.SysOpenat:
		return true // look at Identity and HardLinks
	case nocgo.SysGetxattr, nocgo.SysLgetxattr, nocgo.SysListxattr, nocgo.SysLlistxattr:
		return true // look at Identity and HardLinks
	case nocgo.SysReadlinkat:
		return true // look at HardLinks; rights that PRoot lends do not show in a link's text
	case nocgo.SysFaccessat:
		return true // ends at no link; lent rights only add to what is allowed, and denials are left to PRoot
	case nocgo.SysStatfs:
		return true // ends at no link; lent rights only add to what is allowed
	case nocgo.SysFaccessat2, nocgo.SysOpenat2:
		return true // look at Identity and HardLinks
	case nocgo.SysGetcwd:
		return true // what PRoot has in its records depends on no mode
	case nocgo.SysGetuid, nocgo.SysGeteuid, nocgo.SysGetgid, nocgo.SysGetegid, nocgo.SysGetresuid, nocgo.SysGetresgid,
		nocgo.SysGetgroups:
		return true // answered in Identity only
	case nocgo.SysFcntl, nocgo.SysPipe2, nocgo.SysDup3, nocgo.SysEventfd2, nocgo.SysEpollCreate1, nocgo.SysTimerfdCreate,
		nocgo.SysSignalfd4, nocgo.SysInotifyInit1, nocgo.SysSocketpair, nocgo.SysSocket:
		return true // answered in Release only; socket is seen under Termux's fork
	case nocgo.SysClose:
		return true // answered under Termux's fork only; looks at what is lent
	case nocgo.SysUname:
		return m&Release == 0
	case nocgo.SysAccept, nocgo.SysAccept4, nocgo.SysGetsockname, nocgo.SysGetpeername:
		return m&Ports == 0
	case nocgo.SysBind, nocgo.SysConnect:
		return true // look at Identity, HardLinks and Ports
	}
	return m&(Identity|HardLinks) == 0
}

// SetModes tells the View, once it is configured, what PRoot does besides showing files.
func (v *View) SetModes(m Modes) {
	v.modes = m
	if m&Identity != 0 {
		v.uid = uint32(nocgo.Raw(nocgo.SysGetuid, 0, 0, 0, 0, 0, 0))
		v.gid = uint32(nocgo.Raw(nocgo.SysGetgid, 0, 0, 0, 0, 0, 0))
		v.faked = 1
	}
}
