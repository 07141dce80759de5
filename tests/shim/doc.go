// Package shim holds the tests of libsvcrelay-tracer.so and of svcrelay run with a real PRoot, in the VM.
package shim
