// Package view computes, before PRoot starts, the list of bindings that PRoot will have: host paths resolved,
// guest paths canonical in the guest's terms, missing ones dropped, replaced ones gone. What PRoot would do with
// a request and what this package makes of it must not differ: where that is not certain, it is an error, and
// the guest runs without the fast path.
package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/svcrelay/internal/prootargs"
)

// Pair is a host path and the guest path it is shown under.
type Pair struct{ Host, Guest string }

// View is what PRoot will show.
type View struct {
	// Root is the host path of the guest's "/".
	Root string
	// Binds are all other bindings, in the order of the command line.
	Binds []Pair
	// Dropped are the requests PRoot will not follow, with the reason.
	Dropped []string
}

// BindsValue is the list in the form of PROOT_FP_BINDS.
func (v *View) BindsValue() string {
	var b strings.Builder
	for i, p := range v.Binds {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(p.Host + ":" + p.Guest)
	}
	return b.String()
}

// request is a binding on its way from the command line to the lists that PRoot looks paths up in.
type request struct {
	Pair
	given int // its place on the command line
}

// Resolve computes the view for the bindings of a command line.
func Resolve(bindings []prootargs.Binding, line prootargs.Line) (*View, error) {
	v := &View{}
	pending, err := v.pending(bindings, line)
	if err != nil {
		return nil, err
	}
	if len(pending) == 0 || compare(pending[len(pending)-1].Guest, "/") != equal {
		b := request{given: -1}
		if b.Pair, err = locate(prootargs.Binding{Host: "/", Guest: "/", HasGuest: true}, line); err != nil {
			return nil, err
		}
		pending = insort(pending, b, guestSide)
	}

	// PRoot takes its list from the end: the root first, then whatever lies closer to it.
	r := resolver{line: line}
	for _, b := range slices.Backward(pending) {
		if err := r.install(b, v); err != nil {
			return nil, err
		}
	}
	return v, r.publish(v)
}

// pending collects the requests whose host paths exist, sorted as PRoot sorts them.
func (v *View) pending(bindings []prootargs.Binding, line prootargs.Line) ([]request, error) {
	var pending []request
	for i, b := range bindings {
		pair, err := locate(b, line)
		var missing *fs.PathError
		switch {
		case errors.As(err, &missing) && b.HasGuest && b.Guest == "/":
			return nil, fmt.Errorf("the rootfs %s: %w", b.Host, missing.Err)
		case errors.As(err, &missing):
			if !b.Recommended {
				v.Dropped = append(v.Dropped, fmt.Sprintf("%s: %v", b.Host, missing.Err))
			}
			continue
		case err != nil:
			return nil, err
		}
		pending = insort(pending, request{pair, i}, guestSide)
	}
	return pending, nil
}

// locate resolves the host path of a binding and makes its guest path absolute. A *fs.PathError means that
// there is no such host path.
func locate(b prootargs.Binding, line prootargs.Line) (Pair, error) {
	host := b.Host
	if !(line == prootargs.Termux && (host == "/proc/self" || strings.HasPrefix(host, "/proc/self/"))) {
		var err error
		if host, err = realpath(host); err != nil {
			return Pair{}, err
		}
	}
	guest := b.Host
	if b.HasGuest {
		guest = b.Guest
	}
	if !strings.HasPrefix(guest, "/") {
		dir, err := unix.Getwd()
		if err != nil {
			return Pair{}, fmt.Errorf("the current directory: %w", err)
		}
		guest = strings.TrimSuffix(dir, "/") + "/" + guest
	}
	return Pair{host, guest}, nil
}

// realpath is the C library's: everything must exist, and a trailing slash asks for a directory.
func realpath(path string) (string, error) {
	if path == "" {
		return "", &fs.PathError{Op: "realpath", Path: path, Err: unix.ENOENT}
	}
	full := path
	if !strings.HasPrefix(path, "/") {
		dir, err := unix.Getwd()
		if err != nil {
			return "", &fs.PathError{Op: "realpath", Path: path, Err: err}
		}
		full = dir + "/" + path
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return "", asPathError(path, err)
	}
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") {
		if st, err := os.Stat(real); err != nil {
			return "", asPathError(path, err)
		} else if !st.IsDir() {
			return "", &fs.PathError{Op: "realpath", Path: path, Err: unix.ENOTDIR}
		}
	}
	return real, nil
}

func asPathError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe
	}
	return &fs.PathError{Op: "realpath", Path: path, Err: err}
}

// publish takes the installed bindings over, in an order from which whoever reads it, taking the rootfs first and
// sorting as PRoot does, comes to PRoot's lists: that of the command line if possible, else that in which PRoot
// installed them.
func (r *resolver) publish(v *View) error {
	rootFirst := func(a, b request) int {
		switch {
		case a.Guest == "/":
			return -1
		case b.Guest == "/":
			return 1
		}
		return 0
	}
	order := slices.SortedFunc(slices.Values(r.guest), func(a, b request) int { return a.given - b.given })
	slices.SortStableFunc(order, rootFirst)
	if !r.reproducedBy(order) {
		order = slices.Clone(r.installed)
		slices.SortStableFunc(order, rootFirst)
		if !r.reproducedBy(order) {
			return errors.New("several bindings show the same place, and their order cannot be passed on")
		}
	}
	for _, b := range order {
		if b.Guest == "/" {
			v.Root = b.Host
			continue
		}
		v.Binds = append(v.Binds, b.Pair)
	}
	for _, b := range append([]Pair{{Host: v.Root, Guest: "/"}}, v.Binds...) {
		if strings.ContainsAny(b.Host+b.Guest, "|\n") || strings.Contains(b.Host, ":") && b.Guest != "/" {
			return fmt.Errorf("the binding of %q to %q has a separator in its name", b.Host, b.Guest)
		}
	}
	return nil
}

// reproducedBy says whether PRoot, given canonical bindings in this order, looks paths up as it does now.
func (r *resolver) reproducedBy(order []request) bool {
	var pending, guest, host []request
	for _, b := range order {
		pending = insort(pending, b, guestSide)
	}
	for _, b := range slices.Backward(pending) {
		guest = insort(guest, b, guestSide)
		host = insort(host, b, hostSide)
	}
	return sameOrder(host, r.host, hostSide) && sameOrder(guest, r.guest, guestSide)
}

// sameOrder says whether two lists of the same bindings look paths up alike: of any two of which one contains
// the other's path, the same one comes first.
func sameOrder(a, b []request, s side) bool {
	at := make(map[int]int, len(b))
	for i, x := range b {
		at[x.given] = i
	}
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		for _, y := range a[i+1:] {
			if compare(s.of(x), s.of(y)) != apart && at[x.given] > at[y.given] {
				return false
			}
		}
	}
	return true
}
