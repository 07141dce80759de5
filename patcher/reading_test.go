package patcher

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reading is an instruction as a disassembler writes it in GNU syntax.
type reading struct {
	name string
	ops  []string
}

// read takes a line apart. Comments of the disassembler go.
func read(text string) reading {
	text, _, _ = strings.Cut(text, "//")
	name, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(text, "\t", " ")), " ")
	r := reading{name: name}
	depth, from := 0, 0
	for i := range len(rest) + 1 {
		if i == len(rest) || rest[i] == ',' && depth == 0 {
			if op := strings.TrimSpace(rest[from:i]); op != "" {
				r.ops = append(r.ops, op)
			}
			from = i + 1
		} else if rest[i] == '[' || rest[i] == '{' {
			depth++
		} else if rest[i] == ']' || rest[i] == '}' {
			depth--
		}
	}
	return r
}

func (r reading) op(i int) string {
	if i < len(r.ops) {
		return r.ops[i]
	}
	return ""
}

// register gives the number of a general register; 31 is the zero register. ok is false for all other operands.
func register(op string) (n uint32, ok bool) {
	if op == "xzr" || op == "wzr" {
		return 31, true
	}
	if len(op) < 2 || op[0] != 'x' && op[0] != 'w' {
		return 0, false
	}
	v, err := strconv.Atoi(op[1:])
	return uint32(v), err == nil && v < 31
}

func immediate(op string) (uint64, bool) {
	op, is := strings.CutPrefix(op, "#")
	if v, err := strconv.ParseInt(op, 0, 64); err == nil {
		return uint64(v), is
	}
	v, err := strconv.ParseUint(op, 0, 64)
	return v, is && err == nil
}

// leaves, calls and branches by their names.
func (r reading) leaves() bool {
	return slices.Contains([]string{"b", "br", "braa", "brab", "braaz", "brabz", "ret", "retaa", "retab", "eret", "eretaa", "eretab", "drps", "brk", "udf"}, r.name)
}

func (r reading) calls() bool {
	return slices.Contains([]string{"bl", "blr", "blraa", "blrab", "blraaz", "blrabz"}, r.name)
}

func (r reading) branches() bool {
	return r.name == "b" || strings.HasPrefix(r.name, "b.") || r.name == "cbz" || r.name == "cbnz" || r.name == "tbz" || r.name == "tbnz"
}

// constant is the value that a move of an immediate leaves in its register.
func (r reading) constant() (v uint64, ok bool) {
	if len(r.ops) < 2 || r.op(0) == "sp" || r.op(0) == "wsp" {
		return 0, false
	}
	if _, is := register(r.op(0)); !is {
		return 0, false
	}
	from := 1
	switch r.name {
	case "mov", "movz", "movn":
	case "orr":
		if r.op(1) != "xzr" && r.op(1) != "wzr" {
			return 0, false
		}
		from = 2
	default:
		return 0, false
	}
	if v, ok = immediate(r.op(from)); !ok {
		return 0, false
	}
	if shift, is := strings.CutPrefix(r.op(from+1), "lsl #"); is {
		n, _ := strconv.ParseUint(shift, 0, 8)
		v <<= n
	}
	if r.name == "movn" {
		v = ^v
	}
	if r.op(0)[0] == 'w' {
		v &= 0xffffffff
	}
	return v, true
}

// copies is the source of a move between general registers, or of one that widens.
func (r reading) copies() (src uint32, ok bool) {
	if r.name != "mov" && r.name != "sxtw" || len(r.ops) != 2 {
		return 0, false
	}
	if _, ok = register(r.op(0)); !ok {
		return 0, false
	}
	return register(r.op(1))
}

var (
	noResult  = regexp.MustCompile(`^(cmp|cmn|tst|ccmp|ccmn|b|b\..*|bc\..*|br.*|bl.*|cbn?z|tbn?z|ret.*|eret.*|nop|hint|yield|wfe|wfi|sevl?|msr|brk|hlt|udf|svc|hvc|smc|prf.*|d[ms]b|isb|clrex|dc|ic|at|tlbi|sys|f.?cmp.*|fccmp.*|ctermeq|ctermne|csdb|esb|bti|chkfeat.*|drps|rmif|setf.*|cfinv|st.*|dgh|tsb|psb|ssbb|pssbb|sb|dcps.*|rprfm|axflag|xaflag|wfet|wfit)$`)
	exclusive = regexp.MustCompile(`^stl?xr?[bhp]?$|^stl?x[rp][bh]?$`)
	pair      = regexp.MustCompile(`^(ldn?p|ldpsw|lda?xp|ldiapp|ldtnp|ldtp)$`)
	atomic    = regexp.MustCompile(`^(ld(add|clr|eor|set|smax|smin|umax|umin)(a|l|al)?[bh]?|swp(a|l|al)?[bh]?)$`)
	swapPair  = regexp.MustCompile(`^casp(a|l|al)?$|^swpp.*$|^ldclrp.*$|^ldsetp.*$|^rcwc?s?.*$`)
	copyBlock = regexp.MustCompile(`^(cpy|set[pmeg]|setg[pme])`)
	sixtyFour = regexp.MustCompile(`^(ld64b|st64bv0?)$`)
	base      = regexp.MustCompile(`^\[([xw][0-9]+|sp)`)
)

// writes are the general registers that the instruction may change, x31 aside.
func (r reading) writes() (regs []uint32) {
	add := func(op string) {
		if n, ok := register(strings.TrimSuffix(op, "!")); ok && n != 31 {
			regs = append(regs, n)
		}
	}
	for i, op := range r.ops { // a base register that is moved
		m := base.FindStringSubmatch(op)
		if m == nil {
			continue
		}
		if strings.HasSuffix(op, "!") || i+1 < len(r.ops) && (strings.HasPrefix(r.ops[i+1], "#") || !strings.HasPrefix(r.name, "st64") && !strings.HasPrefix(r.name, "cpy")) {
			add(m[1])
		}
	}
	switch {
	case r.name == "paciasp" || r.name == "pacibsp" || r.name == "autiasp" || r.name == "autibsp" || r.name == "paciaz" || r.name == "pacibz" ||
		r.name == "autiaz" || r.name == "autibz" || r.name == "xpaclri":
		add("x30")
	case strings.HasSuffix(r.name, "1716"):
		add("x17")
	case copyBlock.MatchString(r.name) && len(r.ops) == 3:
		for _, op := range r.ops {
			add(strings.Trim(op, "[]!"))
		}
	case swapPair.MatchString(r.name):
		add(r.op(0))
		add(r.op(1))
	case exclusive.MatchString(r.name):
		add(r.op(0))
	case sixtyFour.MatchString(r.name):
	case r.name == "bl" || r.calls():
		add("x30")
	case atomic.MatchString(r.name):
		add(r.op(1))
	case pair.MatchString(r.name):
		add(r.op(0))
		add(r.op(1))
	case noResult.MatchString(r.name):
	default:
		add(r.op(0))
	}
	return regs
}
