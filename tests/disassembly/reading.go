// Package disassembly reads what disassemblers write, independently of the decoder that the relays are placed with.
package disassembly

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Reading is an instruction as a disassembler writes it in GNU syntax.
type Reading struct {
	Name string
	Ops  []string
}

// Read takes a line apart. Comments of the disassembler go.
func Read(text string) Reading {
	text, _, _ = strings.Cut(text, "//")
	name, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(text, "\t", " ")), " ")
	r := Reading{Name: name}
	depth, from := 0, 0
	for i := range len(rest) + 1 {
		if i == len(rest) || rest[i] == ',' && depth == 0 {
			if op := strings.TrimSpace(rest[from:i]); op != "" {
				r.Ops = append(r.Ops, op)
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

func (r Reading) op(i int) string {
	if i < len(r.Ops) {
		return r.Ops[i]
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

// Leaves says whether control never goes on behind the instruction.
func (r Reading) Leaves() bool {
	return slices.Contains([]string{"b", "br", "braa", "brab", "braaz", "brabz", "ret", "retaa", "retab", "eret", "eretaa", "eretab", "drps", "brk", "udf"}, r.Name)
}

// Calls says whether it is a call of a function.
func (r Reading) Calls() bool {
	return slices.Contains([]string{"bl", "blr", "blraa", "blrab", "blraaz", "blrabz"}, r.Name)
}

// Branches says whether it is a direct branch.
func (r Reading) Branches() bool {
	return r.Name == "b" || strings.HasPrefix(r.Name, "b.") || r.Name == "cbz" || r.Name == "cbnz" || r.Name == "tbz" || r.Name == "tbnz"
}

// Constant is the value that a move of an immediate leaves in its register.
func (r Reading) Constant() (v uint64, ok bool) {
	if len(r.Ops) < 2 || r.op(0) == "sp" || r.op(0) == "wsp" {
		return 0, false
	}
	if _, is := register(r.op(0)); !is {
		return 0, false
	}
	from := 1
	switch r.Name {
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
	if r.Name == "movn" {
		v = ^v
	}
	if r.op(0)[0] == 'w' {
		v &= 0xffffffff
	}
	return v, true
}

// Copies is the source of a move between general registers, or of one that widens.
func (r Reading) Copies() (src uint32, ok bool) {
	if r.Name != "mov" && r.Name != "sxtw" || len(r.Ops) != 2 {
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

// Writes are the general registers that the instruction may change, x31 aside.
func (r Reading) Writes() (regs []uint32) {
	add := func(op string) {
		if n, ok := register(strings.TrimSuffix(op, "!")); ok && n != 31 {
			regs = append(regs, n)
		}
	}
	for i, op := range r.Ops { // a base register that is moved
		m := base.FindStringSubmatch(op)
		if m == nil {
			continue
		}
		if strings.HasSuffix(op, "!") || i+1 < len(r.Ops) && (strings.HasPrefix(r.Ops[i+1], "#") || !strings.HasPrefix(r.Name, "st64") && !strings.HasPrefix(r.Name, "cpy")) {
			add(m[1])
		}
	}
	switch {
	case r.Name == "paciasp" || r.Name == "pacibsp" || r.Name == "autiasp" || r.Name == "autibsp" || r.Name == "paciaz" || r.Name == "pacibz" ||
		r.Name == "autiaz" || r.Name == "autibz" || r.Name == "xpaclri":
		add("x30")
	case strings.HasSuffix(r.Name, "1716"):
		add("x17")
	case copyBlock.MatchString(r.Name) && len(r.Ops) == 3:
		for _, op := range r.Ops {
			add(strings.Trim(op, "[]!"))
		}
	case swapPair.MatchString(r.Name):
		add(r.op(0))
		add(r.op(1))
	case exclusive.MatchString(r.Name):
		add(r.op(0))
	case sixtyFour.MatchString(r.Name):
	case r.Name == "bl" || r.Calls():
		add("x30")
	case atomic.MatchString(r.Name):
		add(r.op(1))
	case pair.MatchString(r.Name):
		add(r.op(0))
		add(r.op(1))
	case noResult.MatchString(r.Name):
	default:
		add(r.op(0))
	}
	return regs
}
