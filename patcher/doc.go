// Package patcher replaces system call instructions of the guest's C library by branches to the relay.
//
// It finds the libraries through the dynamic linker's link map, goes through their text for the svc instructions whose
// number is one that the relay answers, or is not known before they run, builds one stub per site, and writes the
// branches through /proc/self/mem once everything else is ready, or as rewrite.go says where the kernel does not let it
// write text. Stubs lie in room that the library keeps in its own text, where unwind information describes them, and
// otherwise in areas near the sites.
//
// It is written in the freestanding subset of Go and never allocates: all its storage is in a Plan, which the
// caller keeps in static memory. Everything it reads from the process is checked first, since a program may have
// put anything at all where a link map or a program header should be.
package patcher
