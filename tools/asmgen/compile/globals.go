package compile

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"go/token"
	"go/types"
	"sort"

	"golang.org/x/tools/go/ssa"

	"svcrelay/tools/asmgen/asm"
)

// Package variables get their initial values by running the package's initialiser at build time. It may only
// move constants and addresses around; what else it does is reported when a variable that needs it is reached.

// object is a piece of static memory.
type object struct {
	name  string
	size  int64
	align int64
	bytes []byte
	ptrs  map[int64]pointer // pointers stored at these offsets
	pos   token.Pos
	err   string // why its value is not known
	errAt token.Pos
}

// pointer is a static address; obj is nil for a string constant, named sym.
type pointer struct {
	obj *object
	sym string
	off int64
}

// static is a value known at build time: its bytes and the pointers in them.
type static struct {
	bytes []byte
	ptrs  map[int64]pointer
}

// initState is the memory of a package after its initialisers.
type initState struct {
	m    *module
	pkg  *ssa.Package
	objs map[*ssa.Global]*object
	vals map[ssa.Value]static
	anon int
	fail string
	at   token.Pos
}

// global is the symbol of a package variable; its datum is made on first use.
func (m *module) global(g *ssa.Global) string {
	if n, ok := m.globals[g]; ok {
		return n
	}
	name := g.String()
	m.globals[g] = name
	if len(g.Pkg.Func("init").Blocks) == 0 {
		m.src.diags.add(g.Pos(), "variable %s: its package has no initialiser", g.Name())
		return name
	}
	m.emitObject(m.initOf(g.Pkg).object(g))
	return name
}

// initOf runs the initialiser of a package, once.
func (m *module) initOf(pkg *ssa.Package) *initState {
	st := m.inits[pkg]
	if st == nil {
		st = &initState{m: m, pkg: pkg, objs: map[*ssa.Global]*object{}, vals: map[ssa.Value]static{}}
		m.inits[pkg] = st
		st.run(pkg.Func("init"))
	}
	return st
}

// emitObject makes the datum of an object and of those it points to.
func (m *module) emitObject(o *object) {
	for _, d := range m.data {
		if d.Name == o.name {
			return
		}
	}
	if o.err != "" {
		m.src.diags.add(o.errAt, "variable %s has no constant initial value: %s", o.name, o.err)
	}
	d := &Datum{Name: o.name, Align: int(max(o.align, 1)), Size: int(o.size), Section: Bss}
	m.data = append(m.data, d)
	for _, b := range o.bytes {
		if b != 0 {
			d.Section = Data
		}
	}
	var offs []int64
	for off := range o.ptrs {
		offs = append(offs, off)
	}
	sort.Slice(offs, func(i, j int) bool { return offs[i] < offs[j] })
	for _, off := range offs {
		p := o.ptrs[off]
		sym := p.sym
		if p.obj != nil {
			sym = p.obj.name
			m.emitObject(p.obj)
		}
		d.Section = Data
		d.Relocs = append(d.Relocs, asm.Reloc{Off: uint32(off), Type: elf.R_AARCH64_ABS64, Sym: sym, Addend: p.off})
	}
	if d.Section == Data {
		d.Bytes = o.bytes
	}
}

func (s *initState) object(g *ssa.Global) *object {
	o := s.objs[g]
	if o == nil {
		t := deref(g.Type())
		o = newObject(g.String(), t, g.Pos())
		s.objs[g] = o
		if s.fail != "" && s.touches(g) {
			o.err, o.errAt = s.fail, s.at
		}
	}
	return o
}

func newObject(name string, t types.Type, pos token.Pos) *object {
	n := sizes.Sizeof(t)
	return &object{name: name, size: n, align: sizes.Alignof(t), bytes: make([]byte, n), ptrs: map[int64]pointer{}, pos: pos}
}

// touches says whether the initialiser mentions g.
func (s *initState) touches(g *ssa.Global) bool {
	for _, b := range s.pkg.Func("init").Blocks {
		for _, in := range b.Instrs {
			for _, op := range in.Operands(nil) {
				if *op == ssa.Value(g) {
					return true
				}
			}
		}
	}
	return false
}

func (s *initState) run(init *ssa.Function) {
	// Block 0 tests the guard, block 1 does the work and block 2 returns; more blocks mean control flow.
	order := ssaOrder(init)
	for _, b := range order {
		for _, in := range b.Instrs {
			switch x := in.(type) {
			case *ssa.If:
				if !isGuard(x.Cond) {
					s.giveUp(in, "its package's initialiser branches")
				}
				continue
			case *ssa.Jump, *ssa.Return, *ssa.DebugRef:
				continue
			}
			s.step(in)
		}
	}
}

func isGuard(v ssa.Value) bool {
	u, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	g, ok := u.X.(*ssa.Global)
	return ok && g.Name() == "init$guard"
}

func (s *initState) giveUp(in ssa.Instruction, why string) {
	if s.fail == "" {
		s.fail, s.at = why, in.Pos()
	}
}

// target is the memory a static pointer value points to.
func (s *initState) target(v ssa.Value) (pointer, bool) {
	if g, ok := v.(*ssa.Global); ok {
		return pointer{obj: s.m.initOf(g.Pkg).object(g)}, true
	}
	st, ok := s.vals[v]
	if !ok {
		return pointer{}, false
	}
	p, ok := st.ptrs[0]
	return p, ok
}

func pointerTo(o *object, off int64) static {
	return static{bytes: make([]byte, 8), ptrs: map[int64]pointer{0: {obj: o, off: off}}}
}

// of is the static value of an operand.
func (s *initState) of(v ssa.Value) (static, bool) {
	switch v := v.(type) {
	case *ssa.Const:
		return s.constant(v)
	case *ssa.Global:
		return pointerTo(s.m.initOf(v.Pkg).object(v), 0), true
	}
	st, ok := s.vals[v]
	return st, ok
}

func (s *initState) constant(c *ssa.Const) (static, bool) {
	out := static{bytes: make([]byte, sizes.Sizeof(c.Type())), ptrs: map[int64]pointer{}}
	if c.Value == nil {
		return out, true
	}
	if isString(c.Type()) {
		str := constString(c)
		if str != "" {
			out.ptrs[0] = pointer{sym: s.m.str(str)}
		}
		binary.LittleEndian.PutUint64(out.bytes[8:], uint64(len(str)))
		return out, true
	}
	k, ok := scalarKind(c.Type())
	if !ok {
		return out, false
	}
	putBits(out.bytes, constBits(c, k))
	return out, true
}

func putBits(b []byte, n int64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], uint64(n))
	copy(b, w[:])
}

func getBits(b []byte, k kind) int64 {
	var w [8]byte
	copy(w[:], b[:k.size])
	n := int64(binary.LittleEndian.Uint64(w[:]))
	s := 64 - 8*uint(k.size)
	if k.signed {
		return n << s >> s
	}
	return int64(uint64(n) << s >> s)
}

func (s *initState) step(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.Call:
		if f := in.Call.StaticCallee(); f != nil && f.Name() == "init" && f.Synthetic != "" {
			return // the initialiser of an imported package
		}
		s.giveUp(in, "a function is called to compute it")
		return
	case *ssa.Alloc:
		s.anon++
		o := newObject(fmt.Sprintf("%s.init.%d", s.pkg.Pkg.Path(), s.anon), deref(in.Type()), in.Pos())
		s.vals[in] = pointerTo(o, 0)
		return
	case *ssa.Store:
		s.store(in)
		return
	}
	v, ok := in.(ssa.Value)
	if !ok {
		s.giveUp(in, fmt.Sprintf("%T at initialisation", in))
		return
	}
	if st, ok := s.eval(v); ok {
		s.vals[v] = st
	}
}

func (s *initState) store(in *ssa.Store) {
	if g, ok := in.Addr.(*ssa.Global); ok && g.Name() == "init$guard" {
		return
	}
	p, ok := s.target(in.Addr)
	if !ok || p.obj == nil {
		s.giveUp(in, "a value is stored through a pointer that is not constant")
		return
	}
	val, ok := s.of(in.Val)
	if !ok {
		p.obj.err, p.obj.errAt = "it is computed at run time", in.Pos()
		if !in.Pos().IsValid() {
			p.obj.errAt = p.obj.pos
		}
		return
	}
	copy(p.obj.bytes[p.off:], val.bytes)
	for off := range p.obj.ptrs {
		if off >= p.off && off < p.off+int64(len(val.bytes)) {
			delete(p.obj.ptrs, off)
		}
	}
	for off, q := range val.ptrs {
		p.obj.ptrs[p.off+off] = q
	}
}

func (s *initState) eval(v ssa.Value) (static, bool) {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		if p, ok := s.target(v.X); ok && p.obj != nil {
			st := deref(v.X.Type()).Underlying().(*types.Struct)
			return pointerTo(p.obj, p.off+fieldOffset(st, v.Field)), true
		}
	case *ssa.IndexAddr:
		p, ok := s.target(v.X)
		i, iok := s.number(v.Index)
		if ok && iok && p.obj != nil {
			return pointerTo(p.obj, p.off+i*elemSize(v.X.Type())), true
		}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return s.read(v)
		}
	case *ssa.Slice:
		p, ok := s.target(v.X)
		at, isArray := deref(v.X.Type()).Underlying().(*types.Array)
		if ok && isArray && p.obj != nil && v.Low == nil && v.High == nil && v.Max == nil {
			out := static{bytes: make([]byte, 24), ptrs: map[int64]pointer{0: p}}
			putBits(out.bytes[8:], at.Len())
			putBits(out.bytes[16:], at.Len())
			return out, true
		}
	case *ssa.ChangeType:
		return s.of(v.X)
	case *ssa.Convert:
		st, ok := s.of(v.X)
		from, ok1 := scalarKind(v.X.Type())
		to, ok2 := scalarKind(v.Type())
		if ok && ok1 && ok2 && len(st.ptrs) == 0 {
			out := static{bytes: make([]byte, to.size), ptrs: map[int64]pointer{}}
			putBits(out.bytes, getBits(st.bytes, from))
			return out, true
		}
		if ok && ok1 && ok2 && from.size == to.size {
			return st, true
		}
	case *ssa.BinOp:
		return s.arith(v)
	}
	return static{}, false
}

func (s *initState) number(v ssa.Value) (int64, bool) {
	st, ok := s.of(v)
	k, ok2 := scalarKind(v.Type())
	if !ok || !ok2 || len(st.ptrs) > 0 {
		return 0, false
	}
	return getBits(st.bytes, k), true
}

func (s *initState) read(v *ssa.UnOp) (static, bool) {
	p, ok := s.target(v.X)
	if !ok || p.obj == nil || p.obj.err != "" {
		return static{}, false
	}
	n := sizes.Sizeof(v.Type())
	out := static{bytes: append([]byte(nil), p.obj.bytes[p.off:p.off+n]...), ptrs: map[int64]pointer{}}
	for off, q := range p.obj.ptrs {
		if off >= p.off && off < p.off+n {
			out.ptrs[off-p.off] = q
		}
	}
	return out, true
}

func (s *initState) arith(v *ssa.BinOp) (static, bool) {
	k, ok := scalarKind(v.Type())
	x, ok1 := s.number(v.X)
	y, ok2 := s.number(v.Y)
	if !ok || !ok1 || !ok2 {
		return static{}, false
	}
	var n int64
	switch v.Op {
	case token.ADD:
		n = x + y
	case token.SUB:
		n = x - y
	case token.MUL:
		n = x * y
	case token.AND:
		n = x & y
	case token.OR:
		n = x | y
	case token.XOR:
		n = x ^ y
	case token.SHL:
		n = x << uint64(y)
	default:
		return static{}, false
	}
	out := static{bytes: make([]byte, k.size), ptrs: map[int64]pointer{}}
	putBits(out.bytes, n)
	return out, true
}
