package reject

var keep *int

// Append grows a slice.
func Append(a []int) int {
	a = append(a, 1) // want "append is outside the subset"
	return len(a)
}

// Make makes.
func Make(n int) int {
	a := make([]int, n) // want "make is outside the subset"
	return len(a)
}

// Map uses a map.
func Map(n int) int {
	m := map[int]int{n: 1} // want "maps are outside" "maps are outside"
	return len(m)          // want "maps are outside"
}

// MapParam has one as a parameter.
func MapParam(m map[string]int) int { // want "parameter m has type .*: maps are outside the subset" "variable m has type"
	return m["a"] // want "maps are outside"
}

// Concat concatenates.
func Concat(a, b string) int {
	c := a + b // want "string concatenation is outside"
	return len(c)
}

// Bytes copies a string.
func Bytes(a string) int {
	return len([]byte(a)) // want "conversion between string and slice copies"
}

// Text copies a slice.
func Text(a []byte) int {
	return len(string(a)) // want "conversion between string and slice copies"
}

// Rune converts a number.
func Rune(a rune) int {
	return len(string(a)) // want "conversion of a number to a string"
}

// ReturnLocal returns the address of a local variable.
func ReturnLocal(n int) *int {
	x := n
	return &x // want "the address of x leaves the function in a result"
}

// StoreLocal stores it in a variable of the package.
func StoreLocal(n int) {
	x := n
	keep = &x // want "the address of x is stored in memory that is not on the stack"
}

// StoreField stores it where a parameter leads.
func StoreField(p *holder, n int) {
	x := n
	p.p = &x // want "the address of x is stored in memory that parameter p leads to"
}

type holder struct{ p *int }

// ThroughCall stores it in a callee.
func ThroughCall(p *holder, n int) {
	x := n
	hold(p, &x) // want "the address of x is stored in memory that parameter p leads to"
}

func hold(p *holder, q *int) { p.p = q }

// LoopLocal keeps the address of a loop's variable after its iteration.
func LoopLocal(n int) int {
	p := &n
	for i := range n {
		x := i // want "the address of x, declared in a loop, is kept in p"
		if i == 3 {
			p = &x
		}
	}
	return *p
}

// SliceLocal returns a slice of a local array.
func SliceLocal(n int) []int {
	var a [4]int
	a[0] = n
	return a[:] // want "the address of a leaves"
}
