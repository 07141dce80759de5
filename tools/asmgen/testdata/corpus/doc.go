// Package corpus is what the compiler is tested with: small functions that
// together use every construct of the freestanding subset. The conformance test
// calls each exported function here and, compiled, under qemu-aarch64, with the
// same arguments, and compares results, memory and panics.
package corpus
