// Package scenarios holds the tests of what must not be seen: guest programs print the same with the library as
// without it, under every kind of PRoot, configuration and libc, and the library is at work only where it may be.
//
// Each test boots the VM once and runs many settings in it. A setting says how the guest is entered; every
// workload of it runs first without the library and then with it, and the two must agree in standard output,
// standard error and exit status.
package scenarios
