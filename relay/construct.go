package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// stackMade is how much of the main thread's stack, below sp at the program's start, is certain to be there without
// asking: the kernel makes 128 KiB at exec. The entry and the stubs look at a window of 128 KiB that begins there.
const stackMade = 120 << 10

// stackWindow is the size of that window.
const stackWindow = 128 << 10

// construct is the constructor. The hand-laid code that the dynamic linker calls has set up x28 and a scratch area.
//
//asmgen:entry svcrelay_construct
func construct(argc, argv, envp uintptr, s *translate.Scratch) {
	if !proc.start(argc, argv, envp) && !proc.search(uintptr(unsafe.Pointer(s))) || proc.secure {
		return
	}
	conf.load(&proc)
	silent := conf.silent() && stops()
	if !silent && !conf.wanted() || shadowed(&proc) || goProgram(&proc) || !mapTrampoline() {
		return
	}
	trampoline = true
	if silent && !inherit() || !prepare(s) || !plan.Publish() {
		undo()
		return
	}
	watchModes(conf.mode)
	stats.begin()
	if proc.alone {
		view.AllowOpenat2() // a policy like Android's would kill the process for it
	}
	if proc.alone || conf.api >= 30 {
		view.AllowRenameat2() // Android 11's policy has it
	}
	if watchesDirectory() && shareCount() {
		view.TrackDirectory()
	}
	describeTrampoline()
	nocgo.StoreRelease32(&live, 1)
}

// prepare does everything between the trampoline page and the first changed instruction. It is false where a step
// failed.
func prepare(s *translate.Scratch) bool {
	if !attest() {
		return false
	}
	chooseSites(&wanted)
	addModes(&wanted, conf.mode)
	addAbsent(&wanted, conf.api)
	view.Know(uintptr(proc.tracer), conf.mode)
	if conf.exact {
		view.Exact()
	}
	if !view.Configure(s, conf.root, conf.binds, conf.ttl) {
		return false
	}
	keepSites(s)
	if !plan.Discover(proc.phdr, proc.phnum, &wanted) {
		return false
	}
	linker = plan.Linker()
	if !plan.SeesWaits() || plan.Dispatchers == 0 {
		// What children have changed would not be noticed when they end, or what the program itself changes by
		// calls through libc's syscall function.
		view.RememberNothing()
	}
	trustCount()
	view.SetModes(conf.mode)
	if conf.mode&translate.Identity != 0 {
		view.AskOwners(s)
	}
	if !useBoard() {
		return false
	}
	low := proc.stack - stackMade
	if nocgo.Readable(low - granule) {
		view.TrustStack(low, proc.stack)
	} else {
		low = 0 // a limited stack: every call asks
	}
	nocgo.Store64(nocgo.Symbol("svcrelay_stack"), uint64(low))
	plan.Effects = wanted
	leaveEffects(&plan.Effects)
	absentEffects(&plan.Effects, conf.api)
	modeEffects(&plan.Effects, conf.mode)
	nocgo.Store8(seenAddr(), 1)
	plan.Mark = seenAddr()
	plan.Own.At = nocgo.Symbol("svcrelay_slots")
	plan.Own.Returns = returnsAddr
	return plan.Place(nocgo.Symbol("svcrelay_entry"), low, proc.page)
}

// trustCount tells the view where the C library says whether there is one thread: glibc 2.32 and later.
func trustCount() {
	const name = "__libc_single_threaded"
	for i := range plan.Libraries {
		if plan.Library[i].Kind == patcher.Libc {
			if a := plan.Variable(plan.Library[i].Base, name, 1); a != 0 {
				view.TrustCount(a)
				return
			}
		}
	}
}

// shareCount maps the page in which the processes that come of this one count their moves to other directories.
func shareCount() bool {
	const shared = 1
	a := nocgo.Raw(nocgo.SysMmap, 0, proc.page, nocgo.ProtRead|nocgo.ProtWrite, shared|nocgo.MapAnonymous, ^uintptr(0), 0)
	if nocgo.Failed(a) {
		return false
	}
	family = a
	view.ShareMoves(a)
	return true
}

// undo leaves nothing mapped and nothing patched. Hand-laid code calls it too, if a check failed in construct.
//
//asmgen:entry svcrelay_undo
func undo() {
	nocgo.StoreRelease32(&live, 0)
	if !trampoline {
		return
	}
	trampoline = false // first, so that a failure in here is not met again
	forgetTrampoline()
	plan.Undo()
	if family != 0 {
		nocgo.Raw(nocgo.SysMunmap, family, proc.page, 0, 0, 0, 0)
		family = 0
	}
	if board != 0 {
		nocgo.Raw(nocgo.SysMunmap, board, proc.page, 0, 0, 0, 0)
		board = 0
	}
	unmapTrampoline()
}
