package access

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"
)

const (
	// fetchInterval and fetchBurst are how often an issuer is asked for its keys,
	// whatever tokens come: anybody can make up names of keys.
	fetchInterval = 10 * time.Second
	fetchBurst    = 2
	// fetchTimeout is for all that one look at the keys takes.
	fetchTimeout = 10 * time.Second
	// staleAfter is when keys are looked at again though they serve, so that one
	// the issuer has withdrawn is not trusted for ever.
	staleAfter = time.Hour
)

// keySet holds the public keys of an issuer. They are fetched by requests that
// need them, one at a time; others go on with the keys there are.
//
// go-oidc's RemoteKeySet would fetch for every unknown key, and would not tell a
// token that is forged from an issuer that is down.
type keySet struct {
	issuer string
	client *http.Client
	log    *slog.Logger
	ctx    context.Context // of the Guard: a client that hangs up must not end what others wait for
	turn   chan struct{}   // holds a value while somebody fetches
	limit  *rate.Limiter

	mu      sync.Mutex // guards what follows
	keys    []jose.JSONWebKey
	fetched time.Time // when keys were
	failed  bool      // the last fetch did
}

func newKeySet(ctx context.Context, issuer string, client *http.Client, log *slog.Logger) *keySet {
	return &keySet{
		issuer: issuer,
		client: restrained(client),
		log:    log,
		ctx:    ctx,
		turn:   make(chan struct{}, 1),
		limit:  rate.NewLimiter(rate.Every(fetchInterval), fetchBurst),
	}
}

// find returns the keys that may have signed under this header: none if the
// issuer has no such key. Its only error is errUnavailable.
func (s *keySet) find(ctx context.Context, h jose.Header) ([]jose.JSONWebKey, error) {
	keys, stale := s.fitting(h)
	switch {
	case len(keys) == 0:
		return s.await(ctx, h)
	case stale:
		s.renew()
		keys, _ = s.fitting(h)
	}
	return keys, nil
}

// await fetches keys, or waits for whoever is at it.
func (s *keySet) await(ctx context.Context, h jose.Header) ([]jose.JSONWebKey, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", errUnavailable, ctx.Err())
	}
	if keys, _ := s.fitting(h); len(keys) > 0 {
		return keys, nil
	}
	if s.limit.Allow() {
		s.fetch()
	}
	keys, _ := s.fitting(h)
	if len(keys) == 0 && s.unsure() {
		return nil, errUnavailable
	}
	return keys, nil
}

// renew looks at the keys again unless somebody does already. When it fails the
// keys stay: an issuer that is down for a while would lock everybody out.
func (s *keySet) renew() {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return
	}
	if s.limit.Allow() {
		s.fetch()
	}
}

// fetch is called by whoever has the turn.
func (s *keySet) fetch() {
	ctx, cancel := context.WithTimeout(s.ctx, fetchTimeout)
	defer cancel()
	keys, err := fetchKeys(ctx, s.client, s.issuer)
	if err != nil {
		s.log.Warn("cannot get the keys that tokens are checked with", "issuer", s.issuer, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err != nil
	if err == nil {
		s.keys, s.fetched = keys, time.Now()
	}
}

// unsure tells that a key which is not there may be the issuer's all the same.
func (s *keySet) unsure() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *keySet) fitting(h jose.Header) (keys []jose.JSONWebKey, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.keys {
		if fits(key, h) {
			keys = append(keys, key)
		}
	}
	return keys, time.Since(s.fetched) > staleAfter
}

// fits goes by what key and header say; whether the key can verify at all shows
// when it is tried.
func fits(key jose.JSONWebKey, h jose.Header) bool {
	return (h.KeyID == "" || key.KeyID == h.KeyID) &&
		(key.Algorithm == "" || key.Algorithm == h.Algorithm) &&
		(key.Use == "" || key.Use == "sig")
}
