package disassembly

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Objdump is the disassembler: GNU's, of the package binutils-aarch64-linux-gnu.
const Objdump = "aarch64-linux-gnu-objdump"

// Line is an instruction with its place.
type Line struct {
	Addr uint64
	Word uint32
	Reading
	// Symbol is the function that objdump lists it under.
	Symbol string
}

// File disassembles the sections with code of a file.
func File(path string) ([]Line, error) {
	out, err := exec.Command(Objdump, "-d", "-z", path).Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", Objdump, path, err)
	}
	var lines []Line
	symbol := ""
	in := bufio.NewScanner(bytes.NewReader(out))
	for in.Scan() {
		f := strings.SplitN(in.Text(), "\t", 3)
		if len(f) == 1 {
			if _, name, ok := strings.Cut(f[0], " <"); ok && strings.HasSuffix(name, ">:") {
				symbol = strings.TrimSuffix(name, ">:")
			}
			continue
		}
		at, err1 := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f[0]), ":"), 16, 64)
		word, err2 := strconv.ParseUint(strings.TrimSpace(f[1]), 16, 32)
		if len(f) != 3 || err1 != nil || err2 != nil {
			continue
		}
		lines = append(lines, Line{at, uint32(word), Read(f[2]), symbol})
	}
	return lines, in.Err()
}

// Target is where a direct branch or call goes.
func (l Line) Target() (to uint64, ok bool) {
	if !l.Branches() && l.Name != "bl" {
		return 0, false
	}
	// The last operand: "b.eq 21860 <name+0x10>"
	text, _, _ := strings.Cut(l.Ops[len(l.Ops)-1], " ")
	to, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return to, err == nil
}
