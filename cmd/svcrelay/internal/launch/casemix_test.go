package launch

import (
	"io/fs"
	"os"
	"testing"

	"svcrelay/cmd/svcrelay/internal/prootargs"
)

func TestLooksUpWrongly(t *testing.T) {
	dir := t.TempDir()
	if bad, err := looksUpWrongly(dir, CreateFile); bad || err != nil {
		t.Errorf("a good file system: %v, %v", bad, err)
	}
	exists := func(string) error { return fs.ErrExist }
	if bad, _ := looksUpWrongly(dir, exists); !bad {
		t.Error("a file system that mixes case was not noticed")
	}
	if _, err := looksUpWrongly("/nowhere", CreateFile); err == nil {
		t.Error("a directory that is not there")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if mixesCase(dir, prootargs.Termux, nil) {
		t.Error("this is no f2fs")
	}
	if Created(CreateFile(dir+"/x")) != 0 || Created(CreateFile(dir+"/x")) != 17 || Created(CreateFile("/nowhere/x")) != 1 {
		t.Error("exit statuses")
	}
}
