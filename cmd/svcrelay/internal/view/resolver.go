package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"svcrelay/cmd/svcrelay/internal/prootargs"
)

// resolver holds the bindings that are installed already, through which the guest paths of later ones are seen.
type resolver struct {
	line  prootargs.Line
	guest []request // sorted by guest path, deepest first
	host  []request

	installed []request // in the order of their installation
}

// maxLinks is how many symbolic links a guest path may lead through here. PRoot allows about 40, counted
// differently in its two lines.
const maxLinks = 30

// errDropped means that PRoot leaves a binding out.
var errDropped = errors.New("not a directory")

// errInProc means that a binding's place is somewhere below /proc where PRoot follows links by the numbers of processes. What
// is certain of these is in inProc.
var errInProc = errors.New("it leads through a link in /proc")

// install makes the guest path of a binding canonical and installs it.
func (r *resolver) install(b request, v *View) error {
	if compare(b.Guest, "/") == equal {
		b.Guest = "/"
	} else {
		guest, err := r.canonicalGuest(b.Pair)
		if err == nil && compare("/proc", guest) == contains && compare("/proc", b.Guest) != contains &&
			compare(descriptors(), guest) == apart {
			err = errInProc
		}
		switch {
		case errors.Is(err, errDropped):
			v.Dropped = append(v.Dropped, fmt.Sprintf("%s: its place in the guest, %s: %v", b.Host, b.Guest, err))
			return nil
		case err != nil:
			return fmt.Errorf("the place %s of a binding: %w", b.Guest, err)
		}
		b.Guest = guest
	}
	for _, have := range r.guest {
		if have.Guest == b.Guest {
			// PRoot has two requests for one place under two names: which one wins depends on its lists.
			return fmt.Errorf("%s and %s are both shown at %s", have.Host, b.Host, b.Guest)
		}
	}
	r.guest = insort(r.guest, b, guestSide)
	r.host = insort(r.host, b, hostSide)
	r.installed = append(r.installed, b)
	return nil
}

// canonicalGuest is where in the guest a binding will be found. A final link is followed unless the request
// ends in "!"; the Termux line does not follow it for directories either.
func (r *resolver) canonicalGuest(p Pair) (string, error) {
	place, asWritten := strings.CutSuffix(p.Guest, "!")
	follow := !asWritten
	if !asWritten && r.line != prootargs.Upstream {
		st, err := os.Lstat(p.Host)
		if err == nil && st.IsDir() {
			follow = false
		}
	}
	guest, err := r.canonical("/", place, follow, new(int))
	if err != nil || follow || asWritten || r.line != prootargs.Unknown {
		return guest, err
	}
	other, err := r.canonical("/", place, true, new(int))
	if err == nil && other != guest {
		err = errors.New("it is a link, which PRoot's lines treat differently")
	}
	return guest, err
}

// canonical resolves to, seen from the guest directory dir.
func (r *resolver) canonical(dir, to string, follow bool, links *int) (string, error) {
	if strings.HasPrefix(to, "/") {
		dir = "/"
	}
	names := strings.FieldsFunc(to, func(c rune) bool { return c == '/' })
	slash := strings.HasSuffix(to, "/")
	for i, name := range names {
		final := i == len(names)-1
		switch name {
		case ".":
			continue
		case "..":
			dir = parent(dir)
			continue
		}
		if len(name) > 254 {
			return "", errors.New("a name in it is too long")
		}
		next := join(dir, name)
		kind, err := r.kind(next)
		if err != nil {
			return "", err
		}
		switch {
		case kind == fs.ModeSymlink && !(final && !slash && !follow):
			if next, err = r.through(dir, next, links); err != nil {
				return "", err
			}
			if compare(descriptors(), next) == contains {
				if final && !slash {
					return next, nil
				}
				return "", errInProc
			}
			if kind, err = r.kind(next); err != nil {
				return "", err
			}
			if !final && kind != fs.ModeDir {
				return "", errDropped
			}
		case !final && kind != fs.ModeDir && kind != fs.ModeSymlink:
			return "", errDropped
		}
		dir = next
	}
	return dir, nil
}

// kind is the type of what is at a guest path. PRoot creates what is missing on the way to a binding, as
// directories: they count as such.
func (r *resolver) kind(guest string) (fs.FileMode, error) {
	st, err := os.Lstat(r.hostPath(guest))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ModeDir, nil
	case err != nil:
		return 0, fmt.Errorf("%s cannot be looked at: %w", guest, err)
	case st.Mode()&fs.ModeSymlink != 0:
		return fs.ModeSymlink, nil
	case st.IsDir():
		return fs.ModeDir, nil
	}
	return 0, nil
}

// through follows the link at guest path link, in guest directory dir.
func (r *resolver) through(dir, link string, links *int) (string, error) {
	if *links++; *links > maxLinks {
		return "", errors.New("it leads through too many links")
	}
	host := r.hostPath(link)
	for _, p := range []string{dir, host} {
		if c := compare("/proc", p); c == equal || c == contains {
			return r.inProc(dir, link, links)
		}
	}
	text, err := os.Readlink(host)
	if err != nil {
		return "", fmt.Errorf("%s: %w", link, err)
	}
	if strings.HasPrefix(text, "/") && r.namesHost(host, text) {
		return "", fmt.Errorf("it leads through %s, whose text %s PRoot may understand as a path of the host", link, text)
	}
	return r.canonical(dir, text, true, links)
}

// inProc follows a link in /proc as PRoot does while it is starting, in the process that this one will be by then: the own
// number stands for self, and the links in the directory of its descriptors stay as they are. Distributions bind
// /proc/self/fd and the streams in it to names in /dev, which on many hosts are links to the very same already.
func (r *resolver) inProc(dir, link string, links *int) (string, error) {
	if r.line == prootargs.Unknown || r.hostPath(link) != link {
		return "", errInProc
	}
	switch {
	case link == "/proc/self":
		return r.canonical("/", path.Dir(descriptors()), true, links)
	case dir == descriptors():
		return link, nil
	}
	return "", errInProc
}

// descriptors is the directory of the descriptors of this process, which PRoot will be.
func descriptors() string { return fmt.Sprintf("/proc/%d/fd", os.Getpid()) }

// namesHost says whether PRoot takes the text of a link for a host path and turns it into a guest path.
func (r *resolver) namesHost(referrer, text string) bool {
	root := r.hostPath("/")
	if c := compare(root, text); root != "/" && (c == equal || c == contains) {
		return true
	}
	if c := compare(root, referrer); c == equal || c == contains {
		return false
	}
	for _, b := range r.host {
		if c := compare(b.Host, text); b.Host != b.Guest && (c == equal || c == contains) {
			return true
		}
	}
	return false
}

// hostPath is where a canonical guest path is on the host.
func (r *resolver) hostPath(guest string) string {
	for _, b := range r.guest {
		switch compare(b.Guest, guest) {
		case equal:
			return b.Host
		case contains:
			return join(b.Host, strings.TrimPrefix(guest[len(strings.TrimSuffix(b.Guest, "/")):], "/"))
		}
	}
	return guest
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func parent(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return "/"
}
