package reject

// Defer defers.
func Defer(p *int) {
	defer done(p) // want "defer is outside"
	*p = 1
}

func done(p *int) { *p = 2 }

// Go starts a goroutine.
func Go(p *int) {
	go done(p) // want "goroutines are outside"
}

// Closure makes one.
func Closure(n int) int {
	f := func() int { return n } // want "closures are outside" "function values are outside"
	return f()                   // want "the callee is not known statically"
}

// RangeFunc ranges over a function.
func RangeFunc(seq func(func(int) bool)) (s int) { // want "function values are outside"
	for v := range seq { // want "closures are outside"
		s += v
	}
	return s
}

// RangeString decodes UTF-8.
func RangeString(s string) (n int) {
	for _, r := range s { // want "decodes UTF-8"
		n += int(r)
	}
	return n
}

// Recursive calls itself.
func Recursive(n uint) uint {
	if n == 0 {
		return 1
	}
	return n * Recursive(n-1) // want "recursion is outside the subset"
}

// Even and odd call each other.
func Even(n uint) bool {
	return n == 0 || odd(n-1)
}

func odd(n uint) bool {
	return n != 0 && Even(n-1) // want "recursion is outside the subset.*Even calls .*odd calls .*Even"
}

// PanicValue panics with something computed.
func PanicValue(n int) {
	panic(n) // want "panic with anything but a constant"
}

// Recover recovers.
func Recover() bool {
	return recover() != nil // want "recover is outside" "interfaces are outside"
}

// Print prints.
func Print(n int) {
	println(n) // want "println is outside"
}

// Variadic takes any number.
func Variadic(n ...int) int { // want "variadic functions are outside"
	return len(n)
}
