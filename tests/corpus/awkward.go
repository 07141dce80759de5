package corpus

import (
	"fmt"
	"path"
	"strings"

	"svcrelay/tests/rig/tree"
)

// AwkwardDir is where the awkward tree lies in a guest, and BoundDir where the directory that is bound into
// guests lies in the VM.
const (
	AwkwardDir = "/c"
	BoundDir   = "/hostbind"
)

// MaxChain is the length of the longest chain of symlinks: more than any kernel or PRoot follows.
const MaxChain = 45

var longName = strings.Repeat("n", 255)

// Awkward returns a tree full of symlinks, to be laid at AwkwardDir of a guest whose root is the VM's guestRoot.
func Awkward(guestRoot string) (*tree.Tree, error) {
	t := tree.New()
	files := map[string]string{
		"file": "top", "dir/file": "in dir", "dir/sub/file": "in sub", "dir/sub/deep/file": "in deep", "dir/empty": "",
		"noperm/file": "locked", "noexec/file": "no search", "private": "private", "dir/" + longName: "long",
		"dir/with space": "a", "dir/new\nline": "b", "dir/\xff\xfe": "c", "dir/pipe|name": "d", "dir/co:lon": "e", "dir/...": "f",
		"dir/.hidden": "g", "dir/file.": "h", "bound-file": "to be covered", "covered/file": "under a binding", "dir/proc": "not that proc",
	}
	for name, text := range files {
		if err := t.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	t.Get("private").Mode = 0o600
	t.Get("noperm").Mode = 0
	t.Get("noexec").Mode = 0o644
	links := map[string]string{
		"rel-file": "dir/file", "rel-dir": "dir", "abs-file": "/c/dir/file", "abs-dir": "/c/dir", "rel-slash": "dir/sub/", "rel-dot": "dir/.",
		"dots": "./dir/../dir/./sub", "many-slashes": "//c///dir//sub", "dir/up": "..", "dir/upup": "../..", "dir/toomany": "../../../../../../etc",
		"dir/sub/deep/back": "../../../rel-dir/sub", "dangling": "nowhere", "dangling-abs": "/nowhere/at/all", "dangling-dir": "dir/missing/x",
		"self": "self", "loop-a": "loop-b", "loop-b": "loop-a", "loop-dir": "loop-dir/x", "dir/into": "../dir/into2", "dir/into2": "sub",
		"root": "/", "root-dots": "/../../..", "etc": "/etc", "file-slash": "file/", "file-dot": "file/.", "file-dots": "file/..",
		"proc": "/proc", "proc-self": "/proc/self", "fd0": "/proc/self/fd/0", "proc-exe": "/proc/self/exe", "proc-cwd": "/proc/self/cwd",
		"dev": "/dev", "null": "/dev/null", "names-root": guestRoot + "/c/dir/file", "names-root-dir": guestRoot + "/c/dir",
		"names-bound": BoundDir + "/file", "into-bound": "/b/one/file", "into-nested": "/b/one/nested", "to-glue": "/glue", "through-glue": "/glue/a/b/file",
		"glue-dots": "/glue/a/../a/b", "to-noperm": "noperm/file", "space": "dir/with space", "long": "dir/" + longName,
		"long-text": strings.Repeat("./", 1500) + "dir/file", "longer-text": strings.Repeat("dir/../", 500) + "file",
		"up-out-of-bound": "/b/one/../../c/dir/file", "to-covered": "covered", "lib": "/lib",
	}
	for name, text := range links {
		if err := t.Symlink(name, text); err != nil {
			return nil, err
		}
	}
	for i := range MaxChain {
		to := "dir"
		if i > 0 {
			to = fmt.Sprintf("chain%d", i-1)
		}
		if err := t.Symlink(fmt.Sprintf("chain%d", i), to); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Bound returns the tree that guests see through bindings, to be laid at BoundDir of the VM.
func Bound() (*tree.Tree, error) {
	t := tree.New()
	for name, text := range map[string]string{
		"file": "bound", "sub/file": "bound sub", "sub/deep/file": "bound deep", "other/file": "bound other", "alone": "a file to bind alone",
	} {
		if err := t.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"rel": "sub/file", "up": "..", "up-etc": "../../etc", "abs": BoundDir + "/sub/file", "abs-dir": BoundDir + "/sub", "abs-sub": BoundDir + "/sub",
		"guest-abs": "/c/dir/file", "out": "../../c/dir/file", "to-nested": "nested/file", "dangling": "nowhere", "link-dir": "sub", "self": ".",
	} {
		if err := t.Symlink(name, text); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Bindings returns PRoot's arguments for the bindings that the lists expect: nested, over a file, below
// directories that do not exist, one host path under two names, by a link, and one that is dropped.
func Bindings() []string {
	var args []string
	for _, b := range []string{
		"/proc", "/sys", "/dev", BoundDir + ":/b/one", BoundDir + "/sub:/b/one/nested", BoundDir + ":/b/two", BoundDir + "/alone:/c/bound-file",
		BoundDir + "/other:/glue/a/b", BoundDir + "/link-dir:/b/link", "/nothing/there:/b/missing", BoundDir + "/sub:/c/covered",
		BoundDir + "/other:/c/dir/sub/mounted",
	} {
		args = append(args, "-b", b)
	}
	return args
}

var (
	prefixes = []string{
		"", "dir", "dir/sub", "rel-dir", "abs-dir", "rel-slash", "rel-dot", "dots", "many-slashes", "dir/up", "dir/upup", "dir/toomany",
		"dir/sub/deep/back", "dir/into", "dangling", "dangling-abs", "dangling-dir", "self", "loop-a", "loop-dir", "root", "root-dots", "etc", "file",
		"rel-file", "abs-file", "file-slash", "file-dot", "file-dots", "names-root", "names-root-dir", "names-bound", "into-bound", "into-nested",
		"to-glue", "through-glue", "glue-dots", "noperm", "noexec", "to-noperm", "long-text", "longer-text", "up-out-of-bound", "bound-file",
		"covered", "to-covered", "dir/sub/mounted", "chain5", "/b/one", "/b/one/nested", "/b/two", "/b/link", "/b/missing", "/b", "/glue", "/glue/a",
		"/glue/a/b", "/b/one/up", "/b/one/abs-dir", "/b/two/abs-dir", "/b/one/self", "/b/one/nested/deep", "/", "/usr", "/lib", "/nowhere",
	}
	suffixList = []string{
		"", "/", "/..", "/file", "/missing", "/missing/x", "/sub/../file", "/file/", "/.", "//file", "/./file", "/file/.", "/file/..", "/file/x", "/sub/deep/file",
	}
	singles = []string{
		"/proc", "/proc/self", "/proc/self/", "/proc/self/exe", "/proc/self/cwd", "/proc/self/cwd/file", "/proc/self/root", "/proc/self/root/c/file",
		"/proc/self/fd", "/proc/self/fd/0", "/proc/self/fd/99", "/proc/self/status", "/proc/thread-self", "/proc/thread-self/exe", "/proc/1/exe",
		"/proc/version", "/proc/missing", "/proc/self/missing", "/proc/../c/file", "/proc/self/../self/status", "/dev/null", "/dev/fd/0", "/dev/stdin", "/dev/missing",
		"/dev/null/", "/dev/null/x", "/sys", "/sys/kernel", "//", "///", "/..", "/../..", "/../etc/passwd", "/./././etc", "/etc/passwd", "/etc//passwd", "/etc/passwd/",
		"/hostbind", "/hostbind/file", "/guests", "", " ", "x", "/c/dir/sub/mounted/../file", "/b/one/nested/../file", "/b/one/nested/..", "/glue/..", "/glue/a/..",
		"/glue/a/b/..", "/glue/a/b/../../../c/file", "/b/one/../one/file", "/b/one/to-nested", "/b/two/to-nested", "/b/two/nested/file", "/b/one/guest-abs", "/b/one/out",
		"/b/one/abs", "/b/two/abs", "/b/link/file", "/b/one/rel", "/b/one/up-etc/passwd", "/b/one/dangling", "/c/proc/self/exe", "/c/proc-self/exe", "/c/proc-exe",
		"/c/proc-cwd/file", "/c/fd0", "/c/null", "/c/dev/null", "/c/lib/aarch64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64",
		"/c/dir/with space", "/c/space", "/c/dir/new\nline", "/c/dir/\xff\xfe", "/c/dir/pipe|name", "/c/dir/co:lon", "/c/dir/...", "/c/dir/.hidden", "/c/dir/file.",
		"/c/dir/.../x", "/c/dir/proc", "/c/private", "/c/fifo", "/c/long", "/c/dir/" + longName, "/c/dir/" + longName + "n", "/c/dir/empty",
	}
	relatives = []string{
		"", ".", "./", "..", "../", "file", "file/", "./file", "sub", "sub/", "sub/file", "up", "up/", "up/dir/file", "../dir/file", "../rel-dir/file", "missing",
		"missing/x", "dir", "rel-file", "rel-dir/file", "abs-file", "abs-dir/file", "bound-file", "covered", "covered/file", "mounted", "nested", "nested/file", "one", "one/file",
		"two", "a", "a/b/file", "b", "b/file", "c", "etc", "etc/passwd", "proc", "null", "self", "self/exe", "glue", "dangling", "loop-a", "proc-exe", "rel", "abs", "abs-dir", "out",
		"/c/dir/file", "/b/one/file", "into-bound", "../..", "../../etc/passwd", "dir/../file", "into/deep/file", ".hidden", longName, longName + "n",
	}
	directories = []string{
		"/", "/c", "/c/dir", "/c/dir/sub", "/c/abs-dir", "/c/rel-dir/sub", "/c/covered", "/b", "/b/one", "/b/one/nested", "/b/two", "/b/link", "/glue", "/glue/a", "/glue/a/b",
		"/proc", "/proc/self", "/dev", "/etc", "/c/noperm", "/c/dir/sub/mounted",
	}
)

// List returns the list that the guest program "paths" reads: every nth of all combinations and singles. 1 is for
// scenarios about paths; others need only a few.
func List(nth int) []byte {
	var b strings.Builder
	n := 0
	add := func(kind byte, p string) {
		if n++; kind != 'D' && n%nth != 0 {
			return
		}
		fmt.Fprintf(&b, "%c %s\n", kind, escape(p))
	}
	for i, p := range prefixes {
		if !strings.HasPrefix(p, "/") {
			p = path.Join(AwkwardDir, p)
		}
		for j, s := range suffixList {
			// The later suffixes are rarer: a third of them for each prefix.
			if j < 8 || (i+j)%3 == 0 {
				add('P', p+s)
			}
		}
	}
	for _, p := range singles {
		add('P', p)
	}
	for i := range MaxChain {
		if i > 30 || i%10 == 0 {
			add('P', fmt.Sprintf("/c/chain%d", i))
			add('P', fmt.Sprintf("/c/chain%d/file", i))
			add('P', fmt.Sprintf("/c/chain%d/up/rel-file", i))
		}
	}
	for i, d := range directories {
		if nth == 1 || i%8 == 2 {
			add('D', d)
		}
	}
	for _, r := range relatives {
		add('R', r)
	}
	return []byte(b.String())
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '\\' || c > '~' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
