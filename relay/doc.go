// Package relay is what runs inside a guest process: the constructor that the dynamic linker calls, and the code
// that answers the system calls of patched sites.
//
// The constructor does nothing unless the environment says how PRoot was started, the process is traced by a PRoot
// whose filter lets the trampoline page through, and that PRoot's view of the file system is the one described.
// Only then are sites patched. Whatever fails on the way leaves the process as it was.
//
// # Stubs and unwinding
//
// What a site branches to, its stub, has its place in the library's own text where the site reaches it. There is unwind
// information for each place, for the entry from its first instruction on, and for all compiled code, so that exceptions,
// forced unwinding and backtraces out of a signal handler lead to the function that contains the site. For the trampoline page the
// library answers those who ask for it (unwind.go). The chain of frame records (x29) leads on everywhere.
//
// # Cancellation
//
// Where a thread can be cancelled, nothing is answered that could block: see patcher.Bridge and patcher.Async. An open of
// what is neither a regular file nor a directory goes to where libc would have made it.
//
// # Known limits
//
//   - Nobody who unwinds knows stubs that had to go elsewhere because a site does not reach the library, or because there
//     are more sites than places. Nor is the trampoline page known where a library's own copy of glibc's functions is
//     preferred (RTLD_DEEPBIND, another namespace).
//   - A file that a pipe replaces between the look at it and the open, or on which somebody holds a lease, can block an
//     open in which the thread should be cancelled.
//   - Libraries that are loaded later, those of another namespace among them, keep their sites.
//
// The package is written in the freestanding subset of Go. relay/gen compiles it, adds the few hand-laid
// instruction sequences that the ABI forces, and writes the object file that the linker makes the library from.
package relay

//go:generate go run ./gen
