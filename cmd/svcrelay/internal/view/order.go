package view

import "strings"

// relation is how two paths lie to each other.
type relation int

const (
	apart relation = iota
	equal
	contains  // the first contains the second
	contained // the first lies in the second
)

// compare compares two paths by their text, apart from one trailing slash.
func compare(a, b string) relation {
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	switch {
	case a == b:
		return equal
	case strings.HasPrefix(b, a) && b[len(a)] == '/':
		return contains
	case strings.HasPrefix(a, b) && a[len(b)] == '/':
		return contained
	}
	return apart
}

// side is the path by which a list is sorted.
type side bool

const (
	guestSide side = false
	hostSide  side = true
)

func (s side) of(r request) string {
	if s == hostSide {
		return r.Host
	}
	return r.Guest
}

// insort puts a binding where PRoot puts it: behind the last one that it contains, else at the beginning. Of two for one guest path the later one stays; two of one host
// path stay both, the later one behind.
func insort(list []request, b request, s side) []request {
	after := -1
	for i, have := range list {
		switch compare(s.of(b), s.of(have)) {
		case equal:
			if s == guestSide {
				list[i] = b
				return list
			}
			after = i
		case contains:
			after = i
		}
	}
	at := after + 1
	list = append(list, request{})
	copy(list[at+1:], list[at:])
	list[at] = b
	return list
}
