package abi

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"svcrelay/tests/faults"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// TestBroken runs checks with libraries that are broken on purpose, under PRoot on a kernel: each must fail.
func TestBroken(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	j, err := job(ctx, "6.1", "cortex-a76", []string{"bookworm"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	built, err := product.Built("", "libsvcrelay.so")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	first := len(j.Commands)
	for i, f := range faults.All {
		bad, err := f.Apply(good)
		if err != nil {
			t.Fatal(err)
		}
		lib := fmt.Sprintf("/opt/libsvcrelay-%d.so", i)
		j.Files[guest.Root("bookworm")+lib] = rig.File{Data: bad, Mode: 0o644}
		j.Commands = append(j.Commands, with("bookworm", lib, program, f.Check))
	}
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range faults.All {
		o := res.Outcomes[first+i]
		_, results := read(o)
		if len(results) != 1 || results[0].Name != f.Check || results[0].State != "FAIL" || o.Status != 1 {
			t.Errorf("%s is not noticed by %s: status %d\n%s%s", f.Name, f.Check, o.Status, o.Stdout, o.Stderr)
			continue
		}
		fmt.Printf("abi: broken: %s: %s fails\n", f.Name, f.Check)
	}
}
