package reject

var (
	computed = twice(4)               // want "computed.*|run time"
	table    = [2]int{1, computed2()} // want "run time|table"
	lookup   = map[int]int{1: 2}      // want "variable lookup has type .*: maps are outside"
)

func computed2() int { return keepInt }

var keepInt = 3

// Globals read variables that are computed at run time.
func Globals(i int) int { return computed + table[i&1] }

// GlobalMap reads a map.
func GlobalMap(i int) int {
	return lookup[i] // want "maps are outside"
}
