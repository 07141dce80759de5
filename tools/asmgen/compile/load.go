package compile

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

//go:embed rt/rt.go
var rtSource string

const rtPath = "asmgen/rt"

// entryComment marks a function as an entry point: "//asmgen:entry NAME".
const entryComment = "//asmgen:entry "

// source is a loaded program.
type source struct {
	prog    *ssa.Program
	rt      *ssa.Package
	entries []entryFunc // sorted by symbol
	diags   *diags
}

type entryFunc struct {
	sym string
	fn  *ssa.Function
}

func load(cfg Config) (*source, error) {
	tags := append([]string{"freestanding"}, cfg.Tags...)
	pc := &packages.Config{
		Mode:       packages.LoadAllSyntax,
		Dir:        cfg.Dir,
		Env:        append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS="),
		BuildFlags: []string{"-tags=" + strings.Join(tags, ",")},
		Overlay:    cfg.Overlay,
	}
	pkgs, err := packages.Load(pc, cfg.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", strings.Join(cfg.Patterns, " "), err)
	}
	var list ErrorList
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			list = append(list, Diagnostic{Pos: parsePos(e.Pos), Msg: e.Msg})
		}
	})
	if len(list) > 0 {
		return nil, list
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("load %s: no packages match", strings.Join(cfg.Patterns, " "))
	}
	prog, roots := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics|ssa.NaiveForm)
	prog.Build()
	src := &source{prog: prog, diags: &diags{fset: prog.Fset}}
	if src.rt, err = loadRuntime(prog); err != nil {
		return nil, err
	}
	seen := map[string]*ssa.Function{}
	add := func(sym string, f *ssa.Function, pos token.Pos) {
		if sym == "" || strings.ContainsAny(sym, " \t") {
			src.diags.add(pos, "asmgen:entry needs one symbol name")
			return
		}
		if o := seen[sym]; o != nil {
			if o != f {
				src.diags.add(pos, "entry point %s is already %s", sym, o)
			}
			return
		}
		seen[sym] = f
		src.entries = append(src.entries, entryFunc{sym, f})
	}
	for i, p := range pkgs {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok || fd.Doc == nil {
					continue
				}
				for _, c := range fd.Doc.List {
					if !strings.HasPrefix(c.Text, entryComment) {
						continue
					}
					obj, _ := p.TypesInfo.Defs[fd.Name].(*types.Func)
					f := prog.FuncValue(obj)
					if f == nil || roots[i] == nil {
						src.diags.add(c.Pos(), "asmgen:entry: %s is not a plain function", fd.Name.Name)
						continue
					}
					add(strings.TrimSpace(strings.TrimPrefix(c.Text, entryComment)), f, c.Pos())
				}
			}
		}
	}
	if len(cfg.Entries) > 0 {
		byName := map[string]*ssa.Function{}
		for f := range ssautil.AllFunctions(prog) {
			byName[f.String()] = f
		}
		for _, name := range sortedKeys(cfg.Entries) {
			f := byName[name]
			if f == nil {
				return nil, fmt.Errorf("entry point %s: no such function", name)
			}
			add(cfg.Entries[name], f, f.Pos())
		}
	}
	if len(src.entries) == 0 && len(src.diags.list) == 0 {
		return nil, errors.New("no entry points: mark a function with //asmgen:entry NAME")
	}
	sort.Slice(src.entries, func(i, j int) bool { return src.entries[i].sym < src.entries[j].sym })
	return src, nil
}

func loadRuntime(prog *ssa.Program) (*ssa.Package, error) {
	f, err := parser.ParseFile(prog.Fset, "rt.go", rtSource, 0)
	if err != nil {
		return nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, Instances: map[*ast.Ident]types.Instance{}, FileVersions: map[*ast.File]string{},
	}
	tc := &types.Config{Importer: unsafeOnly{}, Sizes: sizes}
	pkg, err := tc.Check(rtPath, prog.Fset, []*ast.File{f}, info)
	if err != nil {
		return nil, err
	}
	if prog.ImportedPackage("unsafe") == nil {
		// No package of the source imports it.
		prog.CreatePackage(types.Unsafe, nil, nil, true)
	}
	p := prog.CreatePackage(pkg, []*ast.File{f}, info, false)
	p.Build()
	return p, nil
}

type unsafeOnly struct{}

func (unsafeOnly) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return nil, fmt.Errorf("rt may not import %s", path)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
