package patcher

import "svcrelay/nocgo"

// Capacities of a Plan.
const (
	MaxSites     = 1536
	MaxLibraries = 4
)

// Library is a library with sites.
type Library struct {
	Base uintptr
	Text Text
	// Segment is what is mapped executable, with Text in it.
	Segment Text
	Kind    Kind
	// First and Count say which of the plan's sites are its own.
	First, Count int
	// Seen is the number of svc instructions in its functions.
	Seen int

	found, afterFound int // which of the plan's Found are its own
}

// Plan is everything about the patches of one process. The zero value is ready for Discover.
type Plan struct {
	// Found is what was recognised, one library after the other.
	Found      [MaxSites]Found
	FoundCount int
	// Sites are those that become branches.
	Sites   [MaxSites]Site
	Count   int
	Library [MaxLibraries]Library
	// Libraries is the number of libraries found.
	Libraries int
	// Seen is the number of svc instructions found.
	Seen int
	// Dispatchers is the number of sites that make whatever call they are asked for.
	Dispatchers int
	// Bodies and Bridges are the numbers of sites of these forms.
	Bodies, Bridges int
	// Unknowns is the number of svc instructions whose number was not found.
	Unknowns int
	// Unreachable is the number of sites for which no stub could be placed.
	Unreachable int
	// Effects are the calls that must not happen unseen. Where there is too little stack for the entry to look at one,
	// the byte at Mark is cleared before it happens. To be set before Place; no Mark: no marks.
	Effects Numbers
	Mark    uintptr
	// Cache says where what was found is kept. To be set before Discover.
	Cache Cache
	// Scanned is the number of libraries that had to be searched.
	Scanned int

	// Own is the room for stubs in the library itself. To be set before Place.
	Own Own

	areas  [MaxLibraries]area
	nareas int
	mem    memory
	want   Numbers
	span   scanRange // argument of the hand-laid scanner
	word   uint32    // what poke writes
	page   uintptr   // its size

	rewritten    bool   // text was changed without /proc/self/mem
	all, blocked uint64 // signals
	text         [granule / 4]uint32
}

// Finds says whether there is a site for a number.
func (p *Plan) Finds(nr uintptr) bool {
	for i := range p.Count {
		if p.Sites[i].Form != Any && uintptr(p.Sites[i].Nr) == nr {
			return true
		}
	}
	return false
}

// SeesWaits says whether waiting for a child passes through a site, however many threads there are. Where cancellable
// calls go through one function, the sites are those that decide whether to call it, and its calls.
func (p *Plan) SeesWaits() bool {
	if p.Bodies != 0 {
		return p.Bridges >= p.Bodies && p.Dispatchers > 0
	}
	return p.Finds(nocgo.SysWait4)
}

// Unseen says whether a call of a number may be made by the libraries without passing through a site. It holds once the
// sites are published. A thread that can be cancelled at any moment makes cancellable calls unseen in any case.
func (p *Plan) Unseen(nr uintptr) bool {
	if !p.want.Has(nr) || p.Unknowns != 0 || cancellable(nr) && (p.Bridges < p.Bodies || !quick(nr)) {
		return true
	}
	for i := range p.Count {
		s := &p.Sites[i]
		if !s.Published && (s.Form == Any || s.Form == Bridge && cancellable(nr) || uintptr(s.Nr) == nr) {
			return true
		}
	}
	return false
}

// Linker is where the functions of the dynamic linker are, if it is a library of its own.
func (p *Plan) Linker() Text {
	for i := range p.Libraries {
		if p.Library[i].Kind == Loader {
			return p.Library[i].Text
		}
	}
	return Text{}
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
	p.want.Remove(nocgo.SysRtSigreturn) // it takes what lies at sp for the interrupted state
	p.want.Remove(nocgo.SysClone)       // it may return in two places that share their memory
	p.find(p.mem.linkMap(phdr, phnum))
	if p.Libraries > 0 && !p.load() {
		for i := range p.Libraries {
			l := &p.Library[i]
			l.found = p.FoundCount
			if !p.search(l) {
				return false
			}
			l.afterFound = p.FoundCount
			p.Scanned++
		}
		p.save()
	}
	for i := range p.Libraries {
		l := &p.Library[i]
		if !p.adopt(l) {
			return false
		}
		p.Seen += l.Seen
	}
	return p.Count > 0
}
