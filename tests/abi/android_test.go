package abi

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/figures"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

// releases are Android's SDK numbers that differ in what apps may call; the empty one is not known.
var releases = []string{"33", "34", "35", ""}

const androidProgram = "/opt/android"

// anything is what runs under the policy beside the calls that differ: programs that open, list, link and start others.
const anything = `cd /tmp && rm -rf d && mkdir d && cd d && echo a > f && ln -s f l && cat l && ls -l /etc | wc -l &&
	stat -c %s f l && find /usr/share -name '*a*' | wc -l && mv f g && test ! -e l && rm -r ../d && sh -c 'exit 0' && echo done`

// TestAndroid runs programs under a policy like that of Android's apps, for each release and for none: nothing of the
// library's makes a call that the policy forbids, and calls that do not exist there are answered as it is known.
func TestAndroid(t *testing.T) {
	rig.NeedVM(t)
	const g = "trixie" // the first of the C libraries that has clone3
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	j, err := job(ctx, "6.1", "cortex-a76", []string{g}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	// One copy is for the VM itself, whose C library is bookworm's, and one for the guest.
	for suite, root := range map[string]string{"bookworm": "", g: guest.Root(g)} {
		cc, err := toolchain.For(ctx, suite)
		if err != nil {
			t.Fatal(err)
		}
		exe := filepath.Join(t.TempDir(), "android-"+suite)
		if err := cc.Compile(ctx, exe, []string{filepath.Join(top, "tests/guest/android.c")}, "-pthread"); err != nil {
			t.Fatal(err)
		}
		j.Files[root+androidProgram] = rig.File{HostPath: exe}
	}

	// add makes a command with or without the policy and the library.
	add := func(api string, policy, lib bool, argv ...string) (at int) {
		c := rig.UnderPRoot(g, nil, argv...)
		c.Env = []string{"PATH=/usr/bin:/bin", "PROOT_FP_STATS=1", "PROOT_FP_ANDROID_API=" + api}
		if lib {
			c.Argv = product.Run(rig.PRootArgs(g, nil), argv...)
		}
		if policy {
			c.Argv = append([]string{androidProgram, "filter", api}, c.Argv...)
		}
		c.Name = fmt.Sprintf("Android %q, policy %v, library %v: %s", api, policy, lib, argv[len(argv)-1])
		j.Commands = append(j.Commands, c)
		return len(j.Commands) - 1
	}
	answers := []string{androidProgram, "answers"}
	work := rig.Shell(anything)
	checks := append([]string{program, "-n", few}, "errno", "small-stacks", "threads", "no-descriptors")
	type places struct{ answers, answersAlone, policy, policyAlone, work, workAlone, checks int }
	at := map[string]places{}
	plain := add("", false, false, answers...)
	for _, api := range releases {
		p := places{answers: add(api, false, true, answers...)}
		if api != "" {
			p.policy, p.policyAlone = add(api, true, true, answers...), add(api, true, false, answers...)
			p.work, p.workAlone = add(api, true, true, work...), add(api, true, false, work...)
			p.checks = add(api, true, true, checks...)
		}
		at[api] = p
	}
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	sites := map[string]int{}
	for _, api := range releases {
		p := at[api]
		out := res.Outcomes[p.answers]
		if want := absentAnswers(string(res.Outcomes[plain].Stdout), api); string(out.Stdout) != want {
			t.Errorf("%s: the answers are\n%swant\n%s%s", out.Name, out.Stdout, want, out.Stderr)
		}
		sites[api] = patched(string(out.Stderr))
		if api == "" {
			continue
		}
		for _, pair := range [][2]int{{p.policy, p.policyAlone}, {p.work, p.workAlone}} {
			a, b := res.Outcomes[pair[0]], res.Outcomes[pair[1]]
			if string(a.Stdout) != string(b.Stdout) || a.Status != 0 || b.Status != 0 {
				t.Errorf("%s: status %d\n%s%swithout the library: status %d\n%s%s", a.Name, a.Status, a.Stdout, a.Stderr, b.Status, b.Stdout, b.Stderr)
			}
			if patched(string(a.Stderr)) == 0 {
				t.Errorf("%s: nothing is patched\n%s", a.Name, a.Stderr)
			}
		}
		if o := res.Outcomes[p.checks]; o.Status != 0 {
			t.Errorf("%s: status %d\n%s%s", o.Name, o.Status, o.Stdout, o.Stderr)
		}
	}
	// Those of faccessat2 are looked at in any case, those of clone3 only where it does not exist.
	if !(0 < sites[""] && sites[""] == sites["35"] && sites["35"] < sites["34"] && sites["34"] == sites["33"]) {
		t.Errorf("sites for each release: %v", sites)
	}
	fmt.Printf("abi: Android: sites for each release: %v\n", sites)
}

// absentAnswers are the answers of a release where those of a machine without Android's policy are all.
func absentAnswers(all, api string) string {
	release, _ := strconv.Atoi(api)
	var out strings.Builder
	for line := range strings.Lines(all) {
		name, _, _ := strings.Cut(line, " =")
		switch {
		case release > 0 && strings.HasPrefix(name, "faccessat2"), release > 0 && release < 35 && name == "clone3":
			line = name + " = -1 errno 38\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

// patched is how many sites a program's line of figures tells of, 0 if there is none.
func patched(stderr string) int {
	for line := range strings.Lines(stderr) {
		if f, ok := figures.Read(line); ok {
			return f["libc"] + f["ld.so"]
		}
	}
	return 0
}
