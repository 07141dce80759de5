package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// The library keeps room for stubs in its own text. There is unwind information for each place of it, so that whoever
// unwinds a stack from a stub comes to the function that contains the site. It is filled as other text is changed,
// through /proc/self/mem. Stubs for which there is no room, or which are out of a site's reach, go to areas of their own.
//
// The room begins like an area. Then there are places for stubs of each form.
const (
	ownBridges = 2
	ownAnys    = 8
	ownFixed   = 224

	// OwnPlaces is the number of places for stubs.
	OwnPlaces = ownBridges + ownAnys + ownFixed

	// maxEffects is the largest number of calls with an effect.
	maxEffects = 80

	// OwnHead is the size of what comes before the places, in bytes.
	OwnHead = areaHead
	ownSize = OwnHead + 4*(ownBridges*bridgeWords+ownAnys*(anyWords+effectWords*maxEffects)+ownFixed*stubWords)
)

// OwnPlace describes the i-th place: the form of its stub (Fixed stands for Async, too), and its size in bytes. The
// generator lays out the room with it.
func OwnPlace(i int) (form Form, size uintptr) {
	switch {
	case i < ownBridges:
		return Bridge, 4 * bridgeWords
	case i < ownBridges+ownAnys:
		return Any, 4 * (anyWords + effectWords*maxEffects)
	}
	return Fixed, 4 * stubWords
}

// Saved says which instructions of a form's stub run with x29 and x30 in the stub's memory: from the first of each pair
// up to the second, counted from the stub's beginning. An empty pair means nothing.
func Saved(form Form) [4][2]int {
	switch form {
	case Bridge:
		return [4][2]int{{15, 25}, {26, 27}, {34, 35}, {54, 55}}
	case Any:
		return [4][2]int{{27, 35}, {36, 37}, {44, 53}}
	}
	return [4][2]int{{6, 9}, {10, 11}, {18, 19}}
}

// Own is the room for stubs in the library's own text. The zero value is none.
type Own struct {
	// At is its address.
	At uintptr
	// Returns is where the unwind information looks for the address after each place's site, eight bytes for each.
	Returns uintptr

	used    [3]int // places in use: for Bridge, Any and Fixed
	returns [OwnPlaces]uint64
	stage   [ownSize / 4]uint32
}

// index gives the number of places before those of a form, and how many those are.
func index(form Form) (kind, first, n int) {
	switch form {
	case Bridge:
		return 0, 0, ownBridges
	case Any:
		return 1, ownBridges, ownAnys
	}
	return 2, ownBridges + ownAnys, ownFixed
}

// offset is where the i-th place of a form begins.
func offset(form Form, i int) uintptr {
	const anys = OwnHead + 4*ownBridges*bridgeWords
	const fixed = anys + 4*ownAnys*(anyWords+effectWords*maxEffects)
	switch form {
	case Bridge:
		return OwnHead + 4*uintptr(i)*bridgeWords
	case Any:
		return anys + 4*uintptr(i)*(anyWords+effectWords*maxEffects)
	}
	return fixed + 4*uintptr(i)*stubWords
}

// place writes the stubs of all sites for which there is room to the stage.
func (o *Own) place(s *shared, sites []Site) {
	if o.At == 0 {
		return
	}
	s.area = o.At
	s.shift = uintptr(unsafe.Pointer(&o.stage)) - o.At
	s.head()
	for i := range sites {
		site := &sites[i]
		kind, first, n := index(site.Form)
		if o.used[kind] >= n {
			continue
		}
		at := o.At + offset(site.Form, o.used[kind])
		if _, ok := Branch(site.Addr, at); !ok || !s.stub(at, site) {
			continue
		}
		site.Stub = at
		if k := first + o.used[kind]; k < OwnPlaces {
			o.returns[k] = uint64(site.Addr + 4)
		}
		o.used[kind]++
	}
}

// unused says that no site has its stub there.
func (o *Own) unused() bool { return o.At == 0 || o.used[0]+o.used[1]+o.used[2] == 0 }

// write copies the stage to where it is to be, through the file of the process's memory.
func (o *Own) write(fd uintptr) bool {
	return o.unused() || o.writeText(fd) && o.writeReturns(fd)
}

func (o *Own) writeText(fd uintptr) bool {
	return o.copy(fd, 0, OwnHead) &&
		o.copy(fd, offset(Bridge, 0), offset(Bridge, o.used[0])) &&
		o.copy(fd, offset(Any, 0), offset(Any, o.used[1])) &&
		o.copy(fd, offset(Fixed, 0), offset(Fixed, o.used[2]))
}

func (o *Own) writeReturns(fd uintptr) bool {
	return poke(fd, o.Returns, uintptr(unsafe.Pointer(&o.returns)), unsafe.Sizeof(o.returns))
}

// copy writes a part of the stage, and looks whether it is there.
func (o *Own) copy(fd, from, to uintptr) bool {
	at, n := uintptr(unsafe.Pointer(&o.stage))+from, to-from
	if !poke(fd, o.At+from, at, n) {
		return false
	}
	nocgo.SyncInstructions(o.At+from, n)
	return true
}

// poke writes n bytes, a multiple of four, from a place of ours to addr, and looks whether they are there.
func poke(fd, addr, from, n uintptr) bool {
	if n == 0 {
		return true
	}
	if write(fd, from, n, addr) != n {
		return false
	}
	for i := uintptr(0); i < n; i += 4 {
		if nocgo.Load32(addr+i) != nocgo.Load32(from+i) {
			return false
		}
	}
	return true
}
