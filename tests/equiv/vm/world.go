package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/rig/inside"
)

// stock is what every guest has: the executor and its libraries, read once.
type stock struct {
	files   map[string][]byte
	outside map[string]rights
}

// stockFrom are the files of the stock in the VM, by their place in the guest.
var stockFrom = map[string]string{
	cases.Program:                  "/opt/equiv/equiv",
	"/lib/ld-linux-aarch64.so.1":   guestLibs + "/ld-linux-aarch64.so.1",
	"/lib/libc.so.6":               guestLibs + "/libc.so.6",
	inside.Library:                 "/guests/bookworm" + inside.Library,
	"/usr/lib/broken/README":       "",
	"/etc/passwd":                  "",
	"/etc/ld.so.preload":           "",
	"/usr/share/doc/long/way/down": "",
}

const guestLibs = "/guests/bookworm/usr/lib/aarch64-linux-gnu"

func readStock() (stock, error) {
	s := stock{map[string][]byte{}, readOutside()}
	if err := freeze(); err != nil {
		return s, err
	}
	for to, from := range stockFrom {
		if from == "" {
			s.files[to] = nil
			continue
		}
		b, err := os.ReadFile(from)
		if err != nil {
			return s, err
		}
		s.files[to] = b
	}
	s.files["/etc/passwd"] = []byte("root:x:0:0::/:/bin/sh\n")
	return s, nil
}

// build makes the world of a case afresh. The library is what the guest's loader is told to load, "" for none.
func (s stock) build(c *cases.Case, library string) (dev uint64, err error) {
	unmount(c)
	if err := os.MkdirAll(cases.Top, 0o755); err != nil {
		return 0, err
	}
	if err := unix.Mount("equiv", cases.Top, "tmpfs", 0, "mode=755,size=512m"); err != nil {
		return 0, fmt.Errorf("mount %s: %w", cases.Top, err)
	}
	for _, to := range slices.Sorted(maps.Keys(s.files)) {
		data := s.files[to]
		if to == "/etc/ld.so.preload" {
			data = []byte(library)
		}
		if err := write(cases.Root+to, data); err != nil {
			return 0, err
		}
	}
	for _, d := range []string{cases.Dev, cases.Root + "/proc", cases.Root + "/dev", cases.Root + "/tmp"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return 0, err
		}
	}
	os.Chmod(cases.Root+"/tmp", 0o1777)
	for minor, name := range []string{3: "null", 5: "zero", 7: "full"} {
		if name == "" {
			continue
		}
		if err := unix.Mknod(cases.Dev+"/"+name, unix.S_IFCHR|0o666, 1<<8|minor); err != nil {
			return 0, err
		}
		os.Chmod(cases.Dev+"/"+name, 0o666)
	}
	for _, e := range c.World {
		if err := add(e); err != nil {
			return 0, fmt.Errorf("make %s: %w", e.Path, err)
		}
	}
	if err := settle(c.World); err != nil {
		return 0, err
	}
	for to := range s.files {
		if err := protect(cases.Root + to); err != nil {
			return 0, err
		}
	}
	for _, m := range c.Mounts {
		from, to, _ := strings.Cut(m, ":")
		if err := errors.Join(setFlags("/", 0), os.MkdirAll(to, 0o755), protect("/")); err != nil {
			return 0, err
		}
		if err := unix.Mount(cases.Top+from, to, "", unix.MS_BIND, ""); err != nil {
			return 0, fmt.Errorf("mount %s: %w", m, err)
		}
	}
	var st unix.Stat_t
	err = unix.Stat(cases.Top, &st)
	return uint64(st.Dev), err
}

// protect makes a file immutable: a script that writes into the C library would end the program that runs it.
func protect(path string) error { return setFlags(path, immutable) }

const immutable = 0x10

func setFlags(path string, flags int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags); err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}

func unmount(c *cases.Case) {
	for _, m := range c.Mounts {
		_, to, _ := strings.Cut(m, ":")
		unix.Unmount(to, unix.MNT_DETACH)
	}
	for unix.Unmount(cases.Top, unix.MNT_DETACH) == nil {
	}
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

func add(e cases.Entry) error {
	if e.Kind != cases.Dir {
		if err := os.MkdirAll(filepath.Dir(e.Path), 0o755); err != nil {
			return err
		}
	}
	var err error
	switch e.Kind {
	case cases.Dir:
		err = os.MkdirAll(e.Path, 0o755)
	case cases.File:
		err = os.WriteFile(e.Path, []byte(e.Text), 0o644)
	case cases.Link:
		err = os.Symlink(e.Text, e.Path)
	case cases.FIFO:
		err = unix.Mknod(e.Path, unix.S_IFIFO|0o644, 0)
	case cases.Socket:
		err = unix.Mknod(e.Path, unix.S_IFSOCK|0o644, 0)
	case cases.Hard:
		err = os.Link(e.Text, e.Path)
	}
	// A name that is taken stays what it was.
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// settle gives everything its owner, mode and time, the deepest first.
func settle(world []cases.Entry) error {
	for _, e := range world {
		if e.Kind == cases.Hard {
			continue
		}
		if err := os.Lchown(e.Path, e.UID, e.GID); err != nil {
			return err
		}
		if e.Kind != cases.Link {
			if err := unix.Chmod(e.Path, e.Mode); err != nil {
				return err
			}
		}
	}
	var all []string
	filepath.WalkDir(cases.Top, func(p string, _ fs.DirEntry, _ error) error { all = append(all, p); return nil })
	at := unix.NsecToTimespec(cases.Elsewhen * 1e9)
	for i := len(all) - 1; i >= 0; i-- {
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, all[i], []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("set the time of %s: %w", all[i], err)
		}
	}
	return nil
}

// snapshot describes everything that is in the world after a run, a line for each name.
func snapshot(start int64) []string {
	var out []string
	first := map[uint64]string{}
	filepath.WalkDir(cases.Top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			out = append(out, fmt.Sprintf("%q cannot be read: %v", p, err))
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			out = append(out, fmt.Sprintf("%q: %v", p, err))
			return nil
		}
		l := fmt.Sprintf("%q mode %o uid %d gid %d nlink %d rdev %x size %d", p, st.Mode, st.Uid, st.Gid, st.Nlink, st.Rdev, st.Size)
		if t := st.Mtim.Sec; t >= start-5 && t < start+3600 {
			l += " mtime now"
		} else {
			l += fmt.Sprintf(" mtime %d.%09d", t, st.Mtim.Nsec)
		}
		if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			if f := first[st.Ino]; f != "" {
				l += fmt.Sprintf(" same as %q", f)
			} else {
				first[st.Ino] = p
			}
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			t, _ := os.Readlink(p)
			if number.MatchString(t) {
				t = number.ReplaceAllString(t, "#")
				l = sized.ReplaceAllString(l, "")
			}
			l += fmt.Sprintf(" -> %q", t)
		case unix.S_IFREG:
			if st.Size < 1<<16 {
				b, _ := os.ReadFile(p)
				l += fmt.Sprintf(" %x", sha256.Sum256(b))[:13]
			}
		}
		out = append(out, l+attributes(p))
		return nil
	})
	return out
}

// number is a process or a thread in the text of a link: they are counted from 20,000, and with svcrelay there have been some more
// before. How long such a text is says nothing then.
var (
	number = regexp.MustCompile(`\b2\d{4}\b`)
	sized  = regexp.MustCompile(` size \d+`)
)

func attributes(p string) string {
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(p, buf)
	if err != nil || n <= 0 {
		return ""
	}
	names := strings.Split(string(bytes.TrimRight(buf[:n], "\x00")), "\x00")
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		n, _ := unix.Lgetxattr(p, name, buf)
		fmt.Fprintf(&b, " %s=%q", name, buf[:max(n, 0)])
	}
	return b.String()
}
