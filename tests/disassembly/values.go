package disassembly

// Value is what a register holds.
type Value struct {
	Kind Kind
	// N is the constant, or the number of the parameter.
	N uint64
}

// Kind says what is known of a register.
type Kind uint8

// The kinds, in the order in which knowledge is lost.
const (
	Unreached Kind = iota
	Constant
	Parameter // the register with number N as it was when the function was called
	Any
)

// Registers are the values of all general registers.
type Registers [31]Value

// entry are the registers when a function begins.
func entry() (r Registers) {
	for i := range r {
		r[i] = Value{Parameter, uint64(i)}
	}
	return r
}

// meet loses what two ways to the same place do not agree about. It says whether r has changed.
func (r *Registers) meet(o Registers) bool {
	changed := false
	for i := range r {
		switch {
		case r[i] == o[i] || o[i].Kind == Unreached:
		case r[i].Kind == Unreached:
			r[i], changed = o[i], true
		case r[i].Kind != Any:
			r[i], changed = Value{Kind: Any}, true
		}
	}
	return changed
}

// after are the registers after an instruction.
func (r Registers) after(l Line) Registers {
	if l.Calls() || l.Name == "svc" {
		for i := range 19 { // the procedure call standard lets a function keep x19 to x28 only
			if l.Calls() || i == 0 {
				r[i] = Value{Kind: Any}
			}
		}
		return r
	}
	result := Value{Kind: Any}
	if n, ok := l.Constant(); ok {
		result = Value{Constant, n}
	} else if src, ok := l.Copies(); ok {
		result = Value{Constant, 0}
		if src != 31 {
			result = r[src]
		}
	} else if d, ok := register(l.op(0)); ok && d != 31 && l.Name == "movk" && r[d].Kind == Constant {
		result = Value{Constant, l.keep(r[d].N)}
	}
	for _, d := range l.Writes() {
		r[d] = result
	}
	return r
}

// keep is what MOVK makes of a value.
func (l Line) keep(v uint64) uint64 {
	shift := l.Word >> 21 & 3 * 16
	return v&^(0xffff<<shift) | uint64(l.Word>>5&0xffff)<<shift
}

// Values follows the registers forward through all code that leads to an instruction that matters, from every place
// where a function may begin, until nothing changes any more. It gives them as they are before each such instruction.
func Values(lines []Line, matters func(Line) bool) map[int]*Registers {
	index := map[uint64]int{}
	for i, l := range lines {
		index[l.Addr] = i
	}
	next := func(i int) (to []int) {
		l := lines[i]
		if at, ok := l.Target(); ok && l.Name != "bl" {
			if k, ok := index[at]; ok {
				to = append(to, k)
			}
		}
		if !l.Leaves() && i+1 < len(lines) && lines[i+1].Addr == l.Addr+4 {
			to = append(to, i+1)
		}
		return to
	}
	out := leading(lines, next, matters)
	var work []int
	reach := func(i int, r Registers) {
		if out[i] != nil && out[i].meet(r) {
			work = append(work, i)
		}
	}
	from := func(seed int) {
		reach(seed, entry())
		for len(work) > 0 {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			r := out[i].after(lines[i])
			for _, k := range next(i) {
				reach(k, r)
			}
		}
	}
	for i, l := range lines {
		if i == 0 || lines[i-1].Symbol != l.Symbol {
			from(i)
		}
		if to, ok := l.Target(); ok && l.Name == "bl" {
			if k, ok := index[to]; ok {
				from(k)
			}
		}
	}
	// What is only reached through a pointer begins behind an instruction that control does not pass.
	for i := range lines {
		if out[i] != nil && out[i][30].Kind == Unreached {
			from(i)
		}
	}
	return out
}

// leading makes room for the registers of all instructions from which control may come to one that matters.
func leading(lines []Line, next func(int) []int, matters func(Line) bool) map[int]*Registers {
	before := make([][]int32, len(lines))
	var work []int
	for i, l := range lines {
		for _, k := range next(i) {
			before[k] = append(before[k], int32(i))
		}
		if matters(l) {
			work = append(work, i)
		}
	}
	out := map[int]*Registers{}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if out[i] != nil {
			continue
		}
		out[i] = new(Registers)
		for _, k := range before[i] {
			work = append(work, int(k))
		}
	}
	return out
}
