package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// copyTree makes a copy of a directory, below directories that it makes.
func copyTree(from, to string) error {
	type made struct {
		path string
		st   unix.Stat_t
	}
	var dirs []made
	hard := map[uint64]string{}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		out := to + strings.TrimPrefix(p, from)
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		switch {
		case d.IsDir():
			dirs = append(dirs, made{out, st})
			err = os.Mkdir(out, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			var text string
			if text, err = os.Readlink(p); err == nil {
				err = errors.Join(os.Symlink(text, out), same(out, &st))
			}
		case d.Type().IsRegular() && hard[st.Ino] != "":
			err = os.Link(hard[st.Ino], out)
		case d.Type().IsRegular():
			hard[st.Ino] = out
			var text []byte
			if text, err = os.ReadFile(p); err == nil {
				err = errors.Join(os.WriteFile(out, text, 0o600), same(out, &st))
			}
		}
		return err
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		err = same(dirs[i].path, &dirs[i].st)
	}
	return err
}

// same gives a file the owner, mode and times of another.
func same(p string, st *unix.Stat_t) error {
	if err := os.Lchown(p, int(st.Uid), int(st.Gid)); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(p, st.Mode&0o7777); err != nil {
			return err
		}
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
}

// own gives everything below top to PRoot's user, at one time.
func own(top string) error {
	at := unix.NsecToTimespec(1000000000 * 1e9)
	return filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := os.Lchown(p, user, user); err != nil {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// changing are files whose contents hold inode numbers, times of day or process ids.
var changing = []string{"/.git/index", "/var/log/", "/var/cache/ldconfig/aux-cache", "/var/lib/apt/", "/etc/ld.so.preload"}

// snapshot describes the files below a directory of the guest, a line for each.
func snapshot(dir string, start int64) []string {
	var out []string
	filepath.WalkDir(root+dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			out = append(out, fmt.Sprintf("%q: %v", p, err))
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			out = append(out, fmt.Sprintf("%q: %v", p, err))
			return nil
		}
		rel := strings.TrimPrefix(p, root)
		l := fmt.Sprintf("%q mode %o uid %d gid %d", rel, st.Mode, st.Uid, st.Gid)
		variable := false
		for _, c := range changing {
			variable = variable || strings.Contains(p, c)
		}
		if d.Type().IsRegular() && !variable {
			text, err := os.ReadFile(p)
			l += fmt.Sprintf(" nlink %d size %d %x %v", st.Nlink, st.Size, sha256.Sum256(text), err)
		}
		if d.Type()&fs.ModeSymlink != 0 {
			text, err := os.Readlink(p)
			l += fmt.Sprintf(" -> %q %v", text, err)
		}
		if t := st.Mtim.Sec; t >= start-5 {
			l += " now"
		} else {
			l += fmt.Sprintf(" %d.%09d", t, st.Mtim.Nsec)
		}
		out = append(out, l)
		return nil
	})
	return out
}
