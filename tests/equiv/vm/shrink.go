package main

import (
	"slices"
	"strings"
	"time"

	"svcrelay/tests/equiv/cases"
)

// shrink makes a case that shows a difference as small as it gets in the time there is, keeping the kind of the
// difference.
func (s stock) shrink(c *cases.Case, d difference, until time.Time) *cases.Case {
	small := *c
	still := func(try *cases.Case) bool {
		a, b, err := s.both(try)
		if err != nil {
			return false
		}
		now := compare(a, b)
		return now.Kind == d.Kind
	}
	// What comes after the first difference in the log has no part in it.
	if d.At >= 0 && d.At+1 < len(small.Script) {
		try := small
		try.Script = small.Script[:d.At+1]
		if still(&try) {
			small = try
		}
	}
	// Most of a long script has no part in it either: whole kinds of lines first, each try takes seconds.
	for _, keep := range likely(small.Script) {
		if try := small; len(keep) < len(small.Script) {
			try.Script = keep
			if still(&try) {
				small = try
			}
		}
	}
	small.Script = minimal(small.Script, until, func(script []string) bool {
		try := small
		try.Script = script
		return still(&try)
	})
	small.World = minimal(small.World, until, func(world []cases.Entry) bool {
		try := small
		try.World = world
		return still(&try)
	})
	small.Options = minimalOptions(small.Options, until, func(options []string) bool {
		try := small
		try.Options = options
		return still(&try)
	})
	return &small
}

// minimal leaves out as many elements as it can while the rest still shows what it did.
func minimal[E any](all []E, until time.Time, still func([]E) bool) []E {
	for size := (len(all) + 1) / 2; size >= 1; {
		removed := false
		for at := 0; at < len(all); {
			if time.Now().After(until) {
				return all
			}
			rest := slices.Concat(all[:at], all[min(at+size, len(all)):])
			if still(rest) {
				all, removed = rest, true
			} else {
				at += size
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
			if size == 1 && !removed && len(all) == 1 {
				return all
			}
		case !removed:
			return all
		}
		if len(all) == 0 {
			return all
		}
	}
	return all
}

// minimalOptions leaves out bindings, which are two words each, and words that stand alone.
func minimalOptions(all []string, until time.Time, still func([]string) bool) []string {
	for at := 0; at < len(all) && time.Now().Before(until); {
		n := 1
		if all[at] == "-b" || all[at] == "-i" || all[at] == "-w" {
			n = 2
		}
		rest := slices.Concat(all[:at], all[min(at+n, len(all)):])
		if still(rest) {
			all = rest
		} else {
			at += n
		}
	}
	return all
}

// quiet are operations after which everything is as before, unless they open something.
var quiet = map[string]bool{"stat": true, "lstat": true, "fstat": true, "fstatat": true, "statx": true, "access": true, "faccessat": true, "faccessat2": true, "readlink": true,
	"readlinkat": true, "newfstatat": true, "getcwd": true, "ls": true, "lsat": true, "realpath": true, "cat": true, "statfs": true, "getxattr": true, "lgetxattr": true, "listxattr": true,
	"llistxattr": true, "getsockname": true, "getpeername": true, "uname": true, "name_to_handle_at": true, "openat": true, "open": true, "openat2": true}

// likely returns what may be left of a script if it is cut down roughly: the last line is always kept.
func likely(script []string) [][]string {
	if len(script) == 0 {
		return nil
	}
	last := len(script) - 1
	actor, _, _ := strings.Cut(script[last], " ")
	pick := func(want func(actor, op string) bool) (out []string) {
		for i, l := range script {
			who, rest, _ := strings.Cut(l, " ")
			op, _, _ := strings.Cut(rest, " ")
			if i == last || want(who, strings.TrimPrefix(op, "sys_")) {
				out = append(out, l)
			}
		}
		return out
	}
	changes := func(who, op string) bool { return !quiet[op] }
	mine := func(who, op string) bool { return who == actor || op == "fork" || op == "thread" }
	return [][]string{
		pick(func(who, op string) bool { return changes(who, op) && mine(who, op) }),
		pick(changes),
		pick(mine),
	}
}
