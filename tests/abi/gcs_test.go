package abi

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/product"
)

// TestShadowStack runs programs of a guest whose C library knows the second stack of return addresses (GCS), on a machine that has
// one: with it from the start, where the library does nothing, and turned on later, where relays work.
func TestShadowStack(t *testing.T) {
	rig.NeedVM(t)
	rig.NeedTime(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	const in, shadowed = "forky", "/opt/gcs"
	tmp := t.TempDir()
	j, err := job(ctx, "7.2", "max", []string{in}, tmp)
	if err != nil {
		t.Fatal(err)
	}
	j.Newer = true
	if err := product.Compile(ctx, &j, tmp, in, "gcs.c", shadowed); err != nil {
		t.Fatal(err)
	}
	first := len(j.Commands)
	add := func(mode string, c rig.Command) {
		c.Env = append(c.Env, "GLIBC_TUNABLES=glibc.cpu.aarch64_gcs="+mode, "PROOT_FP_STATS=1")
		j.Commands = append(j.Commands, c)
	}
	const never, always = "0", "3"
	add(always, alone(in, shadowed, "/tmp"))
	add(always, with(in, product.Library, shadowed, "/tmp"))
	add(never, alone(in, shadowed, "/tmp", "later"))
	add(never, with(in, product.Library, shadowed, "/tmp", "later"))
	add(always, with(in, product.Library, program, "-n", few, "-x", "moved-away")) // which is refused there without relays, too
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outcomes) != len(j.Commands) {
		t.Fatalf("%d of %d commands ran", len(res.Outcomes), len(j.Commands))
	}
	for i, start := range []bool{true, false} {
		without, o := res.Outcomes[first+2*i], res.Outcomes[first+2*i+1]
		if !strings.HasPrefix(string(without.Stdout), "status 1\n") || without.Status != 0 {
			t.Fatalf("without the library: %s%s%s", without.Stdout, without.Stderr, without.Problem)
		}
		live := strings.Contains(string(o.Stderr), "svcrelay: pid=") && strings.Contains(string(o.Stderr), " answered:")
		if string(o.Stdout) != string(without.Stdout) || o.Status != 0 || live == start {
			t.Errorf("on from the start: %v; with the library:\n%s%s%s\nwithout:\n%s", start, o.Stdout, o.Stderr, o.Problem, without.Stdout)
		}
	}
	o := res.Outcomes[first+4]
	relays, results := read(o)
	count := map[string]int{}
	for _, c := range results {
		count[c.State]++
	}
	if relays != 0 || o.Status != 0 || count["ok"] == 0 || count["ok"]+count["none"] != len(results) {
		t.Errorf("%s%s%s", o.Stdout, o.Stderr, o.Problem)
	}
	fmt.Printf("abi: with a second stack of return addresses: %d relays, %d checks ok, %d not possible, %.0f s\n", relays, count["ok"], count["none"], res.Took.Seconds())
}
