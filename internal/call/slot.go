package call

import (
	"context"
	"sync"

	"github.com/conch-mcp/conch/internal/shell"
)

// A Slot is a call's place among those that may run at once. A call that waits
// for its client gives it up, and gets it back to go on. The zero Slot is ready.
type Slot struct {
	resuming sync.Mutex // held by who waits for a place: one at a time

	mu    sync.Mutex
	shell *shell.Server // while the call runs
	away  bool          // it has been given up
}

// begin notes that the call runs. A nil Slot is never given up.
func (s *Slot) begin(sh *shell.Server) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shell = sh
	}
}

// end notes that the call has ended. A place that has been given up is not given
// back a second time; that it was is what end returns.
func (s *Slot) end() (reclaimed bool) {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reclaimed = s.away
	if reclaimed {
		s.shell.Reclaim()
	}
	s.shell, s.away = nil, false
	return reclaimed
}

// Park gives the place up.
func (s *Slot) Park() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shell != nil && !s.away {
		s.away = s.shell.Park()
	}
}

// Resume waits for a place to go on in. A call that has ended needs none.
func (s *Slot) Resume(ctx context.Context) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	sh := s.awayFrom()
	if sh == nil {
		return nil
	}
	if err := sh.Unpark(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.away {
		// It has ended meanwhile, and has its place back for that.
		sh.Return()
		return nil
	}
	s.away = false
	return nil
}

// awayFrom is the server where a place is to be got back; nil when there is none
// to get.
func (s *Slot) awayFrom() *shell.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.away {
		return nil
	}
	return s.shell
}
