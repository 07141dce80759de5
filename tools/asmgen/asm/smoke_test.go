package asm

import "testing"

func TestSmoke(t *testing.T) {
	b := New("f")
	l := b.NewLabel()
	b.Add(X, X0, X1, X2)
	b.MovImm(X, X3, 0x123456789abcdef0)
	b.Bind(l)
	b.Subs(X, X3, X3, Imm(1))
	b.BCond(NE, l)
	b.Load(8, false, X5, At(SP, 16))
	b.AddrOf(X0, "foo", 4)
	b.Ret()
	f, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("% x %v", f.Code, f.Relocs)
}
