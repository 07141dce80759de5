// Package scan tells, on the host, what svcrelay will do with a library: which of its svc instructions become
// branches to relays, as what, and which stay, and why. The recognition is the guest's own (package patcher),
// applied to a file instead of to memory.
package scan
