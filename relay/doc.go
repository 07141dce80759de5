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
// forced unwinding and backtraces out of a signal handler lead to the function that contains the site. The trampoline
// page is described to libgcc by its own __register_frame_info, if libgcc_s is loaded when the constructor runs. The chain
// of frame records (x29) leads on everywhere.
//
// # Cancellation
//
// Where a thread can be cancelled, nothing is answered that could block: see patcher.Bridge and patcher.Async. An open of
// what is neither a regular file nor a directory goes to where libc would have made it.
//
// # Known limits
//
//   - A copy of libgcc that is loaded later, or linked into the program, does not know the trampoline page: unwinding out
//     of a signal handler that interrupts a raw call ends there. Nor does any know stubs that had to go elsewhere because
//     a site does not reach the library, or because there are more sites than places.
//   - A file that a pipe replaces between the look at it and the open, or on which somebody holds a lease, can block an
//     open in which the thread should be cancelled.
//   - Libraries that are loaded later, those of another namespace among them, keep their sites.
//
// The package is written in the freestanding subset of Go. relay/gen compiles it, adds the few hand-laid
// instruction sequences that the ABI forces, and writes the object file that the linker makes the library from.
package relay

//go:generate go run ./gen
