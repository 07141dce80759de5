package translate

import (
	"os"
	"strings"
	"syscall"
)

// model is PRoot's translation written down as plainly as possible: strings, recursion, and the host's file
// system. It knows the two lines of PRoot and is the judge of what View answers.
type model struct {
	termux bool
	limit  int // nesting of links
	root   string
	guests []bound // by guest path
	hosts  []bound // by host path
	cwd    string
	glue   bool // a binding is being installed: missing directories are made
}

type bound struct{ host, guest string }

// relation compares two paths as PRoot does: equal, ref contains path, or path contains ref.
func relation(ref, path string) (equal, contains, contained bool) {
	ref, path = strings.TrimSuffix(ref, "/"), strings.TrimSuffix(path, "/")
	switch {
	case ref == path:
		return true, false, false
	case strings.HasPrefix(path, ref+"/"):
		return false, true, false
	case strings.HasPrefix(ref, path+"/"):
		return false, false, true
	}
	return false, false, false
}

func covers(ref, path string) bool {
	eq, in, _ := relation(ref, path)
	return eq || in
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case !strings.HasSuffix(a, "/") && !strings.HasPrefix(b, "/"):
		return a + "/" + b
	case strings.HasSuffix(a, "/") && strings.HasPrefix(b, "/"):
		return a + b[1:]
	}
	return a + b
}

// put inserts b after the last entry it contains (or, by host, equals), else first.
func put(list []bound, b bound, key func(bound) string, keepEqual bool) []bound {
	at := 0
	for i, o := range list {
		eq, in, _ := relation(key(b), key(o))
		if eq && !keepEqual {
			list[i] = b
			return list
		}
		if eq || in {
			at = i + 1
		}
	}
	list = append(list, bound{})
	copy(list[at+1:], list[at:])
	list[at] = b
	return list
}

func guestOf(b bound) string { return b.guest }
func hostOf(b bound) string  { return b.host }

// newModel starts a PRoot: binds in order, as "host:guest".
func newModel(termux bool, root string, binds []string) *model {
	m := &model{termux: termux, limit: 20, root: root, cwd: "/"}
	var pending []bound
	for _, e := range binds {
		host, guest, ok := strings.Cut(e, ":")
		if !ok {
			guest = host
		}
		real, err := realpath(host)
		if err != nil {
			continue
		}
		pending = put(pending, bound{real, guest}, guestOf, false)
	}
	m.add(bound{root, "/"})
	for i := len(pending) - 1; i >= 0; i-- {
		b := pending[i]
		st, _ := os.Lstat(b.host)
		deref := !(m.termux && st.IsDir())
		m.glue = true
		guest := "/"
		if e := m.canon(b.guest, deref, &guest, 0); e != 0 {
			panic("model: binding not installed")
		}
		m.glue = false
		b.guest = chop(guest)
		m.add(b)
	}
	return m
}

func chop(p string) string {
	if p == "/" || p == "/." {
		return "/"
	}
	return strings.TrimSuffix(strings.TrimSuffix(p, "/."), "/")
}

func (m *model) add(b bound) {
	for i, o := range m.guests {
		if eq, _, _ := relation(b.guest, o.guest); eq {
			for j, h := range m.hosts {
				if h == o {
					m.hosts = append(m.hosts[:j:j], m.hosts[j+1:]...)
					break
				}
			}
			m.guests[i] = b
			m.hosts = put(m.hosts, b, hostOf, true)
			return
		}
	}
	m.guests = put(m.guests, b, guestOf, false)
	m.hosts = put(m.hosts, b, hostOf, true)
}

// toHost replaces the guest path of the binding by its host path.
func (m *model) toHost(path string) string {
	for _, b := range m.guests {
		if covers(b.guest, path) {
			return replace(path, b.guest, b.host)
		}
	}
	panic("no rootfs")
}

func replace(path, from, to string) string {
	if from == to {
		return path
	}
	rest := strings.TrimPrefix(path, strings.TrimSuffix(from, "/"))
	if path == "/" {
		rest = ""
	}
	if r := strings.TrimSuffix(to, "/") + rest; r != "" {
		return r
	}
	return "/"
}

// hostBinding finds the binding of a host path.
func (m *model) hostBinding(path string) (bound, bool) {
	for _, b := range m.hosts {
		if covers(b.host, path) {
			if m.root != "/" && covers(m.root, path) {
				continue
			}
			return b, true
		}
	}
	return bound{}, false
}

// look is what PRoot does with every component: errno, and whether it is a link.
func (m *model) look(guest string, final bool) (host string, link bool, errno syscall.Errno) {
	host = m.toHost(guest)
	var st syscall.Stat_t
	err := syscall.Lstat(host, &st)
	if err != nil && m.glue {
		st.Mode = syscall.S_IFDIR
		if os.Mkdir(host, 0o777) != nil {
			panic("model: no glue here")
		}
		err = nil
	}
	kind := uint32(0)
	if err == nil {
		kind = st.Mode & syscall.S_IFMT
	}
	if !final && kind != syscall.S_IFDIR && kind != syscall.S_IFLNK {
		if err == nil {
			return host, false, syscall.ENOTDIR
		}
		if m.termux {
			return host, false, syscall.ENOENT
		}
		return host, false, err.(syscall.Errno)
	}
	return host, kind == syscall.S_IFLNK, 0
}

// canon resolves user, relative to *guest if it is not absolute.
func (m *model) canon(user string, deref bool, guest *string, level int) syscall.Errno {
	if level > m.limit {
		return syscall.ELOOP
	}
	if strings.HasPrefix(user, "/") {
		*guest = "/"
	}
	if !m.termux {
		if _, _, e := m.look(*guest, false); e != 0 {
			return e
		}
	}
	const normal, slash, dot = 0, 1, 2
	end, final, seen := normal, false, 0
	for !final {
		user = strings.TrimLeft(user, "/")
		n := strings.IndexByte(user, '/')
		if n < 0 {
			n = len(user)
		}
		name := user[:n]
		if len(name) >= 255 {
			return syscall.ENAMETOOLONG
		}
		rest := strings.TrimLeft(user[n:], "/")
		final = rest == ""
		if final && n < len(user) {
			end = slash
		}
		user = rest
		switch name {
		case ".":
			if final {
				end = dot
			}
			continue
		case "..":
			if i := strings.LastIndexByte(*guest, '/'); i > 0 {
				*guest = (*guest)[:i]
			} else {
				*guest = "/"
			}
			if final {
				end = slash
			}
			continue
		}
		there := join(*guest, name)
		host, link, e := m.look(there, final)
		if e != 0 {
			return e
		}
		if !link || final && end == normal && !deref {
			*guest = there
			continue
		}
		text, err := os.Readlink(host)
		if err != nil {
			return syscall.EPERM
		}
		text, _ = m.fromHost(text, host, true)
		seen++
		next := level + 1
		if m.termux {
			next = level + seen
		}
		if e := m.canon(text, true, guest, next); e != 0 {
			return e
		}
		if _, _, e := m.look(*guest, final); e != 0 {
			return e
		}
	}
	if level == 0 {
		switch end {
		case slash:
			*guest = join(*guest, "")
			if !strings.HasSuffix(*guest, "/") {
				*guest += "/"
			}
		case dot:
			*guest = join(*guest, ".")
		}
	}
	return 0
}

// fromHost gives a host path the guest's point of view: the text of the link referrer, or a descriptor's path.
func (m *model) fromHost(path, referrer string, isLink bool) (string, bool) {
	if !strings.HasPrefix(path, "/") {
		return path, true
	}
	follow := !isLink
	if isLink && !covers(m.root, referrer) {
		to, ok := m.hostBinding(path)
		from, ok2 := m.hostBinding(referrer)
		if !ok2 {
			panic("PRoot would have failed an assertion")
		}
		follow = ok && to.host == from.host
	}
	if follow {
		if b, ok := m.hostBinding(path); ok {
			return replace(path, b.host, b.guest), true
		}
	}
	eq, in, _ := relation(m.root, path)
	switch {
	case eq:
		return "/", true
	case in:
		if m.root == "/" {
			return path, true
		}
		return path[len(m.root):], true
	}
	return path, isLink
}

// translate gives the host path of a system call's path.
func (m *model) translate(dir int, path string, deref bool) (string, syscall.Errno) {
	base := "/"
	if !strings.HasPrefix(path, "/") {
		base = m.cwd
		if dir != -100 {
			p, err := os.Readlink(procFd(dir))
			if err != nil {
				return "", syscall.EBADF
			}
			if p[0] != '/' {
				return "", syscall.ENOTDIR
			}
			var ok bool
			if base, ok = m.fromHost(p, "", false); !ok {
				return "", syscall.EPERM
			}
		}
	}
	guest := "/"
	if e := m.canon(join(base, path), deref, &guest, 0); e != 0 {
		return "", e
	}
	return m.toHost(guest), 0
}

// readlink does what the kernel and then PRoot do to a buffer for a link on the host.
func (m *model) readlink(host string, buf []byte, size int) uintptr {
	full, err := os.Readlink(host)
	if err != nil {
		return -uintptr(err.(*os.PathError).Err.(syscall.Errno))
	}
	n := copy(buf[:size], full)
	if size > 4096 {
		size = 4096
	}
	text := full[:n]
	if m.termux && n == size {
		text = full
	}
	if !strings.HasPrefix(text, "/") {
		return uintptr(n)
	}
	shown, _ := m.fromHost(text, host, true)
	if shown == text && m.root != "/" {
		return uintptr(n)
	}
	if len(shown)+1 < size || len(shown)+1 == 0 {
		copy(buf, shown+"\x00")
		return uintptr(len(shown))
	}
	copy(buf[:size], shown+"\x00")
	return uintptr(size)
}

func procFd(fd int) string { return "/proc/self/fd/" + itoa(fd) }

func itoa(n int) string {
	if n < 0 {
		return "-" + itoa(-n)
	}
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
