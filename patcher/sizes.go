//go:build !freestanding

package patcher

// The memory that relays take, in bytes.
const (
	// HeadSize is what the stubs of a mapping share.
	HeadSize = areaHead
	// FixedSize, AnySize and BridgeSize are the sizes of stubs, by the form of their sites. That of an Any site grows by
	// EffectSize for each call that must not go unseen.
	FixedSize, AnySize, BridgeSize = 4 * stubWords, 4 * anyWords, 4 * bridgeWords
	EffectSize                     = 4 * effectWords
	// OwnSize is the size of the room for stubs in the library's own text.
	OwnSize = ownSize
)
