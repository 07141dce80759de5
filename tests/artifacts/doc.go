// Package artifacts holds the tests of the two libraries as files: what a linker, a loader, a debugger and an
// unwinder will find in them.
package artifacts
