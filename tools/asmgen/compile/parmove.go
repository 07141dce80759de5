package compile

// place is where a move reads or writes: a machine register or a stack slot.
type place struct {
	reg  reg   // regNone for a slot
	slot int64 // spill slot + 1
}

// step is one instruction of a resolved parallel copy.
type step struct {
	dst, src place
	m        *move // for constants and addresses
}

// Scratch registers of the code generator.
const (
	scratch0 reg = 16
	scratch1 reg = 17
)

// sequence orders the moves of a parallel copy so that no source is overwritten before it is read; cycles go
// through x16. Copies between slots go through x17.
func sequence(ms []move, where func(reg) reg) []step {
	var todo []step
	var last []step
	for k := range ms {
		m := &ms[k]
		d := place{reg: regNone, slot: m.dstSlot}
		if m.dstSlot == 0 {
			d = place{reg: where(m.dst)}
		}
		if m.src == regNone {
			last = append(last, step{dst: d, m: m})
			continue
		}
		s := place{reg: regNone, slot: m.srcSlot}
		if m.srcSlot == 0 {
			s = place{reg: where(m.src)}
		}
		if s != d {
			todo = append(todo, step{dst: d, src: s})
		}
	}
	var out []step
	for len(todo) > 0 {
		progress := false
		for k := 0; k < len(todo); k++ {
			t := todo[k]
			blocked := false
			for j, u := range todo {
				if j != k && u.src == t.dst {
					blocked = true
					break
				}
			}
			if blocked {
				continue
			}
			out = append(out, t)
			todo = append(todo[:k:k], todo[k+1:]...)
			k--
			progress = true
		}
		if progress {
			continue
		}
		// Only cycles are left: save one source and let its reader read the copy.
		tmp := place{reg: scratch0}
		src := todo[0].src
		out = append(out, step{dst: tmp, src: src})
		for k := range todo {
			if todo[k].src == src {
				todo[k].src = tmp
			}
		}
	}
	return append(out, last...)
}
