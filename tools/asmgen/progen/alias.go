package progen

import "fmt"

// Every fourth program is one about memory that has several names: pointers,
// slices and structures that overlap or not, known only at run time, loops with
// loads that look invariant, nil pointers behind tests.

func (g *gen) aliasDeclarations() {
	p := g.prefix
	g.line("type %sT struct {", p)
	g.line("\ta uint64")
	g.line("\tb uint8")
	g.line("\tc int32")
	g.line("\td [3]uint16")
	if g.chance(30) {
		g.line("\tbig [%d]uint32", 3+g.r.Intn(30))
	}
	g.line("}")
	g.line("var %sg uint64", p)
	g.line("var %sa [4]uint64", p)
	g.line("var %st [3]%sT", p, p)
	g.line("func %spoke(p, q *uint64, k uint64) uint64 {", p)
	g.line("\tfor i := range k & 3 {")
	g.line("\t\t*p = *p*3 + i")
	g.line("\t\t%s", g.choose("*q ^= *p", "*q = *p", "k += *q", p+"g += *p", p+"a[i] = *q"))
	g.line("\t}")
	g.line("\treturn *q + k")
	g.line("}")
	g.line("func (t *%sT) turn(u *%sT) uint64 {", p, p)
	g.line("\tt.a += uint64(u.b)")
	g.line("\tu.b++")
	g.line("\t%s", g.choose("t.c = u.c", "*t = *u", "t.d = u.d", "t.d[u.b%3]++", "*u, *t = *t, *u"))
	g.line("\treturn t.a ^ uint64(u.d[1])")
	g.line("}")
}

// alias writes a program of this kind.
func (g *gen) alias(entry string) {
	g.indent = 0
	g.aliasDeclarations()
	p := g.prefix
	g.line("// %s is a random program about memory with several names.", entry)
	g.line("func %s(m *Mem, a, b, c, d uint64) uint64 {", entry)
	g.indent = 1
	g.line("fuel = 200")
	g.line("acc, i, k := a, int(b&7), uint64(c)")
	g.line("%sg, %sa, %st = a, [4]uint64{1, b, 3, c}, [3]%sT{{a: a, b: 7}, {c: int32(b)}, {a: d, d: [3]uint16{1, 2, 3}}}", p, p, p, p)
	g.line("ds, s, t := m.D[:], m.A[:], m.A[a&15:]")
	g.line("p, q := &m.D[b&7], &m.D[c&7]")
	g.line("e, f := &m.A[a&15], &m.A[d&15]")
	g.line("st, su := &%st[a%%3], &%st[d%%3]", p, p)
	g.line("var local %sT", p)
	g.line("var word uint64 = d")
	g.line("v := (*[8]uint8)(unsafe.Pointer(&m.D[a&7]))")
	g.line("h := (*[4]uint32)(unsafe.Pointer(&m.D[b&6]))")
	g.line("_, _, _, _, _, _, _, _, _, _, _, _, _, _ = i, k, ds, s, t, p, q, e, f, st, su, local, v, h")
	for _, n := range []string{"p", "q"} {
		switch g.r.Intn(8) {
		case 0:
			g.line("if d&7 == 1 {")
			g.line("\t%s = nil", n)
			g.line("}")
		case 1:
			g.line("%s = &word", n)
		case 2:
			g.line("%s = &%sg", n, p)
		case 3:
			g.line("if c&1 == 0 {")
			g.line("\t%s = &%s", n, g.choose("m.X", "local.a", p+"a[b&3]", p+"t[b%3].a"))
			g.line("}")
		}
	}
	if g.chance(30) {
		g.line("if b&15 == 3 {")
		g.line("\tst = nil")
		g.line("}")
	}
	if g.chance(30) {
		g.line("su = &local")
	}
	g.budget = 10 + g.r.Intn(20)
	for g.budget > 0 {
		g.aliasStmt(0)
	}
	g.line("for x := range %sa {", p)
	g.line("\tacc = acc*31 + %sa[x]", p)
	g.line("}")
	g.line("for x := range %st {", p)
	g.line("\tacc = acc*31 + %st[x].a + uint64(%st[x].b) + uint64(%st[x].c) + uint64(%st[x].d[x])", p, p, p, p)
	g.line("}")
	g.line("return acc ^ %sg ^ word<<1 ^ local.a ^ uint64(local.b) ^ k ^ uint64(i)", p)
	g.indent = 0
	g.line("}")
	g.line("")
}

// word64 is a load of 64 bits.
func (g *gen) word64() string {
	p := g.prefix
	switch g.r.Intn(16) {
	case 0:
		return "uint64(*e)"
	case 1:
		return "uint64(*f)"
	case 2:
		return "uint64(" + g.choose("st", "su", "local") + g.choose(".b", ".c", ".d[0]", ".d[uint(i)%3]", ".d[k%3]") + ")"
	case 3:
		return g.choose("st", "su", "local") + ".a"
	case 4:
		return "uint64(v[" + g.choose("0", "7", "i&7", "k&7") + "])"
	case 5:
		return "uint64(h[" + g.choose("0", "3", "i&3", "k&3") + "])"
	case 6:
		return "uint64(s[" + g.choose("0", "i&15", "k&15", "15") + "])"
	case 7:
		return "uint64(t[0])"
	case 8:
		return "m.X"
	case 9:
		return "m.D[" + g.choose("0", "i&7", "k&7") + "]"
	case 10:
		return "ds[" + g.choose("0", "i&7", "k&7", "7") + "]"
	case 11:
		return g.choose(p+"g", p+"a[i&3]", p+"a[2]", "word")
	case 12:
		return g.choose("acc", "k", "uint64(i)", "9", "k*a", "a*b", "a*b+1", "uint64(i)*c", "b/(c|1)")
	case 13:
		return p + "t[" + g.choose("0", "1", "k%3") + "].a"
	}
	return g.choose("*p", "*q")
}

// target is a place of 64 bits to store to.
func (g *gen) target() string {
	p := g.prefix
	return g.choose("*p", "*q", "*p", "*q", "m.X", "m.D[k&7]", "ds[i&7]", "ds[1]", p+"g", p+"a[k&3]", p+"a[1]", "word", "st.a", "su.a", "local.a", p+"t[k%3].a")
}

func (g *gen) aliasStmt(depth int) {
	g.budget--
	p := g.prefix
	switch g.r.Intn(22) {
	case 0, 1, 2:
		g.line("%s %s %s", g.target(), g.choose("=", "=", "+=", "^="), g.word64())
	case 3, 4, 5:
		g.line("acc = acc*7 + %s", g.word64())
	case 6:
		g.line("acc ^= %s - %s", g.word64(), g.word64())
	case 7:
		g.line("%s %s uint8(%s)", g.choose("*e", "*f", "s[i&15]", "s[3]", "t[0]", "v[k&7]", "v[2]", "st.b", "su.b", "local.b", p+"t[2].b"), g.choose("=", "+=", "^="), g.word64())
	case 8:
		g.line("%s %s uint32(%s)", g.choose("h[i&3]", "h[1]"), g.choose("=", "+=", "|="), g.word64())
	case 9:
		g.line("%s = %s", g.choose("st.c", "su.c", "local.c", p+"t[1].c"), g.choose("int32(acc)", "-5", "int32(k)+su.c"))
	case 10:
		g.line("%s", g.choose("st.d[k%3]++", "su.d[i%3] = uint16(acc)", "st.d = su.d", "local.d = [3]uint16{uint16(k)}", p+"t[0].d[2] -= 3"))
	case 11:
		g.line("%s", g.choose("*st = *su", "*su = *st", "local = *su", "*st = local", p+"t[k%3] = *su", "*st = "+p+"T{a: k}", "*st = "+p+"t[1]", "local = "+p+"t[k%3]", "*st, *su = *su, *st"))
	case 12:
		g.line("%s", g.choose("p = &m.D[k&7]", "q = p", "p, q = q, p", "p = &st.a", "e = f", "e = &s[i&15]", "st, su = su, st", "st = &"+p+"t[k%3]", "p = &"+p+"a[i&3]", "q = &ds[0]"))
	case 13:
		g.line("%s", g.choose("k++", "i++", "k = acc", "i = int(k & 7)", "k >>= 3", "i ^= 1"))
	case 14, 15:
		g.line("if %s {", g.choose("p == q", "p != nil", "q != nil && *q > k", "e == f", "st == su", "st != nil", "*e < *f", "acc&1 == 0", "i > 3", "k&3 == 1", "*p == *q", "st.a == su.a", "local == *su", "p == &word", "su.b > 4 || st.b < 9"))
		g.aliasBlock(depth)
		if g.chance(35) {
			g.line("} else {")
			g.aliasBlock(depth)
		}
		g.line("}")
	case 16, 17, 18:
		if depth > 1 {
			return
		}
		switch g.r.Intn(5) {
		case 0:
			g.line("for i = 0; i < %d; i++ {", 1+g.r.Intn(9))
		case 1:
			g.line("for i = range ds {")
		case 2:
			n := g.name("x")
			g.line("for %s := range %s {", n, g.choose("uint64(i & 7)", "k & 3", "uint64(5)"))
			g.line("\tk += %s", n)
		case 3:
			n := g.name("x")
			g.line("for _, %s := range %s {", n, g.choose("ds", "s", "t", p+"a"))
			g.line("\tacc += uint64(%s)", n)
		case 4:
			g.line("for %s {", g.choose("*p > k", "p != q", "st.b < 200", "acc&7 != 0", "k < 5"))
		}
		g.loopBody(depth, g.aliasBlock)
	case 19:
		g.line("acc += %s", g.choose(
			fmt.Sprintf("%spoke(p, q, k)", p), fmt.Sprintf("%spoke(q, &m.D[k&7], acc)", p), fmt.Sprintf("%spoke(&word, p, 3)", p),
			fmt.Sprintf("%spoke(&st.a, &su.a, k)", p), "st.turn(su)", "su.turn(st)", "local.turn(su)", "st.turn(&local)"))
	case 20:
		g.line("acc += uint64(copy(%s, %s))", g.choose("s[i&7:]", "t", "s[:i&7]", "m.A[2:9]"), g.choose("s", "t", "m.A[3:8]", "s[i&3:]"))
	case 21:
		if len(g.labels) > 0 && g.chance(60) {
			g.line("if %s == %s {", g.word64(), g.word64())
			g.line("\t%s", g.choose("break", "continue"))
			g.line("}")
			return
		}
		g.line("%s", g.choose("clear(ds[i&7:])", "clear(t[:1])", "m.D[0], m.D[1] = m.D[1], m.D[0]", "acc += uint64(copy(ds[1:], ds))", "h[0], h[1] = h[1], h[0]"))
	}
}

func (g *gen) aliasBlock(depth int) {
	g.indent++
	for n := 1 + g.r.Intn(4); n > 0 && g.budget > 0; n-- {
		g.aliasStmt(depth)
	}
	g.indent--
}
