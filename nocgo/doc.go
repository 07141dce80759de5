// Package nocgo is the floor that everything which runs inside a guest process stands on: system calls,
// atomics, cache maintenance, untrusted memory and C strings, the auxiliary vector and the environment.
//
// It is written in the freestanding subset of Go that tools/asmgen compiles to position-independent arm64.
// The functions in intrinsics_freestanding.go have no body there: asmgen emits a few instructions for each.
// On the host the same names are bound to golang.org/x/sys/unix and sync/atomic (intrinsics_host.go), so
// that the packages above can be tested and fuzzed natively.
//
// All system call numbers, structures and flag values in this package are those of Linux on arm64, on every
// host: the host binding converts them.
package nocgo
