package call

import (
	"context"
	"sync"

	"github.com/conch-mcp/conch/internal/shell"
)

// A Slot is a call's place among those that may run at once. A call that waits
// for its client gives it up, and gets it back to go on. The zero Slot is ready.
type Slot struct {
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

// end notes that the call has ended. Its place is given back as that of any
// other, so it has to have one.
func (s *Slot) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	sh, away := s.shell, s.away
	s.shell, s.away = nil, false
	s.mu.Unlock()
	if away {
		_ = sh.Unpark(context.Background())
	}
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
	s.mu.Lock()
	sh, away := s.shell, s.away
	s.mu.Unlock()
	if !away {
		return nil
	}
	if err := sh.Unpark(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shell == nil {
		// It has ended meanwhile, and got a place for that.
		sh.Park()
		return nil
	}
	s.away = false
	return nil
}
