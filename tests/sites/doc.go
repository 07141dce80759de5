// Package sites confirms what svcrelay scan says of the real C libraries by a disassembly that shares no code with it:
// GNU objdump finds the instructions, and constants are followed forward through all of a library, where the library
// itself looks backwards from each site.
package sites
