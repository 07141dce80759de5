package reject

// Float computes with floating-point numbers.
func Float(a float64) int { // want "parameter a has type float64: floating-point numbers are outside" "variable a has type float64"
	return int(a * 2) // want "floating-point" "floating-point"
}

// FloatLocal hides one.
func FloatLocal(a int) int {
	f := float32(a) // want "floating-point"  "floating-point"
	return int(f)   // want "floating-point"
}

// Complex numbers.
func Complex(c complex128) bool { // want "complex numbers are outside"
	return c == 0 // want "complex numbers are outside"
}

// Interface takes one.
func Interface(v any) bool { // want "interfaces are outside"
	return v == nil // want "interfaces are outside"
}

// Dynamic calls through one.
func Dynamic(s sizer) int { // want "interfaces are outside"
	return s.size() // want "dynamic call of size"
}

type sizer interface{ size() int }

// Convert makes one.
func Convert(n number) bool {
	return isSizer(n) // want "conversion of .*number to .*sizer"
}

type number int

func (n number) size() int { return int(n) }

func isSizer(s sizer) bool { // want "interfaces are outside"
	return s != nil // want "interfaces are outside"
}

// Assert asserts a type.
func Assert(v any) int { // want "interfaces are outside"
	n, _ := v.(int) // want "interfaces are outside"
	return n
}

// Callback calls a function value.
func Callback(f func(int) int) int { // want "function values are outside"
	return f(1) // want "the callee is not known statically"
}

// Value takes a function's value.
func Value(n int) int {
	f := twice  // want "function values are outside" "function values are outside"
	return f(n) // want "the callee is not known statically"
}

func twice(n int) int { return 2 * n }

// Channel receives.
func Channel(c chan int) int { // want "channels are outside"
	return <-c // want "channels are outside"
}

// Send sends.
func Send(c chan<- int) { // want "channels are outside"
	c <- 1 // want "channels are outside"
}

// Select waits.
func Select(c, d chan int) int { // want "channels are outside" "channels are outside"
	select { // want "channels are outside"
	case v := <-c:
		return v
	case <-d:
		return 1
	}
}

// Inside has a field outside the subset.
func Inside(p *struct{ f float32 }) bool { // want "floating-point numbers are outside the subset .field f."
	return p == nil // want "floating-point numbers are outside the subset .field f."
}
