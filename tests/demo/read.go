package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
)

// figures is what out/demo.json holds.
type figures struct {
	Kernel   string              `json:"kernel"`
	Glibc    string              `json:"glibc"`
	PRoot    string              `json:"proot"`
	Ops      map[string]*op      `json:"ops"`
	Programs map[string]*timings `json:"programs"`
	Sites    map[string]int      `json:"sites"`

	traps map[string]float64 // per call under PRoot alone
}

// op is one system call's microseconds per call, and how often it stopped at PRoot with svcrelay.
type op struct {
	Native float64 `json:"native"`
	PRoot  float64 `json:"proot"`
	Relay  float64 `json:"relay"`
	Traps  float64 `json:"traps"`
}

// timings are one program's milliseconds, and whether it wrote the same in all columns.
type timings struct {
	Native float64 `json:"native"`
	PRoot  float64 `json:"proot"`
	Relay  float64 `json:"relay"`
	Same   bool    `json:"same"`
}

// opNames is the order of the table; the guest program "ops" uses these names.
var opNames = []string{"stat", "stat-missing", "open-close", "fstatat-dirfd"}

var (
	opLine    = regexp.MustCompile(`(?m)^op (\S+) calls (\d+) ns (\d+) switches (\d+)$`)
	glibcLine = regexp.MustCompile(`(?m)^glibc (\S+)$`)
	timedLine = regexp.MustCompile(`(?m)^timed ns (\d+) status (\d+)$`)
	// siteCount finds "LIBRARY NUMBER" pairs of the library's statistics, for example "libc 132 ld.so 17".
	siteCount    = regexp.MustCompile(`\b(libc|ld\.so)[=: ]+(\d+)`)
	prootVersion = regexp.MustCompile(`v?(\d+\.\d+\.\d+)`)
)

// read makes figures of what the VM brought back. Complaints are outputs that differ and programs that failed;
// an error means that something could not be measured at all.
func read(s settings, res *rig.Result) (*figures, []string, error) {
	f := &figures{Kernel: res.Kernel, Ops: map[string]*op{}, Programs: map[string]*timings{}, Sites: map[string]int{}, traps: map[string]float64{}}
	outcomes := map[string]rig.Outcome{}
	for _, o := range res.Outcomes {
		if o.Problem != "" || (o.Status != 0 && o.Name != "version") {
			return nil, nil, fmt.Errorf("%s failed with status %d %s:\n%s%s", o.Name, o.Status, o.Problem, o.Stdout, o.Stderr)
		}
		outcomes[o.Name] = o
	}
	version := outcomes["version"]
	m := prootVersion.FindSubmatch(append(version.Stdout, version.Stderr...))
	if m == nil {
		return nil, nil, fmt.Errorf("no version in what PRoot says: %s%s", version.Stdout, version.Stderr)
	}
	f.PRoot = string(m[1])
	for _, column := range columns {
		if err := f.readOps(column, outcomes[column+" ops"].Stdout); err != nil {
			return nil, nil, err
		}
	}
	if !s.without {
		for _, m := range siteCount.FindAllSubmatch(outcomes["sites"].Stderr, -1) {
			f.Sites[string(m[1])], _ = strconv.Atoi(string(m[2]))
		}
		if len(f.Sites) != 2 {
			return nil, nil, fmt.Errorf("the library's statistics do not say how many sites it has patched in libc and ld.so: %q", outcomes["sites"].Stderr)
		}
	}
	complaints, err := f.readPrograms(outcomes, func(column, program, what string) []byte {
		return res.Files[guest.Root(s.guest)+outputPath(column, program)+what]
	})
	return f, complaints, err
}

func (f *figures) readOps(column string, text []byte) error {
	if m := glibcLine.FindSubmatch(text); m != nil {
		f.Glibc = string(m[1])
	}
	seen := 0
	for _, m := range opLine.FindAllSubmatch(text, -1) {
		o := f.Ops[string(m[1])]
		if o == nil {
			o = &op{}
			f.Ops[string(m[1])] = o
		}
		calls, ns, switches := number(m[2]), number(m[3]), number(m[4])
		per := ns / calls / 1000
		switch column {
		case native:
			o.Native = per
		case proot:
			o.PRoot, f.traps[string(m[1])] = per, switches/calls
		case relay:
			o.Relay, o.Traps = per, switches/calls
		}
		seen++
	}
	if seen != len(opNames) {
		return fmt.Errorf("%s: %d of %d loops were measured:\n%s", column, seen, len(opNames), text)
	}
	return nil
}

func (f *figures) readPrograms(outcomes map[string]rig.Outcome, output func(column, program, what string) []byte) (complaints []string, err error) {
	for _, p := range programs {
		t := &timings{Same: true}
		f.Programs[p.name] = t
		for i, column := range columns {
			m := timedLine.FindSubmatch(outcomes[column+" "+p.name].Stdout)
			if m == nil {
				return nil, fmt.Errorf("%s, %s: not measured", column, p.name)
			}
			if string(m[2]) != "0" {
				complaints = append(complaints, fmt.Sprintf("%s, %s: exit status %s: %s", column, p.name, m[2], output(column, p.name, ".err")))
			}
			*[]*float64{&t.Native, &t.PRoot, &t.Relay}[i] = number(m[1]) / 1e6
			if len(output(column, p.name, "")) == 0 {
				return nil, fmt.Errorf("%s, %s: no output came back", column, p.name)
			}
			for _, what := range []string{"", ".err"} {
				want, got := output(native, p.name, what), output(column, p.name, what)
				if !bytes.Equal(want, got) {
					t.Same = false
					complaints = append(complaints, fmt.Sprintf("%s, %s: the output is not that of the native run: %s", column, p.name, difference(want, got)))
				}
			}
		}
	}
	return complaints, nil
}

// difference shows the first line in which two outputs differ.
func difference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(end)", "(end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d is %.200q, not %.200q", i+1, b, a)
		}
	}
	return "none"
}

func number(b []byte) float64 {
	v, _ := strconv.ParseFloat(string(b), 64)
	return v
}
