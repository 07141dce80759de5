package progen

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestPrograms checks that programs are valid Go and depend on nothing but their seeds.
func TestPrograms(t *testing.T) {
	constructs := map[string]int{}
	for seed := range int64(500) {
		src, entry := Program(seed)
		if again, _ := Program(seed); again != src {
			t.Fatalf("seed %d gives two programs", seed)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", Header("p")+src, 0)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		conf := types.Config{Importer: importer.Default(), Sizes: types.SizesFor("gc", "arm64")}
		pkg, err := conf.Check("p", fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, number(Header("p")+src))
		}
		if pkg.Scope().Lookup(entry) == nil {
			t.Fatalf("seed %d: no %s", seed, entry)
		}
		if n := conf.Sizes.Sizeof(pkg.Scope().Lookup("Mem").Type()); n != MemSize {
			t.Fatalf("Mem has %d bytes, MemSize says %d", n, MemSize)
		}
		for _, c := range []string{"switch ", "range ", "fallthrough", "continue L", "break L", " / ", " % ", " << ", "copy(", "clear(", "panic(", "&v", "[:", "func (", "nil", " &^ ", "min(", "len(", "++"} {
			if strings.Contains(src, c) {
				constructs[c]++
			}
		}
	}
	for c, n := range constructs {
		if n < 5 {
			t.Errorf("%q is in %d of 500 programs", c, n)
		}
	}
	t.Log(constructs)
}

func number(src string) string {
	var b strings.Builder
	for i, l := range strings.Split(src, "\n") {
		b.WriteString(strings.TrimRight(strings.Join([]string{itoa(i + 1), l}, "\t"), " ") + "\n")
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
