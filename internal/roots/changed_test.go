package roots_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/roots"
)

func TestABurstOfChangesIsOneQuestion(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.Start()
		s.wantNow(t, "a")
		s.answers(func(int, context.Context) ([]roots.ClientRoot, error) { return s.named("b"), nil })
		for range 10 {
			s.Changed()
			s.wantNow(t, "a")
			time.Sleep(debounce / 20)
		}
		time.Sleep(debounce / 2)
		synctest.Wait()
		s.wantNow(t, "b")
		time.Sleep(time.Hour)
		s.wantAsked(t, 0, debounce)
	})
}

func TestAChangeBehindABurstIsNotLost(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.Start()
		synctest.Wait()
		s.answers(func(n int, _ context.Context) ([]roots.ClientRoot, error) {
			return s.named([]string{"", "", "b", "c"}[n]), nil
		})
		s.Changed()
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "b")
		s.Changed()
		s.wantNow(t, "b")
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "c")
		s.wantAsked(t, 0, debounce, 2*debounce)
	})
}

func TestASteadyStreamOfChangesPutsNothingOff(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.Start()
		synctest.Wait()
		for range 100 {
			s.Changed()
			time.Sleep(debounce / 10)
			synctest.Wait()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.asked); n < 8 || n > 11 {
			t.Errorf("asked %d times in 10 s: %v", n, s.asked)
		}
	})
}

func TestAChangeWhileAQuestionIsOpenIsAskedAboutAfterwards(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(n int, ctx context.Context) ([]roots.ClientRoot, error) {
			return after(ctx, 4*time.Second, s.named([]string{"", "a", "b"}[n]))
		})
		s.Start()
		time.Sleep(time.Second)
		for range 3 {
			s.Changed()
		}
		s.wantAfter(t, 3*time.Second, "a")
		s.wantAsked(t, 0)
		time.Sleep(debounce)
		s.wantAsked(t, 0, 4*time.Second+debounce)
		s.wantNow(t, "a") // known, while the refresh is in flight
		time.Sleep(4 * time.Second)
		synctest.Wait()
		s.wantNow(t, "b")
	})
}

func TestAFailureKeepsTheRootsOfBefore(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(n int, ctx context.Context) ([]roots.ClientRoot, error) {
			switch n {
			case 1:
				return s.named("a"), nil
			case 2:
				return s.named("b"), errBroken
			case 3:
				return silent(n, ctx)
			}
			return s.named("c"), nil
		})
		s.Start()
		s.wantNow(t, "a")
		s.Changed()
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "a")
		s.wantLogged(t, errBroken.Error(), 1)
		s.Changed()
		time.Sleep(debounce + timeout)
		synctest.Wait()
		s.wantNow(t, "a")
		s.wantLogged(t, "did not answer within 5s", 1)
		s.Changed()
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "c")
	})
}

func TestAFirstAnswerThatFailsLeavesTheFallback(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		s.answers(func(_ int, ctx context.Context) ([]roots.ClientRoot, error) {
			_, _ = after(ctx, time.Second, nil)
			return nil, errBroken
		})
		s.Start()
		s.wantAfter(t, time.Second, "own")
		s.wantNow(t, "own")
		s.wantLogged(t, errBroken.Error(), 1)
	})
}

// The first question is answered only when the next has been: neither answer may
// take the other's place, nor may the late one end anything.
func TestALateAnswerIsDropped(t *testing.T) {
	inSession(t, nil, func(t *testing.T, s *session) {
		late := make(chan struct{})
		s.answers(func(n int, _ context.Context) ([]roots.ClientRoot, error) {
			if n == 1 {
				<-late
				return s.named("a"), nil
			}
			return s.named("b"), nil
		})
		s.Start()
		s.wantAfter(t, timeout, "own")
		s.Changed()
		time.Sleep(debounce)
		synctest.Wait()
		s.wantNow(t, "b")
		close(late)
		synctest.Wait()
		s.wantNow(t, "b")
		s.Changed()
		time.Sleep(debounce)
		s.wantAsked(t, 0, timeout+debounce, timeout+2*debounce)
	})
}
