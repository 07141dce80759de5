// Package tracer is the shim that is preloaded into PRoot itself. When PRoot installs its system call filter,
// the shim gives the kernel a rewritten copy in which every traced system call is let through if it was issued
// from the trampoline page, and it takes itself out of LD_PRELOAD so that no guest program inherits it.
//
// The package is written in the freestanding subset of Go (see tools/asmgen) and tested natively. tracer/gen
// compiles it, adds the two hand-laid entry points (prctl and the constructor) and writes
// libsvcrelay-tracer.o, from which the linker makes dist/libsvcrelay-tracer.so.
//
// Only ordinary system calls are used here (nocgo.Plain): PRoot has no trampoline page.
package tracer

//go:generate go run ./gen
