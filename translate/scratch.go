package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Sizes of the text buffers. Texts are copied and compared by words, which may touch seven bytes past their end.
const (
	textSize = 680
	textMax  = textSize - 16 // the longest text, with its NUL
)

// Scratch is the work area of one call. It lives on the guest's stack and needs no initialisation; nothing in it
// is kept from call to call.
type Scratch struct {
	path  [textSize]byte // the path as the guest gave it, made absolute
	rest  [textSize]byte // what is left to walk once a link got in, at the end of the buffer
	guest [textSize]byte // the directory reached so far, in guest terms
	host  [textSize]byte // the same in host terms, then the path for the kernel
	stat  nocgo.Stat

	at, end  uintptr // what is left to walk: addresses into path or rest
	guestLen uintptr
	hostLen  uintptr
	bind     uintptr // the binding that the directory belongs to
	leafBind uintptr // the binding that the final component belongs to
	name     uintptr // the final component; it has no length where the path names the directory reached
	nameLen  uintptr
	fd, call uintptr // what to give the kernel: a descriptor and the address of a path
	links    uintptr
	tail     uintptr // what must follow the resolved path: tailNone, tailSlash or tailDot
	room     uintptr // bytes of path that may be used (twice.go)
	keyLen   uintptr // the part of path that names the directory, for the cache
	keyHash  uint64
	born     uint64 // when the oldest fact used was learnt
	dev, ino uint64
	gen      uint32 // View.gen when the call began
	linkGen  uint32 // View.links then
	roots    uint32 // View.uprootings then
	empty    bool   // the path is ""
	Quick    bool   // set by the caller: only what cannot block may be answered
	Linker   bool   // set by the caller: the dynamic linker calls
	inner    bool   // the final component of the original path has been reached
	learn    bool   // the directory reached is worth remembering
	kids     bool   // a binding may lie directly below the directory reached
	asked    Reason // why Handle itself issued the call for PRoot to answer, if it did
	proc     uint8  // the path is a link of /proc: procNone, procProgram or procNumber
	crowd    uint8  // whether somebody else can use the memory of the process: see memory.go
	bare     bool   // walk all of the path: nothing that is remembered counts
	turned   bool   // the walk has gone back up from a directory
	unproven bool   // the directory reached exists and is no link, but may be no directory
}

const (
	tailNone = iota
	tailSlash
	tailDot
)

func (s *Scratch) pathAddr() uintptr  { return uintptr(unsafe.Pointer(&s.path)) }
func (s *Scratch) restAddr() uintptr  { return uintptr(unsafe.Pointer(&s.rest)) }
func (s *Scratch) guestAddr() uintptr { return uintptr(unsafe.Pointer(&s.guest)) }
func (s *Scratch) hostAddr() uintptr  { return uintptr(unsafe.Pointer(&s.host)) }
func (s *Scratch) statAddr() uintptr  { return uintptr(unsafe.Pointer(&s.stat)) }

// Call is a system call: its number and arguments.
type Call struct {
	Nr  uintptr
	Arg [6]uintptr
}

// Asked is the reason for which Handle, in the last call that it answered, had PRoot answer it.
func (s *Scratch) Asked() Reason { return s.asked }
