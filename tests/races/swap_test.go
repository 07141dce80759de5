// Package races runs guest programs in which several threads and processes change what paths lead to while others ask.
package races

import (
	"errors"
	"flag"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/figures"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// How often every path is asked about in each race. The full number takes some minutes:
//
//	SVCRELAY_VM=1 go test -timeout 30m ./tests/races -args -iterations 3000
var iterations = flag.Int("iterations", 400, "how often every path is asked about in each race")

// alone is the same under PRoot alone, which takes long.
const alone = 50

// TestSwaps asks about paths while links and directories are swapped: every answer must be that of one of the two states,
// with nothing remembered and with the default lifetime, as under PRoot alone.
func TestSwaps(t *testing.T) {
	rig.NeedVM(t)
	root := guest.Root("bookworm")
	job := rig.Job{CPUs: 2, Guests: []string{"bookworm"}, KeepOn: true, Timeout: 25 * time.Minute}
	if err := errors.Join(product.Add(&job, ""), product.Compile(t.Context(), &job, t.TempDir(), "bookworm", "swap.c", "/opt/swap", "-pthread")); err != nil {
		t.Fatal(err)
	}
	add := func(name, dir string, times int, env []string, argv ...string) {
		job.Commands = append(job.Commands, rig.Command{Argv: []string{"/bin/mkdir", root + dir}})
		job.Commands = append(job.Commands, rig.Command{Name: name, Env: append([]string{"PATH=/usr/bin:/bin"}, env...), Timeout: 10 * time.Minute,
			Argv: append(argv, "/opt/swap", dir, strconv.Itoa(times))})
	}
	proot := rig.PRootArgs("bookworm", nil)
	add("PRoot alone", "/tmp/alone", alone, nil, proot...)
	run := slices.Clip(product.Run(proot)) // what is added to it is not shared
	add("nothing remembered", "/tmp/zero", *iterations, []string{"PROOT_FP_STATS=1", "PROOT_FP_TTL_MS=0"}, run...)
	add("default lifetime", "/tmp/default", *iterations, []string{"PROOT_FP_STATS=1"}, run...)
	res, err := rig.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range res.Outcomes {
		if o.Name == "/bin/mkdir" {
			continue
		}
		t.Logf("%s: %.0f s, %d stops\n%s%s", o.Name, o.Elapsed.Seconds(), o.Switches, o.Stdout, o.Stderr)
		if o.Status != 0 || o.Problem != "" || !strings.HasSuffix(string(o.Stdout), "\n0 wrong\n") {
			t.Errorf("%s: status %d %s", o.Name, o.Status, o.Problem)
		}
		for _, l := range regexp.MustCompile(`: first (\d+), second (\d+), none (\d+), swaps (\d+)`).FindAllStringSubmatch(string(o.Stdout), -1) {
			first, second, none := number(l[1]), number(l[2]), number(l[3])
			if first == 0 || second+none == 0 {
				t.Errorf("%s: only one state was seen: %s", o.Name, l[0])
			}
		}
		if o.Name == "PRoot alone" {
			continue
		}
		answered := 0
		for l := range strings.Lines(string(o.Stderr)) {
			if f, ok := figures.Read(l); ok && f["errors"] == 0 {
				answered += f["answered"]
			}
		}
		if answered < 15**iterations {
			t.Errorf("%s: the library answered only %d calls", o.Name, answered)
		}
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
