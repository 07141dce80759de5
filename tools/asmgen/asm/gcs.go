package asm

// A processor may keep a second stack of return addresses, the guarded control stack (GCS): bl and blr put theirs on it,
// ret takes one off and faults if it leads elsewhere. Branches do neither. Whether it is on can be asked by a hint, which
// older processors pass over.

// GCSPREL0 points to the last address on that stack, which can be read but not written.
var GCSPREL0 = sysReg(3, 3, 2, 5, 1)

// featureGCS is the bit of x16 that chkfeat clears if there is such a stack.
const featureGCS = 1

// chkfeat clears the bits of x16 that stand for what is on.
func (b *Builder) chkfeat() { b.Hint(40) }

// gcspopm takes the last address off the second stack into rt. It is undefined on a processor without.
func (b *Builder) gcspopm(rt Reg) { b.sys("gcspopm", 0xd52b7720, rt) }

// PopReturn takes one address off the second stack of return addresses, if there is one: for code that leaves by a
// branch instead of ret. It changes x16 and no flags.
func (b *Builder) PopReturn() {
	done := b.NewLabel()
	b.unlessShadowed(done)
	b.gcspopm(X16)
	b.Bind(done)
}

// PopReturnsTo takes addresses off the second stack of return addresses, if there is one, until the one in want is the
// last: for code that goes on in an outer function. It changes x16 and no flags.
func (b *Builder) PopReturnsTo(want Reg) {
	again, done := b.NewLabel(), b.NewLabel()
	b.unlessShadowed(done)
	b.Bind(again)
	b.Mrs(X16, GCSPREL0)
	b.Ldr(X, X16, At(X16, 0))
	b.Sub(X, X16, X16, Shifted{Reg: want})
	b.Cbz(X, X16, done)
	b.gcspopm(X16)
	b.B(again)
	b.Bind(done)
}

func (b *Builder) unlessShadowed(to Label) {
	b.MovImm(X, X16, featureGCS)
	b.chkfeat()
	b.Cbnz(X, X16, to)
}
