// Package translate answers path system calls of a guest program as PRoot would: it turns guest paths into host
// paths with PRoot's own rules and asks the kernel about the host path with raw calls.
//
// It knows the rootfs and the bindings from its configuration (View.Configure) and nothing else. Every handler
// answers only what follows with certainty from PRoot 5.4.0 and from Termux's fork alike; everything else is
// declined with a Reason, so that PRoot answers it.
//
// The package is written in the freestanding subset of Go and runs on the guest's own stack: it does not
// allocate, and its work area is a Scratch of the caller.
//
// # How a path is resolved
//
// A path is made absolute in guest terms, as PRoot does: a relative one is joined to the text of the current
// directory or of the descriptor's directory. Then it is walked from "/". Each component is looked up on the
// host below the host path of its directory; a component that is the guest path of a binding continues at the
// binding's host path. A symbolic link's text is read, given the guest's point of view (detranslate.go) and
// walked in its place. ".." removes the last component of the guest path that was resolved so far. The last
// component is left to the system call itself, after it was found to be no link (or the call does not follow
// links).
//
// The result of walking the directory part of a path is remembered (cache.go) for the configured lifetime.
//
// # What is not noticed
//
// Within the lifetime, what other processes change on the way to a remembered directory: its path goes to the kernel
// as it was, and a directory that was replaced by a link is left through that link, on the host, except by an open
// that uses openat2. With lifetime 0 the same can happen between the walk and the call, to PRoot as well.
//
// A chdir or a rename whose svc instruction is not one of the patched sites.
//
// What only the process learns that does it, because the tracer has no Board: emulated mounts, a socket that PRoot binds
// elsewhere because its path is too long, a debugger that attaches. The same where a program without the library does
// it. And a chroot by a process that shares its root, but not its memory, with this one.
//
// That clone has made a child with name spaces of its own: in a user name space it may have rights that PRoot has not. That it
// has another number than in /proc is noticed.
//
// A directory that the host shows at two paths, both in view, if a binding lies below one of them: it is remembered by
// device and inode, under the name by which it was seen first. What the process does to it under one path (uproot.go) does
// not end what is remembered of the other.
package translate
