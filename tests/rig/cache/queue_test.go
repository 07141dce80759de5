package cache

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestLockAny takes two of two locks; a third wait ends with its context, and a release frees a place.
func TestLockAny(t *testing.T) {
	t.Setenv("SVCRELAY_CACHE", t.TempDir())
	a, releaseA, err := LockAny(t.Context(), "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	b, releaseB, err := LockAny(t.Context(), "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	defer releaseB()
	if a != "x" || b != "y" {
		t.Errorf("got %q and %q", a, b)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := LockAny(ctx, "x", "y"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third: %v", err)
	}
	releaseA()
	c, releaseC, err := LockAny(t.Context(), "x", "y")
	if err != nil || c != "x" {
		t.Fatalf("after a release: %q, %v", c, err)
	}
	releaseC()
}

// TestQueue has several wait for one lock, one after the other: they get it in that order. One that died while it waited
// keeps nobody.
func TestQueue(t *testing.T) {
	t.Setenv("SVCRELAY_CACHE", t.TempDir())
	_, release, err := LockAny(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	dead, err := join("x.queue")
	if err != nil {
		t.Fatal(err)
	}
	dead.f.Close() // as the kernel does
	const n = 5
	order := make(chan int, n)
	for i := range n {
		go func() {
			_, release, err := LockAny(t.Context(), "x")
			if err != nil {
				t.Error(err)
			}
			order <- i
			time.Sleep(10 * time.Millisecond)
			release()
		}()
		time.Sleep(50 * time.Millisecond)
	}
	release()
	for i := range n {
		if got := <-order; got != i {
			t.Errorf("number %d was served as number %d", got, i)
		}
	}
}
