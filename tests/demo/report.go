package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// The bounds that the demo holds svcrelay to.
const (
	maxOverNative = 2.0 // a call costs at most this many times what it costs natively
	minOverPRoot  = 4.0 // and is at least this many times faster than under PRoot
)

// print writes the table.
func (f *figures) print(w io.Writer) error {
	fmt.Fprintf(w, "\nLinux %s, glibc %s, PRoot %s. One instruction counts as one nanosecond.\n", f.Kernel, f.Glibc, f.PRoot)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	row("", "", "", "PRoot +", "times", "faster", "traps per call", "traps per call", "same")
	row("", "native", "PRoot", "svcrelay", "native", "than PRoot", "PRoot", "PRoot + svcrelay", "output")
	for _, name := range opNames {
		o := f.Ops[name]
		row(name+", us", show(o.Native), show(o.PRoot), show(o.Relay), show(o.Relay/o.Native), show(o.PRoot/o.Relay),
			show(f.traps[name]), strconv.FormatFloat(o.Traps, 'g', 3, 64), "")
	}
	for _, p := range programs {
		v := f.Programs[p.name]
		same := "yes"
		if !v.Same {
			same = "NO"
		}
		row(p.name+", ms", show(v.Native), show(v.PRoot), show(v.Relay), show(v.Relay/v.Native), show(v.PRoot/v.Relay), "", "", same)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Patched sites: %d in libc, %d in ld.so.\n", f.Sites["libc"], f.Sites["ld.so"])
	return err
}

func show(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// missed lists the bounds that do not hold.
func (f *figures) missed() (out []string) {
	for _, name := range opNames {
		o := f.Ops[name]
		if o.Relay > maxOverNative*o.Native {
			out = append(out, fmt.Sprintf("%s takes %.2f us: %.2f times native (%.2f us), more than %.1f", name, o.Relay, o.Relay/o.Native, o.Native, maxOverNative))
		}
		if o.PRoot < minOverPRoot*o.Relay {
			out = append(out, fmt.Sprintf("%s takes %.2f us: only %.2f times faster than PRoot (%.2f us), not %.1f", name, o.Relay, o.PRoot/o.Relay, o.PRoot, minOverPRoot))
		}
		if o.Traps != 0 {
			out = append(out, fmt.Sprintf("%s stops at PRoot %g times per call, not 0", name, o.Traps))
		}
	}
	for _, p := range programs {
		v := f.Programs[p.name]
		if v.Relay > v.PRoot {
			out = append(out, fmt.Sprintf("%s takes %.1f ms, more than under PRoot alone (%.1f ms)", p.name, v.Relay, v.PRoot))
		}
		if !v.Same {
			out = append(out, p.name+" does not write the same in all columns")
		}
	}
	return out
}
