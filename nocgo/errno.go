package nocgo

// Errnos of Linux on arm64, as the kernel returns them: negated, in x0.
const (
	EPERM        = 1
	ENOENT       = 2
	EINTR        = 4
	EIO          = 5
	E2BIG        = 7
	EBADF        = 9
	EAGAIN       = 11
	ENOMEM       = 12
	EACCES       = 13
	EFAULT       = 14
	EEXIST       = 17
	ENOTDIR      = 20
	EISDIR       = 21
	EINVAL       = 22
	ERANGE       = 34
	ENAMETOOLONG = 36
	ENOSYS       = 38
	ELOOP        = 40
	ENODATA      = 61
	EOPNOTSUPP   = 95
)

// Failed says whether a system call's result is a negated errno (the kernel's MAX_ERRNO is 4095).
func Failed(r uintptr) bool { return r > ^uintptr(4095) }

// Errno returns the errno of a failed result, and a meaningless number for any other.
func Errno(r uintptr) uintptr { return -r }

// Fail returns the result that means errno.
func Fail(errno uintptr) uintptr { return -errno }
