package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// LockAny takes the first of several locks that is free, and says which. Where none is, it says so once and waits until
// ctx ends. Who has waited longest is first: many short jobs of one process do not keep another's from beginning.
func LockAny(ctx context.Context, names ...string) (name string, release func(), err error) {
	mine, err := join(names[0] + ".queue")
	if err != nil {
		return "", nil, err
	}
	defer mine.leave()
	dir, err := Dir("locks")
	if err != nil {
		return "", nil, err
	}
	for told := false; ; told = true {
		if mine.first() {
			for _, name := range names {
				f, err := tryLock(filepath.Join(dir, name))
				if err != nil {
					return "", nil, fmt.Errorf("cache lock %s: %w", name, err)
				}
				if f != nil {
					return name, func() { f.Close() }, nil
				}
			}
		}
		if !told {
			fmt.Fprintf(os.Stderr, "rig: waiting for another process that uses %q\n", names)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return "", nil, fmt.Errorf("waiting for one of the locks %q: %w", names, ctx.Err())
		}
	}
}

// ticket is a place in a queue: a file whose name tells when its owner came, and which is locked while the owner waits.
type ticket struct {
	f    *os.File
	path string
}

// join goes to the end of a queue.
func join(queue string) (ticket, error) {
	dir, err := Dir("locks", queue)
	if err != nil {
		return ticket{}, err
	}
	f, err := os.CreateTemp(dir, ".new") // nobody looks at it before it is locked
	if err != nil {
		return ticket{}, fmt.Errorf("cache queue: %w", err)
	}
	t := ticket{f, filepath.Join(dir, fmt.Sprintf("%020d%s", time.Now().UnixNano(), filepath.Base(f.Name())))}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); err == nil {
		err = os.Rename(f.Name(), t.path)
	}
	if err != nil {
		os.Remove(f.Name())
		f.Close()
		return ticket{}, fmt.Errorf("cache queue: %w", err)
	}
	return t, nil
}

// first says whether nobody who came before still waits. It removes what those left who died while they waited.
func (t ticket) first() bool {
	all, _ := os.ReadDir(filepath.Dir(t.path)) // in the order of names, which is that of coming
	for _, e := range all {
		path := filepath.Join(filepath.Dir(t.path), e.Name())
		if e.Name()[0] == '.' {
			continue
		}
		if path >= t.path {
			return true
		}
		f, err := tryLock(path)
		if err == nil && f == nil {
			return false
		}
		if f != nil {
			os.Remove(path)
			f.Close()
		}
	}
	return true
}

func (t ticket) leave() {
	os.Remove(t.path)
	t.f.Close()
}

// tryLock opens a file and locks it. It gives no file where another process has it locked.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK || err == unix.EINTR {
		return nil, nil
	}
	return nil, err
}
