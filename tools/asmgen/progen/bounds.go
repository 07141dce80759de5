package progen

import "fmt"

// Every fourth program is one about bounds: indexes that are compared with
// lengths, in conditions and loops, and that are now and then one too far.
// What a compiler proves about them is easily proved wrong.

// bounds writes the body of such a program.
func (g *gen) bounds(entry string) {
	g.indent = 0
	g.line("// %s is a random program about bounds.", entry)
	g.line("func %s(m *Mem, a, b, c, d uint64) uint64 {", entry)
	g.indent = 1
	g.line("fuel = 300")
	g.line("acc := a")
	g.line("i, j, k := int(int8(a))%%20, int(int8(b))%%20, int(c)")
	g.line("u, w, n, h := uint8(d), int32(c), uint(b), int8(a)")
	g.line("s, t := m.A[:], m.D[:]")
	g.line("var r [8]uint16")
	g.line("str := %q", "0123456789abcdef"[:1+g.r.Intn(16)])
	g.line("_, _, _, _ = k, w, n, h")
	if g.chance(70) {
		g.line("s = s[uint(b)%%17:]")
	}
	if g.chance(50) {
		g.line("s = s[:uint(c)%%uint(len(s)+1)]")
	}
	if g.chance(50) {
		g.line("t = t[:uint(d)%%9]")
	}
	g.budget = 8 + g.r.Intn(16)
	g.loop = 0
	for g.budget > 0 {
		g.boundsStmt(0)
	}
	g.line("for x := range r {")
	g.line("\tacc = acc*31 + uint64(r[x])")
	g.line("}")
	g.line("return acc ^ uint64(i) ^ uint64(j)<<8 ^ uint64(k) ^ uint64(u) ^ uint64(w) ^ uint64(n) ^ uint64(h) ^ uint64(len(s)) ^ uint64(len(t)) ^ uint64(len(str))")
	g.indent = 0
	g.line("}")
	g.line("")
}

func (g *gen) choose(from ...string) string { return from[g.r.Intn(len(from))] }

// seq is something with a length.
func (g *gen) seq() string { return g.choose("s", "s", "s", "t", "t", "r", "str") }

// number is an int expression that tends to be near the bounds.
func (g *gen) number() string {
	switch g.r.Intn(12) {
	case 0:
		return fmt.Sprintf("(k*0 + %d)", g.r.Intn(18)-1) // a constant would be an error of the language
	case 1:
		return fmt.Sprintf("%s + %d", g.choose("i", "j", "k"), 1+g.r.Intn(3))
	case 2:
		return fmt.Sprintf("%s - %d", g.choose("i", "j", "k"), 1+g.r.Intn(3))
	case 3:
		return fmt.Sprintf("len(%s) - %d", g.choose("s", "t", "str"), g.r.Intn(3))
	case 4:
		return g.choose("int(u)", "int(w)", "int(n)", "int(h)", "int(u&15)", "int(u>>4)", "int(n%9)", "int(w)%8", "int(uint8(h))", "int(uint16(w))")
	case 5:
		return fmt.Sprintf("len(%s) - 1 - %s", g.seq(), g.choose("i", "j"))
	case 6:
		return fmt.Sprintf("%s %s %s", g.choose("i", "j", "k"), g.choose("+", "-", "&", "|", "^"), g.choose("i", "j", "k"))
	case 7:
		return fmt.Sprintf("min(%s, %s)", g.choose("i", "j", "k"), g.choose("len(s)", "len(t)", "7", "j"))
	}
	return g.choose("i", "i", "i", "j", "j", "k")
}

// boundsPlace is an index expression that can be written to.
func (g *gen) boundsPlace() string {
	return fmt.Sprintf("%s[%s]", g.choose("s", "s", "t", "r", "m.B", "m.F"), g.boundsIndex())
}

func (g *gen) boundsIndex() string {
	switch g.r.Intn(8) {
	case 0:
		return g.choose("u", "w", "n", "h", "u&7", "n&7", "u%8", "w&7", "h&3")
	case 1:
		return fmt.Sprint(g.r.Intn(8))
	}
	return g.number()
}

func (g *gen) boundsCond() string {
	q := g.seq()
	switch g.r.Intn(14) {
	case 0:
		return fmt.Sprintf("i >= 0 && i < len(%s)", q)
	case 1:
		return fmt.Sprintf("uint(%s) < uint(len(%s))", g.choose("i", "j", "k", "i+1", "i-1"), q)
	case 2:
		return fmt.Sprintf("len(%s) %s %d", q, g.choose(">", ">=", "==", "!=", "<"), g.r.Intn(9))
	case 3:
		return fmt.Sprintf("0 <= i && i %s j && j %s len(%s)", g.choose("<", "<="), g.choose("<", "<="), q)
	case 4:
		return fmt.Sprintf("i+%d %s len(%s)", 1+g.r.Intn(3), g.choose("<", "<="), q)
	case 5:
		return fmt.Sprintf("%s %s 8", g.choose("u", "n", "w", "h"), g.choose("<", "<=", "!="))
	case 6:
		return fmt.Sprintf("%s %s %d", g.choose("u", "n"), g.choose("<", "<=", ">"), g.r.Intn(20))
	case 7:
		return fmt.Sprintf("%s %s %d", g.choose("w", "h"), g.choose("<", "<=", ">", ">="), g.r.Intn(20)-2)
	case 8:
		return fmt.Sprintf("i >= 0 && i <= j && j < cap(%s)", g.choose("s", "t"))
	case 9:
		return fmt.Sprintf("!(i < 0 || i >= len(%s))", q)
	}
	return fmt.Sprintf("%s %s %s", g.number(), g.choose("<", "<=", ">", ">=", "==", "!="), g.number())
}

func (g *gen) boundsStmt(depth int) {
	g.budget--
	switch g.r.Intn(18) {
	case 0, 1, 2, 3:
		g.line("if %s {", g.boundsCond())
		g.boundsBlock(depth)
		if g.chance(30) {
			g.line("} else {")
			g.boundsBlock(depth)
		}
		g.line("}")
	case 4, 5, 6:
		if depth < 2 {
			g.boundsLoop(depth)
		}
	case 7, 8:
		if g.chance(70) {
			g.guarded()
			return
		}
		if g.chance(20) {
			g.line("acc = acc*7 + uint64(str[%s])", g.number())
			return
		}
		if g.chance(50) {
			g.line("acc = acc*7 + uint64(%s)", g.choose("i*j", "j*k", "i*j+1", "a*b", "(a^c)*b", "a*b>>3", "i*j&7", "j/(k|1)", "len(s)*i"))
			return
		}
		g.line("acc = acc*7 + uint64(%s)", g.boundsPlace())
	case 9, 10:
		if g.chance(70) {
			g.guarded()
			return
		}
		p := g.boundsPlace()
		g.line("%s %s", p, g.choose("++", "+= 3", "= 5", "^= 1"))
	case 11:
		g.line("%s", g.choose("i++", "i--", "j++", "j--", "u++", "w--", "h++", "n--", "i = -i", "i >>= 1", "j = i", "k = j", "i *= 2", "i &= 15", "u >>= 1", "h = -h", "k &= 31"))
	case 12:
		g.line("%s = %s", g.choose("i", "j", "k"), g.number())
	case 13:
		switch g.r.Intn(9) {
		case 0:
			g.line("s = s[i:]")
		case 1:
			g.line("s = s[:%s]", g.number())
		case 2:
			g.line("s = s[i:j]")
		case 7:
			g.line("if 0 <= i && i <= j && j <= len(s) {")
			g.line("\ts = s[%s]", g.choose("i:j", "i:", ":j", "j:", "i:j:j"))
			g.line("}")
		case 8:
			g.line("if n := uint(%s); n <= uint(cap(s)) {", g.number())
			g.line("\ts = s[:n]")
			g.line("}")
		case 3:
			g.line("if len(t) > 0 {")
			g.line("\tt = t[%s]", g.choose("1:", ":len(t)-1", "1:cap(t)", "0:1"))
			g.line("}")
		case 4:
			g.line("s = s[:cap(s)]")
		case 5:
			g.line("str = str[%s]", g.choose("min(max(i, 0), len(str)):", ":uint(j)%uint(len(str)+1)", "i:"))
		case 6:
			g.line("s = m.A[%s:]", g.choose("i", "u&7", "2", "n%17"))
		}
	case 14:
		g.line("acc += uint64(copy(s[min(uint(i), uint(len(s))):], s))")
	case 15:
		g.line("if %s {", g.boundsCond())
		if len(g.labels) > 0 {
			g.line("\t%s", g.choose("break", "continue"))
		} else {
			g.line("\treturn acc")
		}
		g.line("}")
	case 16:
		v := g.choose("s", "t")
		g.line("if len(%s) >= %d {", v, 1+g.r.Intn(6))
		g.line("\tacc += uint64(%s[%d]) + uint64(%s[%s])", v, g.r.Intn(6), v, g.choose("0", "1", "len("+v+")-1"))
		g.line("}")
	case 17:
		if g.chance(70) {
			g.guarded()
			return
		}
		// A check that an earlier one covers, or nearly.
		v, x := g.choose("s", "t"), g.choose("i", "j")
		g.line("acc += uint64(%s[%s]) + uint64(%s[%s%s])", v, x, v, x, g.choose("", "+1", "-1", ">>1", "&3", "/2"))
	}
}

// guarded accesses an element behind a condition that is right, in one of the
// ways in which people write it.
func (g *gen) guarded() {
	q, x := g.choose("s", "s", "t", "r", "str"), g.choose("i", "j", "k")
	access := x
	switch g.r.Intn(10) {
	case 0:
		g.line("if %s >= 0 && %s < len(%s) {", x, x, q)
	case 1:
		g.line("if uint(%s) < uint(len(%s)) {", x, q)
	case 2:
		g.line("if n := %s; 0 <= n && n < len(%s) {", g.number(), q)
		access = "n"
	case 3:
		g.line("if %s > 0 && %s <= len(%s) {", x, x, q)
		access = x + "-1"
	case 4:
		g.line("if %s < len(%s) && %s >= 2 {", x, q, x)
		access = x + g.choose("-1", "-2", "/2", ">>1")
	case 5:
		g.line("if len(%s) > %s && %s > -1 {", q, x, x)
	case 6:
		g.line("if %s >= -1 && %s+1 < len(%s) {", x, x, q)
		access = x + "+1"
	case 7:
		g.line("if n := len(%s) - %d; n >= 0 {", q, 1+g.r.Intn(3))
		access = "n"
	case 8:
		v := g.choose("u", "n")
		g.line("if %s < %s(len(%s)) {", v, map[string]string{"u": "uint8", "n": "uint"}[v], q)
		access = v
	case 9:
		v := g.choose("w", "h")
		g.line("if %s >= 0 && int(%s) < len(%s) {", v, v, q)
		access = v
	}
	if q == "str" || g.chance(50) {
		g.line("\tacc = acc*3 + uint64(%s[%s])", q, access)
	} else {
		g.line("\t%s[%s] %s", q, access, g.choose("++", "+= 3", "= 9", "^= 1"))
	}
	if g.chance(30) {
		g.line("\t%s", g.choose("i++", "j--", "s = s[:len(s)/2]", "k = i", "u++"))
	}
	g.line("}")
}

func (g *gen) boundsBlock(depth int) {
	g.indent++
	for n := 1 + g.r.Intn(4); n > 0 && g.budget > 0; n-- {
		g.boundsStmt(depth)
	}
	g.indent--
}

func (g *gen) boundsLoop(depth int) {
	q := g.seq()
	switch g.r.Intn(9) {
	case 0:
		g.line("for i = 0; i < len(%s); i++ {", q)
	case 1:
		g.line("for i = %s; i %s %s; i++ {", g.number(), g.choose("<", "<=", "!="), g.number())
	case 2:
		g.line("for i = len(%s) - %d; i %s 0; i-- {", q, g.r.Intn(3), g.choose(">=", ">"))
	case 3:
		g.line("for i = 0; i < len(%s)-%d; i += %d {", q, g.r.Intn(3), 1+g.r.Intn(3))
	case 4:
		if q == "str" {
			q = "len(str)" // a range over a string decodes it
		}
		g.line("for i = range %s {", q)
	case 5:
		g.line("for i < j {")
	case 6:
		g.line("for u = %s; u %s %d; u%s {", g.choose("0", "u&3", "uint8(i)"), g.choose("<", "<=", "!="), 1+g.r.Intn(20), g.choose("++", "+= 2", "--"))
	case 7:
		g.line("for h = int8(j); h %s %d; h%s {", g.choose(">", ">=", "<"), g.r.Intn(20)-4, g.choose("++", "--", "-= 3"))
	case 8:
		g.line("for i, j = 0, len(%s)-1; i < j; i, j = i+1, j-1 {", g.choose("s", "t", "r"))
	}
	g.loopBody(depth, g.boundsBlock)
}

// loopBody is what follows a loop's first line: an end for loops that do not come to one, and a block.
func (g *gen) loopBody(depth int, block func(depth int)) {
	g.line("\tif fuel == 0 {")
	g.line("\t\tbreak")
	g.line("\t}")
	g.line("\tfuel--")
	g.labels = append(g.labels, &label{})
	block(depth + 1)
	g.labels = g.labels[:len(g.labels)-1]
	g.line("}")
}
