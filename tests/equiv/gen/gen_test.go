package gen

import (
	"slices"
	"strings"
	"testing"

	"svcrelay/tests/equiv/cases"
)

func TestSameSeedSameCase(t *testing.T) {
	for _, config := range Configs {
		for seed := range uint64(20) {
			a, err := Case(config, seed, 200)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := Case(config, seed, 200)
			if a.Format() != b.Format() {
				t.Fatalf("%s: seed %d gives two cases", config, seed)
			}
		}
	}
	if _, err := Case("unheard-of", 1, 1); err == nil {
		t.Error("a configuration that does not exist")
	}
}

func TestCasesAreTheirText(t *testing.T) {
	all := Write(1)
	read, err := Read(1)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, read...)
	for _, config := range Configs {
		c, err := Case(config, 7, 400)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		text := c.Format()
		back, err := cases.Parse(c.Name, text)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if back.Format() != text || len(back.Script) != len(c.Script) {
			t.Errorf("%s: it is another case when read again", c.Name)
		}
		for _, l := range c.Script {
			if strings.ContainsAny(l, "\n\x01") {
				t.Errorf("%s: %q", c.Name, l)
			}
		}
	}
}

// TestEverySystemCallOccurs makes sure that what svcrelay can answer is generated.
func TestEverySystemCallOccurs(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		c, err := Case("plain", seed, 300)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range c.Script {
			w := slices.DeleteFunc(strings.Fields(l), func(s string) bool { return s[0] == '>' })
			seen[w[1]]++
		}
	}
	for _, op := range []string{
		"openat", "sys_openat", "sys_openat2", "creat", "stat", "lstat", "fstat", "fstatat", "sys_newfstatat", "statx", "access", "faccessat", "sys_faccessat", "sys_faccessat2", "readlink", "readlinkat", "mkdir",
		"mkdirat", "mknodat", "unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "symlink", "symlinkat", "link", "linkat", "chmod", "fchmodat", "sys_fchmodat", "sys_fchmodat2",
		"chown", "lchown", "fchownat", "utimensat", "truncate", "statfs", "getxattr", "lgetxattr", "listxattr", "llistxattr", "setxattr", "lsetxattr", "removexattr", "lremovexattr", "sys_name_to_handle_at",
		"fsetxattr", "fremovexattr", "accept", "getcwd", "sys_connect", "sys_getpeername", "sys_accept4", "name_to_handle_at", "inotify_add_watch", "sys_getcwd", "chdir", "sys_chdir", "fchdir", "bind", "connect", "accept4", "getsockname", "getpeername", "uname", "getuid", "fork", "thread", "exit", "wait", "ls", "realpath",
	} {
		if seen[op] == 0 {
			t.Errorf("no %s in 18,000 operations", op)
		}
	}
}
