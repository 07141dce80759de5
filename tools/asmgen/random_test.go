package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tools/asmgen/progen"
)

var (
	programs  = flag.Int("programs", 2100, "how many random programs to compare")
	firstSeed = flag.Int64("seed", 1, "the seed of the first random program")
)

const (
	batchSize       = 200
	callsPerProgram = 6
)

// randomCall is one call of a random program.
type randomCall struct {
	seed int64
	args [4]uint64
	mem  []byte
}

// randomResult is what it gives.
type randomResult struct {
	aborted bool
	value   uint64
	mem     []byte
}

// batch is some random programs that share a package.
type batch struct {
	pkg     string
	seeds   []int64
	sources map[int64]string
	calls   []randomCall
}

func makeBatch(pkg string, first int64, n int) *batch {
	b := &batch{pkg: pkg, sources: map[int64]string{}}
	for seed := first; seed < first+int64(n); seed++ {
		src, _ := progen.Program(seed)
		b.seeds = append(b.seeds, seed)
		b.sources[seed] = src
		r := rand.New(rand.NewSource(seed))
		for range callsPerProgram {
			c := randomCall{seed: seed, mem: make([]byte, progen.MemSize)}
			for i := range c.args {
				c.args[i] = r.Uint64() >> r.Intn(64)
				if r.Intn(3) == 0 {
					c.args[i] = uint64(int64(r.Intn(20) - 10))
				}
			}
			if r.Intn(4) != 0 {
				r.Read(c.mem)
			}
			b.calls = append(b.calls, c)
		}
	}
	return b
}

// native is the program that makes the calls natively. It reads calls from its
// standard input and writes results to its standard output.
const native = `package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"unsafe"
%s)

type fn func(m unsafe.Pointer, a, b, c, d uint64) uint64

func wrap[M any](f func(m *M, a, b, c, d uint64) uint64) fn {
	return func(m unsafe.Pointer, a, b, c, d uint64) uint64 { return f((*M)(m), a, b, c, d) }
}

var programs = map[uint64]fn{
%s}

func call(f fn, m unsafe.Pointer, args *[4]uint64) (aborted, value uint64) {
	defer func() {
		if recover() != nil {
			aborted, value = 1, 0
		}
	}()
	return 0, f(m, args[0], args[1], args[2], args[3])
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var head [5]uint64
	for binary.Read(in, binary.LittleEndian, &head) == nil {
		mem := make([]uint64, %d/8)
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), 8*len(mem))
		if _, err := io.ReadFull(in, bytes); err != nil {
			panic(err)
		}
		aborted, value := call(programs[head[0]], unsafe.Pointer(&mem[0]), (*[4]uint64)(head[1:]))
		binary.Write(out, binary.LittleEndian, [2]uint64{aborted, value})
		out.Write(bytes)
	}
}
`

// writeModule writes the batches as packages of a module of their own, with the
// program that runs them natively.
func writeModule(t *testing.T, dir string, batches []*batch) {
	t.Helper()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module progs\n\ngo 1.26\n")
	var imports, table strings.Builder
	for _, b := range batches {
		var src strings.Builder
		src.WriteString(progen.Header(b.pkg))
		for _, s := range b.seeds {
			src.WriteString(b.sources[s])
			fmt.Fprintf(&table, "\t%d: wrap(%s.P%d),\n", s, b.pkg, s)
		}
		write(filepath.Join(b.pkg, b.pkg+".go"), src.String())
		fmt.Fprintf(&imports, "\t\"progs/%s\"\n", b.pkg)
	}
	write(filepath.Join("native", "main.go"), fmt.Sprintf(native, imports.String(), table.String(), progen.MemSize))
}

// runNative builds the module and makes the calls.
func runNative(dir string, batches []*batch) (map[*batch][]randomResult, error) {
	exe := filepath.Join(dir, "run")
	build := exec.Command("go", "build", "-gcflags=progs/...=-N -l", "-o", exe, "./native")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	var in bytes.Buffer
	for _, b := range batches {
		for _, c := range b.calls {
			binary.Write(&in, binary.LittleEndian, uint64(c.seed))
			binary.Write(&in, binary.LittleEndian, c.args)
			in.Write(c.mem)
		}
	}
	run := exec.Command(exe)
	run.Stdin = &in
	out, err := run.Output()
	if err != nil {
		return nil, err
	}
	results := map[*batch][]randomResult{}
	for _, b := range batches {
		for range b.calls {
			results[b] = append(results[b], randomResult{
				aborted: out[0] != 0, value: binary.LittleEndian.Uint64(out[8:]), mem: out[16 : 16+progen.MemSize],
			})
			out = out[16+progen.MemSize:]
		}
	}
	return results, nil
}

// compileBatch compiles one of the packages.
func compileBatch(dir string, b *batch) (*compile.Program, error) {
	entries := map[string]string{}
	for _, s := range b.seeds {
		entries[fmt.Sprintf("progs/%s.P%d", b.pkg, s)] = fmt.Sprintf("P%d", s)
	}
	return compile.Compile(compile.Config{Dir: dir, Patterns: []string{"./" + b.pkg}, Entries: entries})
}

// runCompiled makes the calls under qemu-user.
func runCompiled(p *compile.Program, base uint64, b *batch) ([]randomResult, []harness.Result, error) {
	var calls []harness.Call
	for _, c := range b.calls {
		hc := harness.Call{Entry: fmt.Sprintf("P%d", c.seed), Args: []harness.Arg{{Pointer: true}}, Arena: c.mem}
		for _, a := range c.args {
			hc.Args = append(hc.Args, harness.Arg{Value: a})
		}
		calls = append(calls, hc)
	}
	rs, err := harness.Run(p, base, calls)
	var out []randomResult
	for _, r := range rs {
		v := randomResult{aborted: r.Aborted, value: r.Regs[0], mem: r.Arena}
		if r.Aborted {
			v.value = 0
		}
		out = append(out, v)
	}
	return out, rs, err
}

func (a randomResult) equal(b randomResult) bool {
	return a.aborted == b.aborted && a.value == b.value && bytes.Equal(a.mem, b.mem)
}

// TestRandomPrograms compares random programs, native and compiled.
func TestRandomPrograms(t *testing.T) {
	dir := t.TempDir()
	var batches []*batch
	for done := 0; done < *programs; done += batchSize {
		n := min(batchSize, *programs-done)
		batches = append(batches, makeBatch(fmt.Sprintf("b%d", len(batches)), *firstSeed+int64(done), n))
	}
	writeModule(t, dir, batches)

	var want map[*batch][]randomResult
	var nativeErr error
	var wg sync.WaitGroup
	wg.Go(func() { want, nativeErr = runNative(dir, batches) })
	type outcome struct {
		got []randomResult
		raw []harness.Result
		err error
	}
	got := make([]outcome, len(batches))
	for i, b := range batches {
		p, err := compileBatch(dir, b)
		if err != nil {
			got[i].err = fmt.Errorf("compile: %w", err)
			continue
		}
		got[i].got, got[i].raw, got[i].err = runCompiled(p, harness.Bases[i%len(harness.Bases)], b)
	}
	wg.Wait()
	if nativeErr != nil {
		t.Fatal(nativeErr)
	}
	compared, aborted, bad := 0, 0, map[int64]bool{}
	for i, b := range batches {
		if err := got[i].err; err != nil {
			t.Errorf("seeds %d to %d: %v", b.seeds[0], b.seeds[len(b.seeds)-1], err)
		}
		for j, g := range got[i].got {
			c, w := b.calls[j], want[b][j]
			compared++
			if w.aborted {
				aborted++
			}
			broken := got[i].raw[j].Broken
			if g.equal(w) && broken == "" || bad[c.seed] {
				continue
			}
			bad[c.seed] = true
			if len(bad) > 3 {
				continue
			}
			t.Errorf("seed %d, arguments %#x: native gives %+v, compiled %+v; %s\nRepeat with -run RandomPrograms -programs 1 -seed %d\nmemory %x\n%s",
				c.seed, c.args, w, g, broken, c.seed, c.mem, b.sources[c.seed])
		}
	}
	if len(bad) > 0 {
		t.Errorf("%d of %d programs differ", len(bad), *programs)
	}
	if compared != *programs*callsPerProgram {
		t.Errorf("%d calls compared, not %d", compared, *programs*callsPerProgram)
	}
	t.Logf("%d programs, %d calls, %d of them panics", *programs, compared, aborted)
}
