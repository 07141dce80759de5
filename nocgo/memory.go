package nocgo

// CopyWords copies n bytes from src to dst, eight at a time and upwards: up to seven bytes past the end of
// both are read and written too. The two may overlap if dst is below src by at least eight bytes.
func CopyWords(dst, src, n uintptr) {
	for i := uintptr(0); i < n; i += 8 {
		Store64(dst+i, Load64(src+i))
	}
}

// CopyUp copies n bytes from src to a dst below it, or anywhere that does not overlap. Nothing past the end
// is touched.
func CopyUp(dst, src, n uintptr) {
	for i := uintptr(0); i < n; i++ {
		Store8(dst+i, Load8(src+i))
	}
}

// CopyDown copies n bytes from src to a dst above it, or anywhere that does not overlap. Nothing past the end
// is touched.
func CopyDown(dst, src, n uintptr) {
	for n > 0 {
		n--
		Store8(dst+n, Load8(src+n))
	}
}

// EqualWords says whether the n bytes at a and b are the same. Up to seven bytes past the end of both are read.
func EqualWords(a, b, n uintptr) bool {
	i := uintptr(0)
	for i+8 <= n {
		if Load64(a+i) != Load64(b+i) {
			return false
		}
		i += 8
	}
	if i == n {
		return true
	}
	return (Load64(a+i)^Load64(b+i))<<(64-8*(n-i)) == 0
}

// HashWords mixes the n bytes at a into 64 bits. Up to seven bytes past the end are read.
func HashWords(a, n uintptr) uint64 {
	h := uint64(n) * hashFactor
	i := uintptr(0)
	for i+8 <= n {
		h = (h ^ Load64(a+i)) * hashFactor
		h ^= h >> 29
		i += 8
	}
	if i < n {
		h = (h ^ Load64(a+i)<<(64-8*(n-i))) * hashFactor
		h ^= h >> 29
	}
	return h
}

// HashPair mixes two numbers into 64 bits.
func HashPair(a, b uint64) uint64 {
	h := (a*hashFactor ^ b) * hashFactor
	return h ^ h>>29
}

// hashFactor is an odd constant with well spread bits (2^64 divided by the golden ratio).
const hashFactor = 0x9e3779b97f4a7c15
