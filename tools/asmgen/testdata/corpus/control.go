package corpus

// While loops until a condition inside it.
func While(n uint32) (steps uint32) {
	n &= 0xffff
	for n != 1 && steps < 500 {
		if n == 0 {
			break
		}
		if n&1 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		steps++
	}
	return steps
}

// Nested leaves and continues outer loops by label.
func Nested(a, b uint8) (s uint64) {
outer:
	for i := uint8(0); i < a%17; i++ {
		for j := uint8(0); ; j++ {
			if j == b%13 {
				continue outer
			}
			if uint64(i)*uint64(j) > 90 {
				break outer
			}
			s = s*31 + uint64(i^j)
		}
	}
	return s
}

// RangeInt ranges over an integer.
func RangeInt(n int) (s int) {
	for i := range n & 63 {
		s += i * i
	}
	for range 5 {
		s ^= s << 1
	}
	return s
}

// Countdown has a signed loop variable that passes zero.
func Countdown(n int8) (s int32) {
	for i := n; i >= -3; i-- {
		s += int32(i)
		if s > 5000 {
			return -s
		}
		if i == -128 {
			break
		}
	}
	return s
}

// Swap exchanges values around a loop: phis that depend on each other.
func Swap(a, b, c uint64, n uint8) (uint64, uint64, uint64) {
	for i := uint8(0); i < n; i++ {
		a, b, c = b, c, a
		if a&1 == 1 {
			a, b = b+1, a
		}
	}
	return a, b, c
}

// Fibonacci has two phis in step.
func Fibonacci(n uint8) uint64 {
	a, b := uint64(0), uint64(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

// Rotate4 permutes four values.
func Rotate4(a, b, c, d uint32, n uint8) (w, x, y, z uint32) {
	for range n & 15 {
		a, b, c, d = d, a, b, c
	}
	return a, b, c, d
}

// Gcd uses remainder in a loop.
func Gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Diamond joins values of branches.
func Diamond(a, b int64) (r int64) {
	x := a
	if a > b {
		x = b
		if a > 2*b {
			x += 5
		} else {
			x -= 5
		}
	} else if a == b {
		return 77
	}
	y := x
	if y < 0 {
		y = -y
	}
	return x*3 + y
}

// ShortCircuit has conditions with effects.
func ShortCircuit(p *int32, a, b int32) bool {
	return a > b && bump(p) > 3 || b > a && bump(p) < 0 || !(a == b || bump(p) == 2)
}

func bump(p *int32) int32 {
	*p++
	return *p
}

// Switch has a dense switch with fallthrough and a default in the middle.
func Switch(a uint8) (r int) {
	switch a {
	case 0:
		r = 5
	case 1, 2, 3:
		r = 6
		fallthrough
	case 4:
		r += 10
	default:
		r = -1
	case 5:
		r = 99
		if a == 5 {
			break
		}
		r = 100
	case 200, 201:
		return 3
	}
	return r * 2
}

// SwitchSparse has far-apart and negative cases.
func SwitchSparse(a int64) uint32 {
	switch a {
	case -1 << 63:
		return 1
	case -1:
		return 2
	case 0:
		return 3
	case 1 << 40:
		return 4
	case 1<<63 - 1:
		return 5
	}
	return 6
}

// SwitchMany is a long switch, as over system call numbers.
func SwitchMany(n uint32) uint32 {
	switch n % 80 {
	case 1:
		return 100
	case 5:
		return 11
	case 17:
		return 12
	case 25:
		return n
	case 33, 34, 35:
		return 13
	case 48:
		return n / 2
	case 53:
		return 14
	case 56:
		return 15
	case 61:
		return 16
	case 78:
		return 17
	case 79:
		return 18
	}
	return 0
}

// SwitchTrue has conditions instead of cases.
func SwitchTrue(a, b int16) string {
	switch {
	case a > b:
		return "greater"
	case a < 0, b < 0:
		return "negative"
	case a == b:
		return "equal"
	}
	return ""
}

// SwitchString compares strings.
func SwitchString(s string) int {
	switch s {
	case "":
		return 1
	case "abc":
		return 2
	case "abcdefgh", "abcdefghi":
		return 3
	case "/":
		return 4
	}
	return len(s)
}

// SwitchInit declares in the switch and loops around it.
func SwitchInit(n uint8) (s uint64) {
	for i := uint8(0); i < n%50; i++ {
		switch m := i % 5; m {
		case 0:
			continue
		case 3:
			s += 100
		default:
			s += uint64(m)
		}
		s <<= 1
	}
	return s
}

// EarlyReturn leaves from inside nested blocks.
func EarlyReturn(a []uint8, want uint8) (int, bool) {
	for i, v := range a {
		if v == want {
			return i, true
		}
		if v == want+1 {
			return -i, false
		}
	}
	return -1, false
}

// Goto-free state machine over bytes.
func StateMachine(s string) (state uint8, digits int) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch state {
		case 0:
			if c == '/' {
				state = 1
			} else if c >= '0' && c <= '9' {
				state, digits = 2, digits+1
			}
		case 1:
			if c != '/' {
				state = 0
			}
		case 2:
			if c < '0' || c > '9' {
				state = 3
				break
			}
			digits++
		case 3:
			return state, -digits
		}
	}
	return state, digits
}

// Deep nests conditions.
func Deep(a, b, c, d bool) int {
	if a {
		if b {
			if c {
				if d {
					return 1
				}
				return 2
			} else if d {
				return 3
			}
		} else if c != d {
			return 4
		}
	} else if b == c {
		return 5
	}
	return 6
}

// Bools computes with booleans.
func Bools(a, b bool, x uint8) (bool, bool, bool) {
	c := a != b
	d := x > 3 == a
	if c && !d {
		c, d = d, c
	}
	return c, d, (a || b) && !(a && b)
}

// Empty does nothing.
func Empty() {}

// Infinite loops leave from the middle.
func Infinite(n uint16) (k uint16) {
	for {
		k++
		if k > n%100 {
			return k
		}
		for {
			if k%3 == 0 {
				break
			}
			k++
		}
	}
}
