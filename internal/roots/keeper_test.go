package roots_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/roots"
)

// In what follows time is the test's own. The server's side has one root, "own";
// clients have others.

const (
	debounce = time.Second
	timeout  = 5 * time.Second
)

var errBroken = errors.New("the answer is not what it should be")

// client is one that is asked. It notes when, and answers as it is told.
type client struct {
	top string

	begin time.Time

	mu    sync.Mutex
	asked []time.Duration
	reply answer
}

// An answer is what a client has for the nth question.
type answer = func(n int, ctx context.Context) ([]roots.ClientRoot, error)

func (c *client) answers(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reply = a
}

func (c *client) ask(ctx context.Context) ([]roots.ClientRoot, error) {
	c.mu.Lock()
	c.asked = append(c.asked, time.Since(c.begin))
	n, reply := len(c.asked), c.reply
	c.mu.Unlock()
	return reply(n, ctx)
}

func (c *client) wantAsked(t *testing.T, want ...time.Duration) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.asked, want) {
		t.Errorf("asked at %v, want %v", c.asked, want)
	}
}

func (c *client) named(names ...string) []roots.ClientRoot {
	var list []roots.ClientRoot
	for _, name := range names {
		list = append(list, roots.ClientRoot{URI: "file://" + c.top + "/" + name})
	}
	return list
}

// after answers when some time has passed, unless the question is given up.
func after(ctx context.Context, d time.Duration, named []roots.ClientRoot) ([]roots.ClientRoot, error) {
	select {
	case <-time.After(d):
		return named, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func silent(_ int, ctx context.Context) ([]roots.ClientRoot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// session is a keeper, its client, and its log.
type session struct {
	*roots.Keeper
	*client
	log bytes.Buffer
}

// inSession runs a test with a keeper that has not started, and closes it.
func inSession(t *testing.T, change func(*roots.Options), test func(t *testing.T, s *session)) {
	t.Helper()
	top := tree(t, "own/", "a/", "b/", "c/")
	synctest.Test(t, func(t *testing.T) {
		s := &session{client: &client{top: top, begin: time.Now()}}
		s.answers(func(int, context.Context) ([]roots.ClientRoot, error) { return s.named("a"), nil })
		o := roots.Options{Fallback: list(t, top, "own"), Ask: s.ask, Supported: true, ListChanged: true, Log: slog.New(slog.NewTextHandler(&s.log, nil))}
		if change != nil {
			change(&o)
		}
		s.Keeper = roots.NewKeeper(o)
		test(t, s)
		s.Close()
		s.Close()
	})
}

// wantNow says what is in scope at once, without a wait.
func (s *session) wantNow(t *testing.T, names ...string) {
	t.Helper()
	s.wantAfter(t, 0, names...)
}

// wantAfter says what a call gets, and how long it waits for it.
func (s *session) wantAfter(t *testing.T, wait time.Duration, names ...string) {
	t.Helper()
	begin := time.Now()
	set := s.Now(t.Context())
	if waited := time.Since(begin); waited != wait {
		t.Errorf("waited %v, want %v", waited, wait)
	}
	s.wantSet(t, set, names...)
}

func (s *session) wantSet(t *testing.T, set roots.Set, names ...string) {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, s.top+"/"+name)
	}
	wantPaths(t, set, paths...)
}

func (s *session) wantLogged(t *testing.T, text string, count int) {
	t.Helper()
	synctest.Wait()
	if got := strings.Count(s.log.String(), text); got != count {
		t.Errorf("%q is %d times, not %d, in the log:\n%s", text, got, count, s.log.String())
	}
}

func TestAClientIsAskedOnce(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.wantAsked(t)
		s.Start()
		s.Start()
		s.wantNow(t, "a")
		time.Sleep(time.Hour)
		s.wantAsked(t, 0)
		s.wantLogged(t, "level", 0)
	})
}

func TestACallBeforeTheFirstAnswerWaitsForIt(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(_ int, ctx context.Context) ([]roots.ClientRoot, error) {
			return after(ctx, 3*time.Second, s.named("a", "b"))
		})
		s.Start()
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() { s.wantAfter(t, 3*time.Second, "a", "b") })
		}
		calls.Wait()
		s.wantNow(t, "a", "b")
	})
}

func TestACallBeforeTheClientMayBeAskedWaitsToo(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		var call sync.WaitGroup
		call.Go(func() { s.wantAfter(t, 2*time.Second, "a") })
		time.Sleep(2 * time.Second)
		s.Start()
		call.Wait()
		s.wantAsked(t, 2*time.Second)
	})
}

func TestAClientThatNeverMayBeAskedHoldsUpTheFirstCallsOnly(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		var call sync.WaitGroup
		call.Go(func() {
			time.Sleep(3 * time.Second)
			s.wantAfter(t, 2*time.Second, "own")
		})
		s.wantAfter(t, timeout, "own")
		call.Wait()
		s.wantNow(t, "own")
		s.Changed()
		time.Sleep(time.Hour)
		s.wantAsked(t)
		s.Start()
		s.wantNow(t, "a")
	})
}

func TestAClientThatNeverAnswersHoldsUpTheFirstCallsOnly(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(silent)
		s.Start()
		time.Sleep(2 * time.Second)
		s.wantAfter(t, 3*time.Second, "own")
		s.wantNow(t, "own")
		s.wantLogged(t, "did not answer within 5s", 1)
		s.Changed()
		s.wantNow(t, "own")
		time.Sleep(debounce + time.Second)
		s.wantNow(t, "own") // asked again, and silent again
		time.Sleep(timeout)
		s.wantNow(t, "own")
		// The next change is asked about, and answered.
		s.answers(func(int, context.Context) ([]roots.ClientRoot, error) { return s.named("b"), nil })
		s.Changed()
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "b")
		s.wantAsked(t, 0, 6*time.Second, 13*time.Second)
	})
}

func TestACallThatIsCancelledWaitsNoLonger(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(silent)
		s.Start()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begin := time.Now()
		s.wantSet(t, s.Now(ctx), "own")
		if waited := time.Since(begin); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
		s.wantAfter(t, 3*time.Second, "own")
	})
}

func TestAClientWithoutRootsIsNotAsked(t *testing.T) {
	for _, change := range []func(*roots.Options){
		func(o *roots.Options) { o.Supported = false },
		func(o *roots.Options) { o.Ask = nil },
	} {
		inSession(t, change, func(t *testing.T, s *session) {
			s.wantNow(t, "own")
			s.Start()
			s.Changed()
			time.Sleep(time.Hour)
			s.wantNow(t, "own")
			s.wantAsked(t)
		})
	}
}

func TestAClientThatNamesNoRootsHasNone(t *testing.T) {
	for _, named := range [][]roots.ClientRoot{nil, {}, {{URI: "https://example.com/"}}} {
		inSession(t, nil, func(t *testing.T, s *session) {
			s.answers(func(int, context.Context) ([]roots.ClientRoot, error) { return named, nil })
			s.Start()
			s.wantNow(t)
			set := s.Now(t.Context())
			if set.JSON() != "[]" || set.Contains("/etc/passwd") || set.Contains(s.top+"/own") {
				t.Errorf("%s", set.JSON())
			}
			s.wantLogged(t, "example.com", len(named))
		})
	}
}

func TestRootsThatComeUnasked(t *testing.T) {
	inSession(t, func(o *roots.Options) { o.Ask = nil }, func(t *testing.T, s *session) {
		s.wantNow(t, "own")
		s.Set(s.named("b"))
		s.wantNow(t, "b")
		s.Set(nil)
		s.wantNow(t)
		s.Set([]roots.ClientRoot{{URI: "file:/"}})
		s.wantNow(t)
		s.wantLogged(t, "needs two slashes", 1)
	})
}

func TestRootsThatComeUnaskedAreNewerThanAnOpenQuestion(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(n int, ctx context.Context) ([]roots.ClientRoot, error) {
			return after(ctx, 2*time.Second, s.named([]string{"", "a", "c"}[n]))
		})
		s.Start()
		var call sync.WaitGroup
		call.Go(func() { s.wantAfter(t, time.Second, "b") })
		time.Sleep(time.Second)
		s.Set(s.named("b"))
		call.Wait()
		time.Sleep(time.Hour)
		s.wantNow(t, "b")
		s.Changed()
		time.Sleep(debounce + 2*time.Second)
		synctest.Wait()
		s.wantNow(t, "c")
	})
}

func TestAClientThatHasNotSaidItTellsOfChangesIsNotListenedTo(t *testing.T) {
	inSession(t, func(o *roots.Options) { o.ListChanged = false }, func(t *testing.T, s *session) {
		s.Start()
		s.wantNow(t, "a")
		s.Changed()
		time.Sleep(time.Hour)
		s.wantAsked(t, 0)
	})
}

func TestTimesOfOnesOwn(t *testing.T) {
	inSession(t, func(o *roots.Options) { o.Debounce, o.Timeout = time.Minute, time.Hour }, func(t *testing.T, s *session) {
		s.answers(silent)
		s.Start()
		s.Changed()
		s.wantAfter(t, time.Hour, "own")
		time.Sleep(time.Minute)
		s.wantAsked(t, 0, time.Hour+time.Minute)
	})
}

// A bubble of synctest fails when something in it is left running.
func TestCloseLeavesNothing(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, s *session){
		"before the start":   func(t *testing.T, s *session) {},
		"while asking":       func(t *testing.T, s *session) { s.answers(silent); s.Start(); synctest.Wait() },
		"in the debounce":    func(t *testing.T, s *session) { s.Start(); s.wantNow(t, "a"); s.Changed(); synctest.Wait() },
		"with nothing to do": func(t *testing.T, s *session) { s.Start(); synctest.Wait() },
	} {
		t.Run(name, func(t *testing.T) {
			inSession(t, nil, func(t *testing.T, s *session) {
				before(t, s)
				s.mu.Lock()
				asked := len(s.asked)
				s.mu.Unlock()
				s.Close()
				s.Changed()
				s.Start()
				begin := time.Now()
				s.Now(t.Context())
				if waited := time.Since(begin); waited != 0 {
					t.Errorf("Now waited %v", waited)
				}
				time.Sleep(time.Hour)
				s.mu.Lock()
				defer s.mu.Unlock()
				if len(s.asked) != asked {
					t.Errorf("asked at %v", s.asked)
				}
				s.wantLogged(t, "level", 0)
			})
		})
	}
}

func TestCloseEndsTheWaitOfCalls(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(silent)
		s.Start()
		var call sync.WaitGroup
		call.Go(func() { s.wantAfter(t, time.Second, "own") })
		time.Sleep(time.Second)
		s.Close()
		call.Wait()
	})
}

func TestCloseWaitsForAQuestionThatDoesNotGiveUp(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(int, context.Context) ([]roots.ClientRoot, error) {
			time.Sleep(time.Minute)
			return s.named("a"), nil
		})
		s.Start()
		synctest.Wait()
		s.Close()
		s.wantAsked(t, 0)
		if took := time.Since(s.begin); took != time.Minute {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(n int, ctx context.Context) ([]roots.ClientRoot, error) {
			return after(ctx, time.Duration(n%3)*timeout/2, s.named("b"))
		})
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * debounce / 10)
				s.Start()
				s.Changed()
				if set := s.Now(t.Context()); set.Count() != 1 {
					t.Errorf("%s", set.JSON())
				}
				if i%20 == 0 {
					s.Set(s.named("a"))
				}
			})
		}
		all.Wait()
		time.Sleep(time.Hour)
		s.Set(s.named("c"))
		s.wantNow(t, "c")
	})
}
