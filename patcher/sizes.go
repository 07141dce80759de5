//go:build !freestanding

package patcher

// The memory that relays take, in bytes: a head for each mapping and, for each site, a stub, or one for each number of a
// site that makes several calls.
const (
	HeadSize = areaHead
	StubSize = 4 * stubWords
)
