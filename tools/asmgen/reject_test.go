package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"svcrelay/tools/asmgen/compile"
)

// wanted is one expectation of a source line.
type wanted struct {
	re   *regexp.Regexp
	seen bool
}

var (
	wantComment = regexp.MustCompile(`^// want (.*)$`)
	quoted      = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// readWants reads the expectations of a package's files, by file:line, and the
// names of its exported functions.
func readWants(t *testing.T, dir string) (map[string][]*wanted, []string) {
	t.Helper()
	wants := map[string][]*wanted{}
	var funcs []string
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s (%v)", dir, err)
	}
	fset := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.IsExported() {
				funcs = append(funcs, fd.Name.Name)
			}
		}
		for _, g := range f.Comments {
			for _, c := range g.List {
				m := wantComment.FindStringSubmatch(c.Text)
				if m == nil {
					continue
				}
				pos := fset.Position(c.Pos())
				key := fmt.Sprintf("%s:%d", filepath.Base(name), pos.Line)
				for _, q := range quoted.FindAllString(m[1], -1) {
					s, err := strconv.Unquote(q)
					if err != nil {
						t.Fatalf("%s: %v", key, err)
					}
					wants[key] = append(wants[key], &wanted{re: regexp.MustCompile(s)})
				}
			}
		}
	}
	return wants, funcs
}

// TestReject checks that everything outside the subset is reported, all of it
// in one run, with its place.
func TestReject(t *testing.T) {
	dir := filepath.Join("testdata", "reject")
	wants, funcs := readWants(t, dir)
	entries := map[string]string{}
	for _, f := range funcs {
		entries["svcrelay/tools/asmgen/testdata/reject."+f] = f
	}
	_, err := compile.Compile(compile.Config{Patterns: []string{"./" + dir}, Entries: entries})
	var list compile.ErrorList
	if !errors.As(err, &list) {
		t.Fatalf("the error is %v", err)
	}
	for _, d := range list {
		if d.Pos.Line == 0 || d.Pos.Column == 0 {
			t.Errorf("no place: %v", d)
		}
		key := fmt.Sprintf("%s:%d", filepath.Base(d.Pos.Filename), d.Pos.Line)
		found := false
		for _, w := range wants[key] {
			if w.re.MatchString(d.Msg) {
				w.seen, found = true, true
			}
		}
		if !found {
			t.Errorf("unexpected: %v", d)
		}
	}
	n := 0
	for key, ws := range wants {
		for _, w := range ws {
			n++
			if !w.seen {
				t.Errorf("%s: nothing says %q", key, w.re)
			}
		}
	}
	t.Logf("%d expectations, %d diagnostics", n, len(list))
}
