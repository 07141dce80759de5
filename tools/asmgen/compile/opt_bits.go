package compile

// phiBits bounds the values of phis, those of loops included, by what they merge. It assumes the best of the phis and
// gives up what turns out wrong.
func (f *fn) phiBits() {
	best := map[*value]uint{}
	var phis []*value
	for _, b := range f.order {
		for _, v := range b.vals {
			if v.op != opPhi {
				break
			}
			if v.known == 0 {
				phis = append(phis, v)
				best[v] = 0
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, v := range phis {
			n := uint(0)
			for _, a := range v.args {
				a = resolve(a)
				k, ok := best[a]
				if !ok {
					k = ubits(a, 4)
				}
				n = max(n, k)
			}
			if n > best[v] {
				best[v] = n
				changed = true
			}
		}
	}
	for _, v := range phis {
		if n := best[v]; n > 0 && n < uint(v.w) {
			v.known = uint8(n)
		}
	}
}
