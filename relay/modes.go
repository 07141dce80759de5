package relay

import (
	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// readModes reads PROOT_FP_MODES: words, with commas between them. It is false where there is a word that is not
// known: PRoot then does something that cannot be imitated here.
func readModes(s string) (m translate.Modes, ok bool) {
	for len(s) > 0 {
		end := index(s, ',')
		if end < 0 {
			end = len(s)
		}
		bit, ok := mode(s[:end])
		if !ok {
			return 0, false
		}
		m |= bit
		s = s[min(end+1, len(s)):]
	}
	return m, true
}

// mode knows the words. Those that mean nothing here are for calls that are never answered (sysvipc), for other
// machines (fix-symlink-size is about lstat, which arm64 has not) or for PRoot itself.
func mode(word string) (m translate.Modes, ok bool) {
	switch word {
	case "upstream":
		return translate.Upstream, true
	case "termux":
		return translate.Termux, true
	case "root-id", "change-id":
		return translate.Identity, true
	case "link2symlink":
		return translate.HardLinks, true
	case "kernel-release":
		return translate.Release, true
	case "ports":
		return translate.Ports, true
	case "hidden-files":
		return translate.HiddenFiles, true
	case "fix-symlink-size", "sysvipc", "kill-on-exit":
		return 0, true
	}
	return 0, false
}

// optionMode gives the mode of an option of PRoot's command line that takes no bindings with it. value says whether
// its value is the next argument, unless it is attached.
func optionMode(option string) (m translate.Modes, value, ok bool) {
	switch option {
	case "-r", "--rootfs", "-w", "--pwd", "--cwd", "-v", "--verbose":
		return 0, true, true
	case "--kill-on-exit", "--sysvipc", "-L":
		return 0, false, true
	case "-0", "--root-id":
		return translate.Identity, false, true
	case "-i", "--change-id":
		return translate.Identity, true, true
	case "-l", "--link2symlink":
		return translate.HardLinks, false, true
	case "-k", "--kernel-release":
		return translate.Release, true, true
	case "-p", "--netcoop":
		return translate.Ports, false, true
	case "-H":
		return translate.HiddenFiles, false, true
	}
	return 0, false, false
}

// addModes adds to the sites those of calls that PRoot stops at only in these modes, or that matter only then: those
// that ask for a faked identity or change it, and those after which PRoot may still lend rights.
func addModes(n *patcher.Numbers, m translate.Modes) {
	if m&(translate.Identity|translate.HardLinks) != 0 {
		n.Add(nocgo.SysFstat)
	}
	if m&translate.Termux != 0 {
		n.Add(nocgo.SysClose)
		n.Add(nocgo.SysSocket)
	}
	for nr := uintptr(0); nr < patcher.MaxNumber && m&translate.Release != 0; nr++ {
		if translate.Passes(nr) {
			n.Add(nr)
		}
	}
	if m&translate.Identity == 0 {
		return
	}
	for nr := uintptr(nocgo.SysGetuid); nr <= nocgo.SysGetegid; nr++ {
		n.Add(nr)
	}
	for nr := uintptr(nocgo.SysSetregid); nr <= nocgo.SysGetresgid; nr++ {
		n.Add(nr)
	}
	n.Add(nocgo.SysGetgroups)
	for nr := uintptr(0); nr < patcher.MaxNumber; nr++ {
		if translate.EndsUnseen(nr) {
			n.Add(nr)
		}
	}
}

// modeEffects does for these what leaveEffects does: most have none, but those that only answer may leave rights lent.
func modeEffects(n *patcher.Numbers, m translate.Modes) {
	n.Remove(nocgo.SysFstat)
	n.Remove(nocgo.SysClose)
	for nr := uintptr(0); nr < patcher.MaxNumber; nr++ {
		if translate.Passes(nr) {
			n.Remove(nr)
		}
	}
	if m&translate.Termux != 0 {
		n.Add(nocgo.SysSocket)
	}
	n.Remove(nocgo.SysGetgroups)
	n.Remove(nocgo.SysGetresuid)
	n.Remove(nocgo.SysGetresgid)
	for nr := uintptr(nocgo.SysGetuid); nr <= nocgo.SysGetegid; nr++ {
		n.Remove(nr)
	}
	if m&translate.Identity != 0 {
		n.Add(nocgo.SysOpenat)
		n.Add(nocgo.SysFaccessat)
	}
}

// watchModes tells the view, once the sites are published, of what can happen without passing through one of them.
func watchModes(m translate.Modes) {
	if m&translate.Termux != 0 && plan.Unseen(nocgo.SysSocket) {
		view.MissSockets()
	}
	for nr := uintptr(0); nr < patcher.MaxNumber; nr++ {
		if translate.ChangesRights(nr) && plan.Unseen(nr) {
			view.FewerRights()
		}
	}
	if m&translate.Identity == 0 {
		return
	}
	for nr := uintptr(nocgo.SysSetregid); nr <= nocgo.SysSetresgid; nr++ {
		if nr != nocgo.SysGetresuid && plan.Unseen(nr) {
			view.MissIdentity()
		}
	}
	if plan.Unseen(nocgo.SysOpenat) || plan.Unseen(nocgo.SysFaccessat) || plan.Unseen(nocgo.SysUtimensat) {
		view.MissLent()
	}
}
