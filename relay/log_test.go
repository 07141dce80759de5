package relay

import (
	"strings"
	"testing"

	"svcrelay/translate"
)

// TestReasonText compares with the words that translate has for its reasons.
func TestReasonText(t *testing.T) {
	for r := translate.Answered + 1; !strings.HasPrefix(r.String(), "reason "); r++ {
		if got := reasonText(r); got != r.String() {
			t.Errorf("%q for %q", got, r)
		}
	}
}
