package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
)

// brought makes what the VM brings back, with the given nanoseconds for every measured thing.
func brought(nativeNS, prootNS, relayNS int, change func(*rig.Result)) *rig.Result {
	res := &rig.Result{Kernel: "6.1.0-test", Files: map[string][]byte{}}
	add := func(name, out, err string) {
		res.Outcomes = append(res.Outcomes, rig.Outcome{Name: name, Stdout: []byte(out), Stderr: []byte(err)})
	}
	add("version", "built with v5.4.0\n", "")
	add("sites", "", "svcrelay: pid=7 answered=3 errors=0 libc=49 ld.so=9 of=559\n")
	for i, column := range columns {
		ns := []int{nativeNS, prootNS, relayNS}[i]
		text := "glibc 2.36\n"
		for _, name := range opNames {
			text += fmt.Sprintf("op %s calls 100 ns %d switches %d\n", name, ns*100, []int{0, 100, 0}[i])
		}
		add(column+" ops", text, "")
		for _, p := range programs {
			add(column+" "+p.name, fmt.Sprintf("timed ns %d status 0\n", ns), "")
			file := guest.Root("bookworm") + outputPath(column, p.name)
			res.Files[file], res.Files[file+".err"] = []byte("one\ntwo\n"), []byte{}
		}
	}
	if change != nil {
		change(res)
	}
	return res
}

func TestFigures(t *testing.T) {
	f, complaints, err := read(settings{guest: "bookworm"}, brought(4000, 80000, 7000, nil))
	if err != nil || len(complaints) != 0 || len(f.missed()) != 0 {
		t.Fatal(err, complaints, f.missed())
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kernel":"6.1.0-test","glibc":"2.36","proot":"5.4.0","ops":{`, `"stat":{"native":4,"proot":80,"relay":7,"traps":0}`,
		`"find":{"native":0.004,"proot":0.08,"relay":0.007,"same":true}`, `"sites":{"ld.so":9,"libc":49}}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var table strings.Builder
	if err := f.print(&table); err != nil || !strings.Contains(table.String(), "11.43") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

func TestBoundsAreHeld(t *testing.T) {
	for name, c := range map[string]struct {
		native, proot, relay int
		change               func(*rig.Result)
		want                 string
	}{
		"over native": {4000, 80000, 8100, nil, "stat takes 8.10 us: 2.02 times native (4.00 us), more than 2.0"},
		"over PRoot":  {4000, 28000, 7900, nil, "stat takes 7.90 us: only 3.54 times faster"},
		"slower":      {90000, 80000, 80001, nil, "find takes 0.1 ms, more than under PRoot alone"},
		"traps": {4000, 80000, 7000, func(r *rig.Result) {
			for i, o := range r.Outcomes {
				if o.Name == "relay ops" {
					r.Outcomes[i].Stdout = []byte(strings.ReplaceAll(string(o.Stdout), "switches 0", "switches 1"))
				}
			}
		}, "stat stops at PRoot 0.01 times per call"},
		"output": {4000, 80000, 7000, func(r *rig.Result) {
			r.Files[guest.Root("bookworm")+outputPath(relay, "find")] = []byte("one\nthree\n")
		}, `relay, find: the output is not that of the native run: line 2 is "three", not "two"`},
		"errors": {4000, 80000, 7000, func(r *rig.Result) {
			r.Files[guest.Root("bookworm")+outputPath(relay, "tar c")+".err"] = []byte("tar: no\n")
		}, "tar c does not write the same"},
		"status": {4000, 80000, 7000, func(r *rig.Result) {
			for i, o := range r.Outcomes {
				if o.Name == "relay find" {
					r.Outcomes[i].Stdout = []byte("timed ns 7000 status 139\n")
				}
			}
		}, "relay, find: exit status 139"},
	} {
		f, complaints, err := read(settings{guest: "bookworm"}, brought(c.native, c.proot, c.relay, c.change))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if all := strings.Join(append(complaints, f.missed()...), "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: want %q among\n%s", name, c.want, all)
		}
	}
}

func TestWhatCouldNotBeMeasuredIsAnError(t *testing.T) {
	for name, change := range map[string]func(*rig.Result){
		"no output":     func(r *rig.Result) { delete(r.Files, guest.Root("bookworm")+outputPath(relay, "find")) },
		"a loop failed": func(r *rig.Result) { r.Outcomes[2].Stdout = []byte("glibc 2.36\n") },
		"no statistics": func(r *rig.Result) { r.Outcomes[1].Stderr = nil },
		"no version":    func(r *rig.Result) { r.Outcomes[0].Stdout = nil },
		"a failure":     func(r *rig.Result) { r.Outcomes[3].Status = 1 },
	} {
		if _, _, err := read(settings{guest: "bookworm"}, brought(1, 2, 3, change)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
