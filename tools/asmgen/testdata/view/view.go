// Package view lets the translator be tested as compiled code: one View, asked
// through functions whose arguments a test can make.
package view

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/translate"
)

var (
	view    translate.View
	scratch translate.Scratch
)

// Configure starts anew with a rootfs and bindings.
func Configure(root, binds string, ttl uint64) bool {
	view = translate.View{}
	return view.Configure(&scratch, root, binds, ttl)
}

// Handle asks for a system call with a path and a buffer. A descriptor that was
// opened is described in the buffer and closed.
func Handle(nr uint16, dirfd int32, path *[256]uint8, a, b uintptr, buf *[80]uint64) (uintptr, translate.Reason) {
	c := translate.Call{Nr: uintptr(nr)}
	c.Arg[0], c.Arg[1] = uintptr(dirfd), uintptr(unsafe.Pointer(path))
	out := uintptr(unsafe.Pointer(buf))
	switch c.Nr {
	case nocgo.SysNewfstatat, nocgo.SysReadlinkat:
		c.Arg[2], c.Arg[3] = out, a
	case nocgo.SysStatx:
		c.Arg[2], c.Arg[3], c.Arg[4] = a, b, out
	default:
		c.Arg[2], c.Arg[3] = a, b
	}
	r, why := view.Handle(&scratch, &c)
	if c.Nr == nocgo.SysOpenat && why == translate.Answered && !nocgo.Failed(r) {
		nocgo.Raw(nocgo.SysFstat, r, out, 0, 0, 0, 0)
		nocgo.Raw(nocgo.SysClose, r, 0, 0, 0, 0, 0)
		r = 0
	}
	return r, why
}
