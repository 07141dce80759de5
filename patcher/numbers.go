package patcher

import "svcrelay/nocgo"

// MaxNumber is one more than the largest system call number that a Numbers can hold.
const MaxNumber = 512

// Numbers is a set of system call numbers.
type Numbers struct{ bits [MaxNumber / 64]uint64 }

// Add puts nr in the set. Numbers from MaxNumber up are left out.
func (n *Numbers) Add(nr uintptr) {
	if nr < MaxNumber {
		n.bits[nr/64] |= 1 << (nr % 64)
	}
}

// Remove takes nr out of the set.
func (n *Numbers) Remove(nr uintptr) {
	if nr < MaxNumber {
		n.bits[nr/64] &^= 1 << (nr % 64)
	}
}

// Has says whether nr is in the set.
func (n *Numbers) Has(nr uintptr) bool {
	return nr < MaxNumber && n.bits[nr/64]>>(nr%64)&1 == 1
}

// Len gives the number of elements.
func (n *Numbers) Len() int {
	count := 0
	for i := range n.bits {
		for b := n.bits[i]; b != 0; b &= b - 1 {
			count++
		}
	}
	return count
}

// Hash mixes the set into 64 bits.
func (n *Numbers) Hash() uint64 {
	h := uint64(0)
	for i := range n.bits {
		h = nocgo.HashPair(h, n.bits[i])
	}
	return h
}
