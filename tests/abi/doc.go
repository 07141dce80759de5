// Package abi runs the guest program tests/guest/abi.c in cells of kernel, processor and C library: it checks from
// inside a process that nothing but the answers tells a relay from the system call it stands for. Each cell is one
// line of output; out/abi.json lists every check in every cell.
package abi
