package nocgo

// Stat is struct stat of Linux on arm64 (include/uapi/asm-generic/stat.h): 128 bytes.
type Stat struct {
	Dev     uint64
	Ino     uint64
	Mode    uint32
	Nlink   uint32
	UID     uint32
	GID     uint32
	Rdev    uint64
	_       uint64
	Size    int64
	Blksize int32
	_       int32
	Blocks  int64
	Atime   [2]int64
	Mtime   [2]int64
	Ctime   [2]int64
	_       [2]uint32
}

// File types in Stat.Mode.
const (
	ModeType      = 0o170000
	ModeDirectory = 0o040000
	ModeSymlink   = 0o120000
	ModeRegular   = 0o100000
)
