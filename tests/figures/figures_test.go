package figures

import (
	"maps"
	"testing"
)

func TestRead(t *testing.T) {
	want := map[string]int{"answered": 30, "errors": 0, "last": 0, "libc": 450, "ld.so": 90, "of": 5031, "answered:79": 20, "passed:49": 3, "declined:56/too-long": 2}
	for _, before := range []string{"", "text before it "} {
		got, ok := Read(before + "svcrelay: pid=12 answered=30 errors=0 last=0 libc=450 ld.so=90 of=5031 scanned=0/2 answered:79=20 passed:49=3 declined:56/too-long=2\r\n")
		if !ok || !maps.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
	for _, l := range []string{"", "svcrelay: guests run without it", "pid=12 answered=30"} {
		if got, ok := Read(l); ok {
			t.Errorf("%q: %v", l, got)
		}
	}
}
