package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"svcrelay/tests/corpus"
	"svcrelay/tests/rig"
)

const bookworm = "/guests/bookworm"

// everything is run where the library is at work.
var everything = []string{"paths", "paths-as-user", "cwd", "mutate", "threads", "signals", "shell", "find", "ls", "tar", "python", "listing", "true"}

// kernelOnly are bindings without any of the test's own.
var kernelOnly = []string{"-b", "/proc", "-b", "/dev", "-b", "/sys"}

func with(options ...string) []string { return append(corpus.Bindings(), options...) }

// TestSameWhereAtWork runs everything with a library that answers.
func TestSameWhereAtWork(t *testing.T) {
	compareSettings(t, rig.Job{Guests: []string{"bookworm"}}, []setting{
		{name: "svcrelay run", wanted: active, workloads: everything},
		{name: "nothing remembered", wanted: active, outer: []string{"PROOT_FP_TTL_MS=0"}, workloads: []string{"some", "cwd", "mutate", "heard-from"}},
		{name: "LD_PRELOAD", preload: byVariable, wanted: active},
		{name: "shim and variables", launcher: byShim, outer: outerConfig(bookworm, bindsVariable()), wanted: either, workloads: []string{"few", "shell", "env"}},
		{name: "no bindings", options: kernelOnly, wanted: active, workloads: []string{"few", "mutate", "listing"}},
		{name: "no proc", options: []string{"-b", "/dev"}, wanted: either, workloads: []string{"listing"}},
		{name: "another directory", options: with("-w", "/c/rel-dir/sub"), noW: true, wanted: active},
		{name: "the launcher's directory", options: with("-b", corpus.BoundDir), dir: corpus.BoundDir, noW: true, wanted: active},
		{name: "a directory that is not there", options: with("-w", "/nowhere"), noW: true, wanted: either},
		{name: "as a user", uid: 1000, wanted: active, workloads: []string{"few", "cwd", "shell", "listing"}},
		{name: "a binding by a link", options: with("-b", corpus.BoundDir+":/c/abs-dir!"), wanted: either},
		{name: "a binding over a link", options: with("-b", corpus.BoundDir+":/c/abs-dir"), wanted: either},
		{name: "one place bound twice", options: with("-b", corpus.BoundDir+"/sub:/b/one"), wanted: either},
		{name: "the rootfs inside itself", options: with("-b", bookworm+":/mnt/again", "-b", bookworm), wanted: either},
		{name: "the VM's root inside", options: with("-b", "/:/host"), wanted: either},
		{name: "recommended bindings", options: []string{"-R", bookworm}, wanted: either},
		{name: "root identity", options: with("-0"), wanted: active, workloads: []string{"few", "mutate", "cwd", "shell"}},
		{name: "changed identity", options: with("-i", "1000:1000"), wanted: active},
		{name: "an empty environment", wrap: emptied(), wanted: either, workloads: []string{"few", "cwd", "shell"}},
		{name: "an empty environment, root identity and a kernel release", options: with("-0", "-k", "6.17.0"), wrap: emptied(), wanted: either, workloads: []string{"few", "shell"}},
		{name: "what proot-distro binds", wanted: active, workloads: []string{"few", "cwd", "shell", "listing"},
			options: with("--kill-on-exit", "--kernel-release=6.17.0-PRoot-Distro", "--change-id=0:0", "-b", "/dev/urandom:/dev/random", "-b", "/proc/self/fd:/dev/fd",
				"-b", "/proc/self/fd/0:/dev/stdin", "-b", "/proc/self/fd/1:/dev/stdout", "-b", "/proc/self/fd/2:/dev/stderr")},
		{name: "kill on exit", options: with("--kill-on-exit"), wanted: active, workloads: []string{"few", "shell"}},
		{name: "a library that starts a thread", preload: byVariable, before: progDir + "/libstarted.so", wanted: either, workloads: []string{"listing", "true", "few"}},
		{name: "garbage in what does not matter", outer: []string{"PROOT_FP_SVC_CACHE=\x01|;", "PROOT_FP_STATS=no", "PROOT_FP_LOG=/no/such/dir/log", "PROOT_FP_ANDROID_API=x"}, wanted: either},
	})
}

// TestSameWhereInert runs a few workloads wherever the library must do nothing.
func TestSameWhereInert(t *testing.T) {
	names := []string{"ROOT", "BINDS", "KEY", "OFF", "PATCH_SVC", "SVC_CACHE", "TTL_MS", "ANDROID_API", "STATS", "LOG", "MODES", "NOT_KNOWN"}
	garbage := func(value string) (out []string) {
		for _, n := range names {
			out = append(out, "PROOT_FP_"+n+"="+value)
		}
		return out
	}
	stray := "||:|/proc|:|a:|:b|//:/|/proc:/proc:/x|" + corpus.BoundDir + ":/b/one||"
	settings := []setting{
		{name: "no PRoot", launcher: byChroot, workloads: []string{"cwd", "mutate", "listing", "env", "true"}},
		{name: "no PRoot, LD_PRELOAD", launcher: byChroot, preload: byVariable},
		{name: "no PRoot, but its variables", launcher: byChroot, outer: outerConfig("/", "")},
		{name: "PRoot alone", launcher: byPRoot, workloads: []string{"few", "cwd", "env"}},
		{name: "PRoot alone, an empty environment", launcher: byPRoot, wrap: emptied(), workloads: []string{"few", "env"}},
		{name: "shim alone, an empty environment", launcher: byShim, wrap: emptied(), workloads: []string{"few", "env"}},
		{name: "a launcher's variables, an empty environment", launcher: byShim, outer: outerConfig(bookworm, bindsVariable()), wrap: emptied(), workloads: []string{"few"}},
		{name: "no shim", launcher: byPRoot, outer: outerConfig(bookworm, bindsVariable())},
		{name: "shim alone", launcher: byShim, workloads: []string{"few", "env"}},
		{name: "no seccomp", outer: []string{"PROOT_NO_SECCOMP=1"}},
		{name: "no seccomp, shim", launcher: byShim, outer: append(outerConfig(bookworm, bindsVariable()), "PROOT_NO_SECCOMP=1")},
		{name: "wrong key in the guest", inner: []string{"PROOT_FP_KEY=wrong"}},
		{name: "no key in the guest", inner: []string{"PROOT_FP_KEY="}},
		{name: "wrong key at the tracer", launcher: byShim, outer: append(outerConfig(bookworm, bindsVariable()), "PROOT_FASTPATH=another")},
		{name: "another root in the guest", inner: []string{"PROOT_FP_ROOT=/"}},
		{name: "a root that is not there, in the guest", inner: []string{"PROOT_FP_ROOT=/does/not/exist"}},
		{name: "a root that is not there", launcher: byShim, outer: outerConfig("/does/not/exist", bindsVariable())},
		{name: "another root", launcher: byShim, outer: outerConfig("/", bindsVariable())},
		{name: "bindings that are not PRoot's", launcher: byShim, outer: outerConfig(bookworm, corpus.BoundDir+"/other:/b/one|/etc:/c")},
		{name: "no bindings named", launcher: byShim, outer: outerConfig(bookworm, "")},
		{name: "switched off", outer: []string{"PROOT_FP_OFF=1"}},
		{name: "switched off in the guest", inner: []string{"PROOT_FP_OFF=0"}},
		{name: "patching off", inner: []string{"PROOT_FP_PATCH_SVC=0"}},
		{name: "an unknown mode", inner: []string{"PROOT_FP_SOMETHING_NEW=1"}},
		{name: "stray separators in the guest", inner: []string{"PROOT_FP_BINDS=" + stray}},
		{name: "10,000 bindings in the guest", inner: []string{"PROOT_FP_BINDS=" + manyBindings()}},
		{name: "root identity, not told", launcher: byShim, outer: outerConfig(bookworm, bindsVariable()), options: with("-0")},
		{name: "a mode that PRoot does not have", launcher: byShim, outer: append(outerConfig(bookworm, bindsVariable()), "PROOT_FP_MODES=root-id")},
		{name: "an unknown mode at the tracer", launcher: byShim, outer: append(outerConfig(bookworm, bindsVariable()), "PROOT_FP_MODES=root-id,later")},
		{name: "another mode in the guest", options: with("-0"), inner: []string{"PROOT_FP_MODES=upstream"}},
		{name: "kernel release", options: with("-k", "4.4.0"), wanted: either},
		{name: "the trampoline's address is taken", preload: byVariable, before: progDir + "/liboccupy.so"},
		{name: "the trampoline's address is taken, file", before: progDir + "/liboccupy.so", wanted: either},
		{name: "a filter besides PRoot's", wrap: []string{progDir + "/refuse", "nothing"}},
		{name: "mmap at the trampoline refused", wrap: []string{progDir + "/refuse", "trampoline", "12"}},
		{name: "mprotect for execution refused", wrap: []string{progDir + "/refuse", "execute", "13"}},
		{name: "pwrite64 refused", wrap: []string{progDir + "/refuse", "call", "68", "1"}},
		{name: "getrusage refused", wrap: []string{progDir + "/refuse", "call", "165", "38"}},
		{name: "process_vm_readv refused", wrap: []string{progDir + "/refuse", "call", "270", "38"}},
		{name: "no address space to spare", wrap: []string{progDir + "/refuse", "limit", "9", "8000000"}, workloads: []string{"listing", "few"}, wanted: either},
		{name: "few descriptors", wrap: []string{progDir + "/refuse", "limit", "7", "12"}, workloads: []string{"listing", "few"}, wanted: either},
		{name: "three descriptors", wrap: []string{progDir + "/refuse", "limit", "7", "4"}, workloads: []string{"listing"}, wanted: either},
		{name: "process_vm_writev refused", wrap: []string{progDir + "/refuse", "call", "271", "1"}},
		{name: "two copies", preload: byVariable, before: copyPath, workloads: []string{"few", "shell", "listing"}, wanted: either},
		{name: "two copies, file and variable", before: copyPath, workloads: []string{"few", "listing"}, wanted: either},
		{name: "small stack", wrap: []string{progDir + "/refuse", "limit", "3", "131072"}, workloads: []string{"listing", "few", "shell"}, wanted: either},
		{name: "tiny stack", wrap: []string{progDir + "/refuse", "limit", "3", "65536"}, workloads: []string{"listing", "shell"}, wanted: either},
		{name: "nested PRoot", wrap: nested(), workloads: []string{"few", "cwd"}},
		{name: "nested PRoot without seccomp", wrap: append([]string{"/usr/bin/env", "PROOT_NO_SECCOMP=1"}, nested()...), workloads: []string{"few", "listing"}},
		{name: "nested PRoot with another root", wrap: []string{"/usr/bin/proot", "-r", "/", "-b", "/c:/etc", "-w", "/"}, workloads: []string{"few", "listing"}},
		{name: "700 long bindings", options: manyOptions(), workloads: []string{"listing"}, wanted: either},
	}
	for name, value := range map[string]string{"control": "\x01\x02\x7f\xff", "separators": stray, "long": strings.Repeat("x/", 5000), "number": "-1"} {
		settings = append(settings,
			setting{name: "garbage in every variable in the guest: " + name, inner: garbage(value)},
			setting{name: "garbage in every variable: " + name, launcher: byShim, outer: append(garbage(value), "PROOT_FASTPATH="+value)})
	}
	for name, value := range map[string]string{"ROOT": "\x01\xff", "BINDS": stray, "KEY": "\x01\xff", "TTL_MS": "soon", "LOG": "/\xff/\x01"} {
		settings = append(settings, setting{name: "garbage in " + name, launcher: byShim, wanted: either,
			outer: append(outerConfig(bookworm, bindsVariable()), "PROOT_FP_"+name+"="+value)})
	}
	compareSettings(t, rig.Job{Guests: []string{"bookworm"}, MemoryMB: 3072}, settings)
}

// emptied begins the workload as a login does.
func emptied() []string {
	return []string{"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb"}
}

func nested() []string {
	return []string{"/usr/bin/proot", "-r", "/", "-b", corpus.AwkwardDir + "/dir:/b/two", "-b", "/etc:/c/noperm", "-w", "/"}
}

func manyBindings() string {
	var list []string
	for i := range 10000 {
		list = append(list, fmt.Sprintf("/a:/b%05d", i))
	}
	return strings.Join(list, "|")
}

// manyOptions are more bindings than the library has room for, and more text than a variable can hold. PRoot
// itself takes a time for them that grows with the square.
func manyOptions() []string {
	list := corpus.Bindings()
	for i := range 700 {
		list = append(list, "-b", fmt.Sprintf("%s/file:/many/%s/%d", corpus.BoundDir, strings.Repeat("x", 200), i))
	}
	return list
}

// TestSameUnderEveryLibc runs a few workloads in guests with other libcs.
func TestSameUnderEveryLibc(t *testing.T) {
	var settings []setting
	guests := []string{"bullseye", "trixie", "forky", "musl"}
	for _, g := range guests {
		how, programs := byFile, []string{"some", "mutate", "signals"}
		switch g {
		case "forky":
			programs = append(programs, "cwd", "threads", "shell", "ls")
		case "musl": // it has no preload file
			how = byVariable
		}
		settings = append(settings,
			setting{name: g, guest: g, preload: how, wanted: either, workloads: programs},
			setting{name: g + ", LD_PRELOAD", guest: g, preload: byVariable, wanted: either, workloads: []string{"few"}},
			setting{name: g + ", no PRoot", guest: g, preload: how, launcher: byChroot},
			setting{name: g + ", no PRoot, LD_PRELOAD", guest: g, preload: byVariable, launcher: byChroot, workloads: []string{"cwd"}})
		if g != "musl" {
			settings[len(settings)-4].wanted = active
		}
	}
	compareSettings(t, rig.Job{Guests: guests, MemoryMB: 3072}, settings)
}
