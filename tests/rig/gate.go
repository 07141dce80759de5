package rig

import (
	"os"
	"testing"
)

// NeedVM skips a test unless SVCRELAY_VM=1 says that this machine has what the VM takes. ./build.sh test installs
// that and sets it, so nothing is skipped there; a plain go test on any machine runs the rest.
func NeedVM(t testing.TB) {
	t.Helper()
	if os.Getenv("SVCRELAY_VM") != "1" {
		t.Skip("runs in the test VM: use ./build.sh test, or set SVCRELAY_VM=1")
	}
}

// NeedTime lets a test that takes long run only where "./build.sh test all" or its suite by name asks for it.
func NeedTime(t testing.TB) {
	t.Helper()
	if os.Getenv("SVCRELAY_LONG") != "1" {
		t.Skip("takes long: use ./build.sh test all, or set SVCRELAY_LONG=1")
	}
}
