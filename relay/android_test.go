package relay

import (
	"testing"

	"svcrelay/nocgo"
	"svcrelay/patcher"
)

// TestAbsent checks which calls are answered as not there, for each release and for none.
func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		api                uint64
		faccessat2, clone3 bool
	}{{0, false, false}, {21, true, true}, {33, true, true}, {34, true, true}, {35, true, false}, {36, true, false}} {
		var n patcher.Numbers
		addAbsent(&n, c.api)
		for nr := range uintptr(512) {
			want := nr == nocgo.SysFaccessat2 && c.faccessat2 || nr == nocgo.SysClone3 && c.clone3
			if absent(c.api, nr) != want || n.Has(nr) != want {
				t.Errorf("API %d: call %d is absent: %v, looked at: %v; want %v", c.api, nr, absent(c.api, nr), n.Has(nr), want)
			}
		}
		absentEffects(&n, c.api)
		if n.Len() != 0 {
			t.Errorf("API %d: %d calls have effects", c.api, n.Len())
		}
	}
}
