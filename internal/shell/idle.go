package shell

import "sync"

// idle is the workers no call has, the latest used last. A worker used a
// moment ago has its memory still in the processor's caches; one that has had
// time to fork ahead can begin at once. The latest of the latter is the best.
type idle struct {
	available chan struct{} // holds one token for each worker; take one, then pop

	mu      sync.Mutex
	workers []*Worker
}

func newIdle(most int) *idle { return &idle{available: make(chan struct{}, most)} }

func (i *idle) push(w *Worker) {
	i.mu.Lock()
	i.workers = append(i.workers, w)
	i.mu.Unlock()
	i.available <- struct{}{}
}

// pop takes a worker out: the latest used of those that are ready, or the one
// that has waited longest.
func (i *idle) pop() *Worker {
	i.mu.Lock()
	defer i.mu.Unlock()
	at := len(i.workers) - 1
	for at > 0 && !i.workers[at].poll() {
		at--
	}
	w := i.workers[at]
	i.workers = append(i.workers[:at], i.workers[at+1:]...)
	return w
}
