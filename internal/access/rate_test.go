package access_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/access"
)

func wantAllowed(t *testing.T, r *access.Rate, key string, times int) {
	t.Helper()
	for n := range times {
		if ok, wait := r.Allow(key); !ok || wait != 0 {
			t.Fatalf("request %d of %s: %v, %v", n+1, key, ok, wait)
		}
	}
}

func wantTooSoon(t *testing.T, r *access.Rate, key string, want time.Duration) {
	t.Helper()
	if ok, wait := r.Allow(key); ok || wait != want {
		t.Errorf("%s: %v, %v, want %v", key, ok, wait, want)
	}
}

func TestARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := access.NewRate(2, 3, 10)
		wantAllowed(t, r, "a", 3)
		// Those that come too soon do not put the next off.
		for range 100 {
			wantTooSoon(t, r, "a", 500*time.Millisecond)
		}
		wantAllowed(t, r, "b", 3)
		time.Sleep(500 * time.Millisecond)
		wantAllowed(t, r, "a", 1)
		wantTooSoon(t, r, "a", 500*time.Millisecond)
		time.Sleep(time.Hour)
		wantAllowed(t, r, "a", 3)
		wantTooSoon(t, r, "a", 500*time.Millisecond)
	})
}

func TestNoRate(t *testing.T) {
	for _, perSecond := range []float64{0, -1} {
		wantAllowed(t, access.NewRate(perSecond, 0, 0), "a", 1000)
	}
}

func TestARateWithoutABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := access.NewRate(1, 0, 0)
		wantAllowed(t, r, "a", 1)
		wantTooSoon(t, r, "a", time.Second)
	})
}

func TestKeysUsedLongAgoAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := access.NewRate(1, 1, 3)
		for _, key := range []string{"a", "b", "c"} {
			wantAllowed(t, r, key, 1)
		}
		wantTooSoon(t, r, "a", time.Second)
		wantAllowed(t, r, "d", 1) // in the place of b
		wantTooSoon(t, r, "a", time.Second)
		wantTooSoon(t, r, "c", time.Second)
		wantTooSoon(t, r, "d", time.Second)
		wantAllowed(t, r, "b", 1)
	})
}

func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := access.NewRate(1, 10, 5)
		var allowed atomic.Int64
		var all sync.WaitGroup
		for n := range 100 {
			all.Go(func() {
				if ok, _ := r.Allow("a"); ok {
					allowed.Add(1)
				}
				r.Allow(fmt.Sprint("other ", n%4))
			})
		}
		all.Wait()
		if n := allowed.Load(); n != 10 {
			t.Errorf("%d were allowed", n)
		}
		wantTooSoon(t, r, "a", time.Second)
	})
}

func TestWhoCountsAsOne(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b string // addresses
		same bool
	}{
		{"one address, two ports", "192.0.2.1:1", "192.0.2.1:2", true},
		{"two addresses", "192.0.2.1:1", "192.0.2.2:1", false},
		{"one address in two forms", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"one /64", "[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff::2]:2", true},
		{"two /64", "[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"two zones", "[fe80::1%a]:1", "[fe80::1%b]:1", true},
		{"a Unix socket", "@", "@", true},
		{"nothing", "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := request(), request()
			a.RemoteAddr, b.RemoteAddr = test.a, test.b
			if same := access.Key(a, access.Identity{}) == access.Key(b, access.Identity{}); same != test.same {
				t.Errorf("%q, %q", access.Key(a, access.Identity{}), access.Key(b, access.Identity{}))
			}
			// Who it is counts for more than where he is.
			if access.Key(a, access.Identity{Subject: "ada"}) != access.Key(b, access.Identity{Subject: "ada"}) {
				t.Error("one subject has two keys")
			}
		})
	}
	r := request()
	if access.Key(r, access.Identity{Subject: "192.0.2.1"}) == access.Key(r, access.Identity{}) {
		t.Error("a subject may pass for an address")
	}
}
