package programs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svcrelay/tests/figures"
)

// Stats are the figures of all processes of a run, by system call, as PROOT_FP_STATS=1 has them.
type Stats struct {
	Lines    int // of statistics
	Errors   int // failed checks in the library
	Answered map[int]int
	Passed   map[int]int            // made by the library with PRoot stopped for it
	Declined map[int]map[string]int // by reason
}

// PathCalls are the system calls that have a path, or a place in the file system as their answer.
var PathCalls = map[int]string{
	5: "setxattr", 6: "lsetxattr", 8: "getxattr", 9: "lgetxattr", 11: "listxattr", 12: "llistxattr", 14: "removexattr", 15: "lremovexattr",
	17: "getcwd", 27: "inotify_add_watch", 33: "mknodat", 34: "mkdirat", 35: "unlinkat", 36: "symlinkat", 37: "linkat", 38: "renameat",
	43: "statfs", 45: "truncate", 48: "faccessat", 49: "chdir", 50: "fchdir", 53: "fchmodat", 54: "fchownat", 60: "quotactl", 89: "acct", 224: "swapon", 225: "swapoff", 263: "fanotify_mark", 56: "openat", 78: "readlinkat",
	79: "newfstatat", 88: "utimensat", 200: "bind", 203: "connect", 264: "name_to_handle_at", 276: "renameat2", 291: "statx", 437: "openat2",
	439: "faccessat2", 452: "fchmodat2",
}

// Take adds the figures of a line of statistics, and says whether it was one.
func (s *Stats) Take(line string) bool {
	all, ok := figures.Read(line)
	if !ok {
		return false
	}
	if s.Answered == nil {
		s.Answered, s.Passed, s.Declined = map[int]int{}, map[int]int{}, map[int]map[string]int{}
	}
	s.Lines++
	s.Errors += all["errors"]
	for name, n := range all {
		kind, call, ok := strings.Cut(name, ":")
		call, reason, _ := strings.Cut(call, "/")
		nr, err := strconv.Atoi(call)
		if !ok || err != nil {
			continue
		}
		switch kind {
		case "answered":
			s.Answered[nr] += n
		case "passed":
			s.Passed[nr] += n
		case "declined":
			if s.Declined[nr] == nil {
				s.Declined[nr] = map[string]int{}
			}
			s.Declined[nr][reason] += n
		}
	}
	return true
}

// unstopped is the reason of calls that the kernel answers: PRoot does not stop at them.
const unstopped = "unstopped"

// Paths gives the number of calls with paths that were answered without PRoot, and of all.
func (s *Stats) Paths() (answered, all int) {
	for nr := range PathCalls {
		answered += s.Answered[nr]
		all += s.Answered[nr] + s.Passed[nr]
		for why, n := range s.Declined[nr] {
			if why != unstopped {
				all += n
			}
		}
	}
	return answered, all
}

// Share is the part of the calls with paths that were answered without PRoot.
func (s *Stats) Share() float64 {
	answered, all := s.Paths()
	return float64(answered) / float64(max(all, 1))
}

// Rest names what was not answered, the most frequent first.
func (s *Stats) Rest() []string {
	type entry struct {
		what string
		n    int
	}
	var all []entry
	for nr, name := range PathCalls {
		if n := s.Passed[nr]; n > 0 {
			all = append(all, entry{name + " passed on", n})
		}
		for why, n := range s.Declined[nr] {
			if why != unstopped {
				all = append(all, entry{name + " " + why, n})
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.what, b.what)
	})
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprintf("%d %s", e.n, e.what))
	}
	return out
}
