package sites

import (
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"

	"svcrelay/relay"
	"svcrelay/scan"
	"svcrelay/tests/disassembly"
	"svcrelay/tests/libraries"
)

// call is what an svc makes, as the independent reading has it.
type call struct {
	symbol string
	value  disassembly.Value
	name   string // of the call, if the number is a constant
}

// independent reads a library: its svc instructions by address, and the targets of its calls of functions.
func independent(l libraries.Library) (calls map[uint64]call, targets map[uint64]uint64, err error) {
	lines, err := disassembly.File(l.Path)
	if err != nil {
		return nil, nil, err
	}
	values := disassembly.Values(lines, func(l disassembly.Line) bool { return l.Name == "svc" })
	calls, targets = map[uint64]call{}, map[uint64]uint64{}
	for i, line := range lines {
		switch line.Name {
		case "svc":
			c := call{symbol: line.Symbol, value: values[i][8]}
			if c.value.Kind == disassembly.Constant {
				c.name = nameOf(c.value.N)
			}
			calls[line.Addr] = c
		case "bl":
			if to, ok := line.Target(); ok {
				targets[line.Addr] = to
			}
		}
	}
	return calls, targets, nil
}

// nameOf gives the name of an arm64 system call.
func nameOf(nr uint64) string {
	if nr == 79 {
		return "newfstatat" // the table has its older name
	}
	return arch.AARCH64.SyscallNumbers[int(nr)]
}

// pathCalls are the calls for whose paths, addresses or directories PRoot stops a program (its syscall tables, upstream
// and in Termux's fork), those that start a program aside: a relay must never make these.
var pathCalls = strings.Fields(`
	acct bind chdir chroot connect accept accept4 faccessat faccessat2 fanotify_mark fchdir fchmodat fchmodat2 fchownat
	getcwd getpeername getsockname getxattr inotify_add_watch lgetxattr linkat listxattr llistxattr lremovexattr
	lsetxattr mkdirat mknodat mount name_to_handle_at newfstatat openat openat2 pivot_root quotactl readlinkat
	removexattr renameat renameat2 setxattr statfs statx swapoff swapon symlinkat truncate umount2 unlinkat utimensat`)

// TestTotals confirms every site, every number and every total of every library.
func TestTotals(t *testing.T) {
	for _, l := range libraries.All(t) {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			confirm(t, l)
		})
	}
}

func confirm(t *testing.T, l libraries.Library) {
	r, err := scan.File(l.Path, relay.Wanted())
	if err != nil {
		t.Fatal(err)
	}
	calls, targets, err := independent(l)
	if err != nil {
		t.Fatal(err)
	}
	if r.SVC != len(calls) {
		t.Errorf("%d svc instructions, objdump sees %d", r.SVC, len(calls))
	}
	seen := map[uint64]bool{}
	for _, s := range slices.Concat(r.Patched, r.Unpatched) {
		c, is := calls[s.Offset]
		if !is { // a redirected call of the function that makes the call
			if _, is = targets[s.Offset]; !is || s.Syscall != "any" {
				t.Errorf("%#x %s: neither an svc nor a call", s.Offset, s.Syscall)
			}
			continue
		}
		seen[s.Offset] = true
		if c.name == "" && s.Syscall != "any" || c.name != "" && s.Syscall != c.name {
			t.Errorf("%#x in %s is %s, to the independent reading %v %s", s.Offset, c.symbol, s.Syscall, c.value, c.name)
		}
	}
	dispatchers, paths := 0, 0
	for at, c := range calls {
		if !seen[at] {
			t.Errorf("%#x in %s is missing", at, c.symbol)
		}
		if c.name == "" {
			dispatchers++
		}
		if slices.Contains(pathCalls, c.name) {
			paths++
		}
	}
	if r.Path.Total != paths || r.Dispatchers.Total != dispatchers || len(r.Dispatchers.List) != dispatchers {
		t.Errorf("%d calls with paths and %d dispatchers (%+v), to the independent reading %d and %d",
			r.Path.Total, r.Dispatchers.Total, r.Dispatchers.List, paths, dispatchers)
	}
	if r.Path.Patched != r.Path.Total {
		t.Errorf("%d of %d calls with paths are patched", r.Path.Patched, r.Path.Total)
		for _, s := range r.Unpatched {
			if slices.Contains(pathCalls, s.Syscall) {
				t.Errorf("not patched: %#x %s in %s: %s", s.Offset, s.Syscall, s.Symbol, s.Why)
			}
		}
	}
	if r.Dispatchers.Patched != r.Dispatchers.Total {
		t.Errorf("dispatchers: %+v", r.Dispatchers)
	}
	redirected(t, r, calls, targets)
	if l.Name == "libc.so" || l.Name == "libc.so.6" {
		named(t, l, r)
	}
	if !strings.Contains(r.Version, strings.Fields(l.Release)[1]) && strings.HasPrefix(l.Name, "libc.") {
		t.Errorf("version %q", r.Version)
	}
	t.Logf("%d svc, %d of %d paths, dispatchers %+v", r.SVC, r.Path.Patched, r.Path.Total, r.Dispatchers)
}

// redirected makes sure that all calls of a function that makes cancellable calls are redirected.
func redirected(t *testing.T, r *scan.Report, calls map[uint64]call, targets map[uint64]uint64) {
	const most = 64 // bytes from the function's first instruction to its svc
	for at, c := range calls {
		if c.value != (disassembly.Value{Kind: disassembly.Parameter, N: 1}) {
			continue
		}
		n := 0
		for from, to := range targets {
			if to >= at || at-to > most {
				continue
			}
			n++
			if !slices.ContainsFunc(r.Patched, func(s scan.Site) bool { return s.Offset == from }) {
				t.Errorf("the call at %#x of the function with the svc at %#x is not redirected", from, at)
			}
		}
		if n == 0 {
			t.Errorf("nothing calls the function with the svc at %#x", at)
		}
	}
}

// named makes sure that the dispatchers that must be there are.
func named(t *testing.T, l libraries.Library, r *scan.Report) {
	want := []string{"syscall"}
	switch l.Release {
	case "glibc 2.36":
		want = append(want, "__nptl_setxid", "__nptl_setxid_sighandler")
	case "glibc 2.41", "glibc 2.43":
		want = append(want, "__nptl_setxid", "__nptl_setxid_sighandler", "__internal_syscall_cancel", "__syscall_cancel_arch")
	case "musl 1.2.3", "musl 1.2.6":
		want = append(want, "do_setxid", "__syscall_cp_c", "__syscall_cp_asm")
	}
	if len(want) != len(r.Dispatchers.List) {
		t.Errorf("dispatchers %+v, want %q", r.Dispatchers.List, want)
	}
	for _, name := range want {
		if !slices.ContainsFunc(r.Dispatchers.List, func(d scan.Dispatcher) bool { return d.Name == name }) {
			t.Errorf("no dispatcher %s among %+v", name, r.Dispatchers.List)
		}
	}
}
