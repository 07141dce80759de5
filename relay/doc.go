// Package relay is what runs inside a guest process: the constructor that the dynamic linker calls, and the code
// that answers the system calls of patched sites.
//
// The constructor does nothing unless the environment says how PRoot was started, the process is traced by a PRoot
// whose filter lets the trampoline page through, and that PRoot's view of the file system is the one described.
// Only then are sites patched. Whatever fails on the way leaves the process as it was.
//
// # Known limits
//
// Nothing describes the trampoline page and the stubs to an unwinder: backtraces that a signal handler takes there end
// there. A thread that is cancelled while it waits for a child (before glibc 2.41) ends as it should and runs the
// cleanup handlers of pthread_cleanup_push, but not those that the unwinder finds through exception tables. Opens at
// which a thread can be cancelled are left to PRoot for this reason.
//
// Sites whose number comes from a register, such as the one in syscall, are not patched.
//
// The package is written in the freestanding subset of Go. relay/gen compiles it, adds the few hand-laid
// instruction sequences that the ABI forces, and writes the object file that the linker makes the library from.
package relay

//go:generate go run ./gen
