package compile

import (
	"fmt"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// diags collects what is wrong with the source.
type diags struct {
	fset *token.FileSet
	list ErrorList
}

func (d *diags) add(pos token.Pos, format string, args ...any) {
	d.list = append(d.list, Diagnostic{Pos: d.fset.Position(pos), Msg: fmt.Sprintf(format, args...)})
}

// err is the sorted list without duplicates, or nil.
func (d *diags) err() error {
	if len(d.list) == 0 {
		return nil
	}
	sort.SliceStable(d.list, func(i, j int) bool {
		a, b := d.list[i], d.list[j]
		if a.Pos.Filename != b.Pos.Filename {
			return a.Pos.Filename < b.Pos.Filename
		}
		if a.Pos.Offset != b.Pos.Offset {
			return a.Pos.Offset < b.Pos.Offset
		}
		return a.Msg < b.Msg
	})
	out := d.list[:1]
	for _, x := range d.list[1:] {
		if x != out[len(out)-1] {
			out = append(out, x)
		}
	}
	return out
}

// parsePos parses file:line:col, the form in which go/packages reports positions.
func parsePos(s string) token.Position {
	var p token.Position
	parts := strings.Split(s, ":")
	var nums []int
	for len(parts) > 1 && len(nums) < 2 {
		n, err := strconv.Atoi(parts[len(parts)-1])
		if err != nil {
			break
		}
		nums = append([]int{n}, nums...)
		parts = parts[:len(parts)-1]
	}
	p.Filename = strings.Join(parts, ":")
	if len(nums) > 0 {
		p.Line = nums[0]
	}
	if len(nums) > 1 {
		p.Column = nums[1]
	}
	return p
}
