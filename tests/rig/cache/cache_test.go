package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "thing")
	broken := errors.New("broken")
	_, err := Make(path, func(tmp string) error {
		os.WriteFile(tmp, []byte("half"), 0o644)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed build left its result")
	}
	built := 0
	for range 2 {
		if _, err := Make(path, func(tmp string) error { built++; return os.WriteFile(tmp, []byte("whole"), 0o644) }); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(path); string(text) != "whole" || built != 1 {
		t.Errorf("holds %q, built %d times", text, built)
	}
}

func TestLock(t *testing.T) {
	t.Setenv("SVCRELAY_CACHE", t.TempDir())
	release, err := Lock("x")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		again, err := Lock("x")
		if err == nil {
			again()
		}
		got <- err
	}()
	select {
	case <-got:
		t.Error("a held lock was given twice")
	case <-time.After(100 * time.Millisecond):
	}
	release()
	if err := <-got; err != nil {
		t.Error(err)
	}
}
