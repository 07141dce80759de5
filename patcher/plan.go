package patcher

import "svcrelay/nocgo"

// Capacities of a Plan.
const (
	MaxSites     = 1024
	MaxLibraries = 4
)

// Library is a library with sites.
type Library struct {
	Base uintptr
	Text Text
	Kind Kind
	// First and Count say which of the plan's sites are its own.
	First, Count int
}

// Plan is everything about the patches of one process. The zero value is ready for Discover.
type Plan struct {
	Sites   [MaxSites]Site
	Count   int
	Library [MaxLibraries]Library
	// Libraries is the number of libraries found.
	Libraries int
	// Seen is the number of svc instructions found.
	Seen int
	// Dispatchers is the number of sites whose number is AnyNumber.
	Dispatchers int
	// Unreachable is the number of sites for which no stub could be placed.
	Unreachable int
	// Effects are the calls that must not happen unseen. Where there is too little stack for the entry to look at one,
	// the byte at Mark is cleared before it happens. To be set before Place; no Mark: no marks.
	Effects Numbers
	Mark    uintptr

	areas       [MaxLibraries]area
	nareas      int
	mem         memory
	table       symbols
	window      [maxWindows]Text // parts of a library's text to search
	windows     int
	want        Numbers
	cancellable Numbers   // those of want at which a thread can be cancelled
	span        scanRange // argument of the hand-laid scanner
	word        uint32    // what poke writes
	text        [granule / 4]uint32
}

// Finds says whether there is a site for a number.
func (p *Plan) Finds(nr uintptr) bool {
	for i := range p.Count {
		if uintptr(p.Sites[i].Nr) == nr {
			return true
		}
	}
	return false
}

// Patched is the number of sites that are branches now, in the libraries of a kind.
func (p *Plan) Patched(k Kind) int {
	n := 0
	for i := range p.Libraries {
		l := &p.Library[i]
		if l.Kind != k {
			continue
		}
		for s := l.First; s < l.First+l.Count; s++ {
			if p.Sites[s].Published {
				n++
			}
		}
	}
	return n
}

// area is memory for stubs.
type area struct{ base, size, used uintptr }

// Discover finds the libraries through the program headers of the program (AT_PHDR and AT_PHNUM) and in them the
// sites whose number is wanted. It is false where there is nothing to patch or something is not as it should be.
func (p *Plan) Discover(phdr, phnum uintptr, want *Numbers) bool {
	p.want = *want
	p.cancellable = Numbers{}
	for _, nr := range [...]uintptr{nocgo.SysOpenat, nocgo.SysWait4, nocgo.SysWaitid} {
		if want.Has(nr) {
			p.cancellable.Add(nr)
		}
	}
	p.find(p.mem.linkMap(phdr, phnum))
	for i := range p.Libraries {
		l := &p.Library[i]
		l.First = p.Count
		if !p.near(l.Base, l.Text) {
			p.window[0], p.windows = l.Text, 1
		}
		for w := range p.windows {
			if !p.scan(p.window[w].Lo, p.window[w].Hi, want) {
				return false
			}
		}
		l.Count = p.Count - l.First
	}
	return p.Count > 0
}
