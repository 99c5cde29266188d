package host

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestATellerTellsInOrder(t *testing.T) {
	var got []int
	var c teller
	for i := range 100 {
		if !c.tell(func() { got = append(got, i) }) {
			t.Fatalf("%d is not told", i)
		}
	}
	c.settle(t.Context())
	c.end(t.Context())
	if len(got) != 100 || got[0] != 0 || got[99] != 99 {
		t.Errorf("told %d", got)
	}
	if c.tell(func() { t.Error("told after its end") }) {
		t.Error("something is to be told after its end")
	}
	c.settle(t.Context())
}

// A client that does not read holds up nobody who stops waiting for it.
func TestATellerOfAClientThatDoesNotReadIsLeft(t *testing.T) {
	var c teller
	reads := make(chan struct{})
	defer close(reads)
	c.tell(func() { <-reads })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c.settle(ctx)
	c.end(ctx)
	told := 0
	for c.tell(func() {}) {
		told++
	}
	if told != 0 {
		t.Errorf("%d more are to be told", told)
	}
}

func TestATellerMayEndWhileItIsSettled(t *testing.T) {
	for range 200 {
		var c teller
		c.tell(func() {})
		var all sync.WaitGroup
		all.Go(func() { c.settle(t.Context()) })
		all.Go(func() { c.end(t.Context()) })
		all.Go(func() { c.tell(func() {}) })
		all.Wait()
	}
}

func TestOnlySoMuchWaitsToBeTold(t *testing.T) {
	var c teller
	reads := make(chan struct{})
	c.tell(func() { <-reads })
	n := 0
	for c.tell(func() {}) {
		n++
	}
	if n < maxUntold-1 || n > maxUntold {
		t.Errorf("%d wait", n)
	}
	close(reads)
	c.end(t.Context())
}
