// Package libcs holds the tests that every C library of the matrix must pass: a thread is cancelled, interrupted or
// ended in a call exactly as without relays, and no call on ordinary files stops at PRoot, whichever function of the
// library makes it.
//
// The guest programs are in tests/guest/libcs. Each prints one line for each case, and each test boots one VM with all
// guests.
package libcs
