// Package relay is what runs inside a guest process: the constructor that the dynamic linker calls, and the code
// that answers the system calls of patched sites.
//
// The constructor does nothing unless the environment says how PRoot was started, the process is traced by a PRoot
// whose filter lets the trampoline page through, and that PRoot's view of the file system is the one described.
// Only then are sites patched. Whatever fails on the way leaves the process as it was.
//
// # Known limits
//
// A thread that is cancelled while the kernel works for a relay ends as it should and runs the cleanup handlers of
// pthread_cleanup_push, but not those that the unwinder finds through exception tables: nothing describes the
// trampoline page and the stubs to it. Backtraces that a signal handler takes at such a moment end there.
//
// Sites whose number comes from a register, such as the one in syscall, are not patched.
//
// The package is written in the freestanding subset of Go. relay/gen compiles it, adds the few hand-laid
// instruction sequences that the ABI forces, and writes the object file that the linker makes the library from.
package relay

//go:generate go run ./gen
