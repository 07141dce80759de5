// Package figures reads the lines that programs write with PROOT_FP_STATS=1 (docs/statistics.md).
package figures

import (
	"strconv"
	"strings"
)

// Begin is how such a line begins.
const Begin = "svcrelay: pid="

// Read takes the figures from a line by their names, that of the process excepted. Before the line there may be what a program
// wrote without ending it. The answer is false if the line is none of figures.
func Read(line string) (map[string]int, bool) {
	_, rest, ok := strings.Cut(line, Begin)
	if !ok {
		return nil, false
	}
	all := map[string]int{}
	for _, w := range strings.Fields(rest) {
		name, value, ok := strings.Cut(w, "=")
		if n, err := strconv.Atoi(value); ok && err == nil {
			all[name] += n
		}
	}
	return all, true
}
