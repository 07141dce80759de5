package translate

import (
	"testing"

	"svcrelay/nocgo"
)

// A link may become another one between the two looks at a short text: what was cut off where the first text ended is no
// answer.
func TestShortTextChanges(t *testing.T) {
	dir := tree(t, "root/l->d22")
	g := configure(t, dir+"/root", "", 0)
	g.s.fd, g.s.call = nocgo.AtFdcwd, cstring(dir+"/root/l")
	for text, want := range map[string]Reason{"d22": Answered, "d1": Changed, "e22": Changed, "d222": Changed} {
		buf := buffer(16)
		n, why := g.v.relativeText(g.s, addr(buf), cstring(text), uintptr(len(text)))
		if why != want || why == Answered && (n != 3 || string(buf[:3]) != "d22") {
			t.Errorf("%s: %d %v %q", text, n, why, buf[:n])
		}
	}
}
