package translate

// Reason says why a call is declined. The zero Reason means that it was answered.
type Reason uint8

// The reasons.
const (
	Answered   Reason = iota
	Number            // no handler for this system call
	Withdrawn         // not configured, or withdrawn since
	Flags             // flags or modes whose error priority is the kernel's own business
	Memory            // the path or a buffer cannot be read or written completely
	TooLong           // a path or a name longer than what is handled here
	Links             // more symbolic links than the smallest limit of any PRoot
	Proc              // below /proc, where PRoot makes up much of the content
	Hidden            // below a binding whose host path or guest path is not known for certain
	Denied            // a directory on the way cannot be looked at, the error differs between PRoots
	Descriptor        // the descriptor is no directory that is in the guest's view now
	Directory         // the current directory is not known, or not tracked
	Outside           // a host path that has no name in the guest
	Empty             // an empty path where PRoots differ
	Changed           // what was seen a moment ago is not there any more
	Effect            // the call may change what paths mean: everything remembered is forgotten first
	Rights            // PRoot lends the guest rights that the kernel does not give it
	Owner             // what PRoot shows of its own files' owner is not known, or not any more
	Twin              // a hard link that PRoot makes of symbolic links, or nearly
	Waits             // the open could block, where a blocked thread could not be cancelled
	Differs           // the two lines of PRoot differ here
	Address           // a socket that PRoot may make up, or its address
	Unstopped         // PRoot does not stop there: the kernel answers
	reasons
)
