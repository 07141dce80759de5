package broken

import (
	"os"
	"testing"
)

// TestLibrary makes the library: a fault that does not fit the sources any more shows here, without a VM.
func TestLibrary(t *testing.T) {
	lib, err := Library(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if to := os.Getenv("SVCRELAY_KEEP_BROKEN"); to != "" {
		text, err := os.ReadFile(lib)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
