// Command demo boots the test VM and shows what svcrelay does to a Debian guest under an unmodified PRoot: it
// measures system calls and whole programs natively, under PRoot alone and under PRoot with svcrelay, on a clock
// that counts instructions, compares all output byte for byte and prints one table. The figures are also written
// to out/demo.json.
//
// It ends with status 1 when a bound that the product promises is missed, and says which.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/pflag"

	"svcrelay/tests/rig"
)

func main() {
	dist := pflag.String("dist", "dist", "directory with the built svcrelay-arm64, libsvcrelay.so and libsvcrelay-tracer.so")
	out := pflag.String("out", "out", "directory for demo.json")
	kernel := pflag.String("kernel", "6.1", "kernel of the VM")
	guest := pflag.String("guest", "bookworm", "guest to run (it must have python3)")
	calls := pflag.Int("calls", 5000, "calls in each measured loop")
	without := pflag.Bool("without-relay", false, "run the third column under PRoot alone too, to check the measurement")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := demo(ctx, settings{*dist, *out, *kernel, *guest, *calls, *without})
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type settings struct {
	dist, out, kernel, guest string
	calls                    int
	without                  bool
}

// demo runs everything and says whether all bounds hold.
func demo(ctx context.Context, s settings) (bool, error) {
	tmp, err := os.MkdirTemp("", "svcrelay-demo-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	job, err := makeJob(ctx, s, tmp)
	if err != nil {
		return false, err
	}
	fmt.Fprintln(os.Stderr, "Booting the VM: native, PRoot, then PRoot with svcrelay; this takes a minute or two.")
	res, err := rig.Run(ctx, job)
	if err != nil {
		return false, err
	}
	figures, complaints, err := read(s, res)
	if err != nil {
		return false, err
	}
	text, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return false, err
	}
	file := filepath.Join(s.out, "demo.json")
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return false, err
	}
	if err := figures.print(os.Stdout); err != nil {
		return false, err
	}
	complaints = append(complaints, figures.missed()...)
	for _, c := range complaints {
		fmt.Println("MISSED:", c)
	}
	if len(complaints) == 0 {
		fmt.Println("All bounds hold. The figures are in", file)
	}
	return len(complaints) == 0, nil
}
