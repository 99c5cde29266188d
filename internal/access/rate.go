package access

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate says how often each sender may send. Its methods may be called by several
// goroutines.
type Rate struct {
	perSecond rate.Limit
	burst     int
	most      int

	mu      sync.Mutex // guards what follows, and the buckets
	buckets map[string]*list.Element
	order   *list.List // of *bucket, the one used last in front
}

type bucket struct {
	key   string
	limit *rate.Limiter
}

// NewRate allows each key burst requests at once, and perSecond on average; 0
// allows all. It remembers the `most` keys that were used last: one it has
// forgotten begins anew.
func NewRate(perSecond float64, burst, most int) *Rate {
	return &Rate{
		perSecond: rate.Limit(perSecond),
		burst:     max(burst, 1),
		most:      max(most, 1),
		buckets:   map[string]*list.Element{},
		order:     list.New(),
	}
}

// Allow counts a request of key's. One that comes too soon does not count, and
// may come again after retryAfter.
func (r *Rate) Allow(key string) (ok bool, retryAfter time.Duration) {
	if r.perSecond <= 0 {
		return true, 0
	}
	// Of reservations that overlap, cancelling gives less back than was taken.
	r.mu.Lock()
	defer r.mu.Unlock()
	reservation := r.limiter(key).Reserve()
	if wait := reservation.Delay(); wait > 0 {
		reservation.Cancel()
		return false, wait
	}
	return true, 0
}

func (r *Rate) limiter(key string) *rate.Limiter {
	if e, ok := r.buckets[key]; ok {
		r.order.MoveToFront(e)
		return e.Value.(*bucket).limit
	}
	if r.order.Len() >= r.most {
		oldest := r.order.Remove(r.order.Back()).(*bucket)
		delete(r.buckets, oldest.key)
	}
	b := &bucket{key: key, limit: rate.NewLimiter(r.perSecond, r.burst)}
	r.buckets[key] = r.order.PushFront(b)
	return b.limit
}

// Key tells senders apart: by who they are, or by their address where that is
// not known. Who has one address of IPv6 mostly has the /64 around it.
//
// The address is that of the connection. Headers in which a proxy says for whom
// it asks are not looked at, since anybody can write them.
func Key(r *http.Request, id Identity) string {
	if id.Subject != "" {
		return "subject " + id.Issuer + " " + id.Subject
	}
	text, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		text = r.RemoteAddr
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return "address " + text
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		// A /64 of an address without a zone cannot fail.
		prefix, _ := addr.Prefix(64)
		return "address " + prefix.String()
	}
	return "address " + addr.String()
}
