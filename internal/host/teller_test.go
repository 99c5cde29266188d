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
		if !c.tell(0, func() { got = append(got, i) }) {
			t.Fatalf("%d is not told", i)
		}
	}
	c.settle(t.Context())
	c.end(t.Context())
	if len(got) != 100 || got[0] != 0 || got[99] != 99 {
		t.Errorf("told %d", got)
	}
	if c.tell(0, func() { t.Error("told after its end") }) {
		t.Error("something is to be told after its end")
	}
	c.settle(t.Context())
}

// A client that does not read holds up nobody who stops waiting for it.
func TestATellerOfAClientThatDoesNotReadIsLeft(t *testing.T) {
	var c teller
	reads := make(chan struct{})
	defer close(reads)
	c.tell(0, func() { <-reads })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c.settle(ctx)
	c.end(ctx)
	told := 0
	for c.tell(0, func() {}) {
		told++
	}
	if told != 0 {
		t.Errorf("%d more are to be told", told)
	}
}

func TestATellerMayEndWhileItIsSettled(t *testing.T) {
	for range 200 {
		var c teller
		c.tell(0, func() {})
		var all sync.WaitGroup
		all.Go(func() { c.settle(t.Context()) })
		all.Go(func() { c.end(t.Context()) })
		all.Go(func() { c.tell(0, func() {}) })
		all.Wait()
	}
}

func TestWhatWaitsToBeToldIsBounded(t *testing.T) {
	const large = 1 << 20
	for size, most := range map[int]int{0: maxUntold, 10: maxUntold, large: maxUntoldBytes / large, maxUntoldBytes: 1, maxUntoldBytes + 1: 0} {
		var q teller
		begun, goOn, told := make(chan struct{}), make(chan struct{}), 0
		q.tell(maxUntoldBytes, func() { close(begun); <-goOn })
		<-begun
		for i := range most + 2 {
			if q.tell(size, func() { told++ }) != (i < most) {
				t.Errorf("of %d bytes, number %d is not as it should be", size, i+1)
			}
		}
		close(goOn)
		q.end(t.Context())
		if told != most || q.size != 0 {
			t.Errorf("of %d bytes, %d were told, and %d bytes are left", size, told, q.size)
		}
	}
}
