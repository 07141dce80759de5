//go:build !freestanding

package translate

import "fmt"

var reasonNames = [reasons]string{
	"answered", "number", "withdrawn", "flags", "memory", "too long", "links", "proc", "hidden", "denied",
	"descriptor", "directory", "outside", "empty", "changed", "effect", "rights", "owner", "twin", "waits", "differs", "address", "unstopped",
}

// String returns a word for logs.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}
