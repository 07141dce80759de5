package gen

import (
	"fmt"
	"slices"

	"svcrelay/tests/equiv/cases"
)

// script writes about n operations of one or several actors.
func (g *generator) script(n int) {
	first := &process{leader: 0, cwd: "/"}
	if o := g.c.Options; len(o) > 1 && o[len(o)-1] != "/nowhere" {
		first.cwd = o[len(o)-1]
	}
	actors := map[int]*process{0: first}
	order := []int{0}
	var waiting []int
	several, quiet := g.chance(40), g.chance(25)
	if several {
		// What another process changes may be remembered for as long as the library says: here not at all.
		g.c.Env = append(g.c.Env, "PROOT_FP_TTL_MS=0")
	}
	me := 0
	emit := func(s string) { g.c.Script = append(g.c.Script, fmt.Sprintf("%d %s", me, s)) }
	for i := range 4 {
		d := g.target(directory)
		emit(fmt.Sprintf(">%d open %s %#x 0", i, quote("", d), one(g, []int{oNonblock, oDirectory, oPath, oCloexec | oDirectory})))
		first.fds[i] = descriptor{true, true, d}
	}
	for len(g.c.Script) < n {
		if g.chance(12) {
			me = one(g, order)
		}
		p := actors[me]
		if g.IntN(60) == 0 {
			switch {
			case len(order) < 5 && several && g.chance(60):
				id := 1 + g.IntN(11)
				if actors[id] != nil || slices.Contains(waiting, id) {
					continue
				}
				if g.chance(35) {
					emit(fmt.Sprintf("thread %d", id))
					actors[id] = p
				} else {
					emit(fmt.Sprintf("fork %d", id))
					copied := *p
					copied.leader = id
					actors[id] = &copied
				}
				order = append(order, id)
				me = id
				continue
			case me != 0 && g.chance(70):
				emit("exit")
				for _, id := range slices.Clone(order) {
					if id == me || actors[me].leader == me && actors[id].leader == me {
						order = slices.DeleteFunc(order, func(e int) bool { return e == id })
					}
				}
				waiting = append(waiting, me)
				me = 0
				continue
			case len(waiting) > 0:
				id := waiting[0]
				me = 0
				emit(fmt.Sprintf("wait %d", id))
				waiting = waiting[1:]
				continue
			}
		}
		if !quiet && g.chance(2) {
			for _, op := range g.sequence(p) {
				emit(op)
			}
			continue
		}
		emit(g.operation(p, quiet, me))
	}
}

const (
	oCreat     = 0o100
	oExcl      = 0o200
	oTrunc     = 0o1000
	oNonblock  = 0o4000
	oDirectory = 0o40000
	oNofollow  = 0o100000
	oCloexec   = 0o2000000
	oPath      = 0o10000000
	oTmpfile   = 0o20040000
)

// flags chooses what a file is opened with. Nothing that could wait for another process.
func (g *generator) flags(changes bool) int {
	f := []int{0, 1, 2, 3}[g.pick(80, 6, 6, 1)]
	switch g.pick(50, 12, 10, 8, 8, 4, 4, 4) {
	case 1:
		return f | oDirectory | oNonblock
	case 2:
		return f | oNofollow | oNonblock
	case 3:
		return oPath
	case 4:
		return oPath | oNofollow
	case 5:
		return f | oCloexec | oNofollow | oDirectory
	case 6:
		return f | one(g, []int{0o40000000, 0x80000000, 0o2000, 0o1000000, 0o4010000, 0o200000, 0o400}) | oNonblock
	case 7:
		if changes {
			return one(g, []int{1, 2, 0}) | oTmpfile
		}
	}
	if changes && g.chance(40) {
		f |= oCreat
		if g.chance(30) {
			f |= oExcl
		}
		if g.chance(20) {
			f |= oTrunc | 1
		}
		if g.chance(10) {
			f |= one(g, []int{oDirectory, oNofollow, oPath})
		}
	}
	return f | oNonblock
}

// buffer makes an argument for a result of n bytes.
func (g *generator) buffer(n int) string {
	switch g.pick(82, 8, 3, 2, 2, 3) {
	case 1:
		return fmt.Sprintf("m%d", n)
	case 2:
		return fmt.Sprintf("r%d", n)
	case 3:
		return "0"
	case 4:
		return one(g, []string{"8", "0xffffffffffffff00", "0x8000000000000000", "0xfff000000000"})
	case 5:
		return fmt.Sprintf("b%d", g.IntN(n+1))
	}
	return fmt.Sprintf("b%d", n)
}

func (g *generator) mode() string {
	return one(g, []string{"0644", "0755", "0700", "0600", "0", "0777", "04755", "02755", "01777", "0100644", "0111", "0444", "0177777", "-1"})
}

func (g *generator) uid() string {
	return one(g, []string{"0", "1000", "1000", "1234", "-1", "-1", "65536"})
}

func (g *generator) atFlags() string {
	return one(g, []string{"0", "0", "0", "0", "0x100", "0x100", "0x100", "0x1000", "0x1100", "0x800", "0x400", "0x200", "0x10000", "-1"})
}

// access flags and sizes of all kinds.
func (g *generator) size() int {
	return one(g, []int{0, 1, 2, 3, 5, 8, 16, 32, 64, 100, 255, 256, 1024, 4095, 4096})
}

func (g *generator) times() string {
	switch g.pick(30, 50, 5, 5, 5, 5) {
	case 0:
		return "0"
	case 1:
		return fmt.Sprintf("t%d,%d,%d,%d", g.IntN(1<<30), g.IntN(1e9), g.IntN(1<<30), g.IntN(1e9))
	case 2:
		return "t0,1073741823,5,1073741822"
	case 3:
		return "t0,1073741822,0,1073741822"
	case 4:
		return "t1,-1,1,2000000000"
	}
	return g.buffer(32)
}

// made notes that a path of the process may now exist.
func (g *generator) made(dir, path string, kind cases.Kind) {
	if len(path) == 0 || len(path) > 300 {
		return
	}
	if path[0] != '/' {
		path = dir + "/" + path
	}
	g.learn(clean(path), kind)
}
