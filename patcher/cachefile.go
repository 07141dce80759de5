package patcher

import "svcrelay/nocgo"

// A file of the cache is a sequence of 64-bit words, little-endian:
//
//	checksum       of everything after it
//	magic          with the version of this format
//	config         Cache.Config
//	libraries      their number
//	for each       begin and end of its text, kind and length of its build-id, build-id (4 words), 0
//	for each       number of its sites, and of the svc instructions seen
//	for each site  a Found: offset, number, form
//
// All but the first word and the last two parts are what the process makes of itself: a file that does not begin with
// the same is not for it. The last two are checked by looking at the places that they name.
const (
	headSize   = 32
	recordSize = 64
	siteSize   = 8

	fileMagic = 0x0001_7361_6974_6573 // "sites", format 1
	maxID     = 32                    // bytes of the longest build-id
	minID     = 8                     // and of the shortest that tells libraries apart
)

// describe writes the beginning of the file for the libraries found, and the name that follows from it. It is false
// where a library has no build-id: its text may then be any.
func (p *Plan) describe() bool {
	c := &p.Cache
	at := c.Room + roomHeader
	nocgo.Store64(at+8, fileMagic)
	nocgo.Store64(at+16, c.Config)
	nocgo.Store64(at+24, uint64(p.Libraries))
	at += headSize
	for i := range p.Libraries {
		l := &p.Library[i]
		for w := uintptr(24); w < recordSize; w += 8 {
			nocgo.Store64(at+w, 0)
		}
		id, n := p.mem.buildID(l.Base)
		if n < minID || n > maxID {
			return false
		}
		nocgo.Store64(at, uint64(l.Text.Lo-l.Base))
		nocgo.Store64(at+8, uint64(l.Text.Hi-l.Base))
		nocgo.Store64(at+16, uint64(l.Kind)|uint64(n)<<32)
		nocgo.CopyUp(at+24, id, n)
		at += recordSize
	}
	// "LIBRARIES-CONFIG": one file for each set of libraries and each way of looking at it.
	first := c.Room + roomHeader + headSize
	name := putHex(c.Room+roomName, nocgo.HashWords(first, at-first))
	nocgo.Store8(name, '-')
	name = putHex(name+1, nocgo.HashWords(c.Room+roomHeader+8, 16))
	nocgo.Store8(name, 0)
	return p.Libraries > 0
}

// begins is the number of bytes with which the file begins as the process says.
func (p *Plan) begins() uintptr { return headSize + uintptr(p.Libraries)*recordSize }

// accept takes what the file of n bytes in the room says was found. It is false, with nothing taken, if anything in it
// is not as a search would have left it.
func (p *Plan) accept(n uintptr) bool {
	file, header := p.Cache.Room+roomFile, p.Cache.Room+roomHeader
	counts := p.begins()
	at := counts + uintptr(p.Libraries)*8
	if n < at || nocgo.Load64(file) != nocgo.HashWords(file+8, n-8) || !nocgo.EqualWords(file+8, header+8, counts-8) {
		return false
	}
	ok := true
	for i := 0; i < p.Libraries && ok; i++ {
		l := &p.Library[i]
		word := nocgo.Load64(file + counts + 8*uintptr(i))
		count := uintptr(word & 0xffffffff)
		if ok = count <= MaxSites && at+count*siteSize <= n; !ok {
			break
		}
		l.Seen = int(word >> 32)
		l.found = p.FoundCount
		ok = p.take(l, file+at, count)
		l.afterFound = p.FoundCount
		at += count * siteSize
	}
	if ok = ok && at == n && p.FoundCount > 0; !ok {
		p.forgetFound()
	}
	return ok
}

// take adds what was found in one library, in the order in which a search adds it. Each place is looked at as the search
// looks at it, and must come out the same.
func (p *Plan) take(l *Library, at, count uintptr) bool {
	next, bridges := uint32(0), false
	for range count {
		word := nocgo.Load64(at)
		f := Found{Offset: uint32(word), Nr: uint16(word >> 32), Form: Form(word >> 48)}
		if f.Form == Bridge && !bridges {
			next, bridges = 0, true
		}
		if word>>56 != 0 || f.Offset < next || bridges != (f.Form == Bridge) || p.FoundCount == MaxSites || !p.Confirm(l, f) {
			return false
		}
		p.Found[p.FoundCount] = f
		p.FoundCount++
		next = f.Offset + 1
		at += siteSize
	}
	return true
}

// forgetFound drops everything that was found.
func (p *Plan) forgetFound() {
	p.FoundCount = 0
	for i := range p.Libraries {
		l := &p.Library[i]
		l.Seen, l.found, l.afterFound = 0, 0, 0
	}
}

// compose writes the file for what was found, after its description, and gives its size.
func (p *Plan) compose() uintptr {
	file := p.Cache.Room + roomFile
	nocgo.CopyWords(file+8, p.Cache.Room+roomHeader+8, p.begins()-8)
	counts := file + p.begins()
	at := counts + uintptr(p.Libraries)*8
	for i := range p.Libraries {
		l := &p.Library[i]
		nocgo.Store64(counts+8*uintptr(i), uint64(l.afterFound-l.found)|uint64(l.Seen)<<32)
		for k := l.found; k < l.afterFound; k++ {
			f := &p.Found[k]
			nocgo.Store64(at, uint64(f.Offset)|uint64(f.Nr)<<32|uint64(f.Form)<<48)
			at += siteSize
		}
	}
	nocgo.Store64(file, nocgo.HashWords(file+8, at-file-8))
	return at - file
}
