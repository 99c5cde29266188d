package shell

// Stats is how things are at a moment.
type Stats struct {
	Waiting    int    // calls that wait for a worker
	Idle, Busy int    // workers, by whether a call has them
	Forks      uint64 // subshells forked for calls so far
}

// Stats returns the numbers of this moment.
func (s *Server) Stats() Stats {
	idle, busy := s.pool.count()
	return Stats{Waiting: int(s.pool.waiting.Load()), Idle: idle, Busy: busy, Forks: s.forks.Load()}
}

// count tells how many workers there are, by whether a call has them.
func (p *pool) count() (idle, busy int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle), p.most - len(p.idle) - len(p.slots)
}
