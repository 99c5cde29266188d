package roots

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Options are what a [Keeper] is told of its client.
type Options struct {
	// Fallback is in scope for a client that names no roots, or does not say which.
	Fallback Set
	// Ask asks the client for its roots. It returns once its context is done, and
	// with an error when the answer is not what it should be. Where it is nil
	// nobody is asked, and [Keeper.Set] may bring the roots.
	Ask func(context.Context) ([]ClientRoot, error)
	// Supported says that the client has roots, ListChanged that it tells when they
	// change.
	Supported, ListChanged bool
	// Debounce is how long after news of a change the client is asked, so that
	// several in a row make one question. Zero is 1 s.
	Debounce time.Duration
	// Timeout is how long the client has for an answer. Zero is 5 s.
	Timeout time.Duration
	Log     *slog.Logger // nil: nothing is logged
}

// A Keeper knows the roots of one session of a client. Its methods may be called
// from several goroutines.
type Keeper struct {
	opts   Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	news   chan struct{} // a change that has not been asked about
	known  chan struct{} // closed once the client has been heard, or had its time

	mu         sync.Mutex
	current    Set
	generation int       // grows with each set that comes unasked
	patience   time.Time // until when calls wait for known; zero as long as none has
	started    bool
	closed     bool
}

// NewKeeper returns a keeper that has not asked yet.
func NewKeeper(o Options) *Keeper {
	if o.Debounce == 0 {
		o.Debounce = time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{opts: o, news: make(chan struct{}, 1), known: make(chan struct{}), current: o.Fallback}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// asks reports whether there is somebody to ask.
func (k *Keeper) asks() bool { return k.opts.Supported && k.opts.Ask != nil }

// Start has the client asked. It is for the moment from which the client may be.
func (k *Keeper) Start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.asks() || k.started || k.closed {
		return
	}
	k.started = true
	k.patience = time.Now().Add(k.opts.Timeout)
	k.work.Go(k.run)
}

// Changed says that the client has told of a change. What it tells before Start
// is left to the first question.
func (k *Keeper) Changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.opts.ListChanged || !k.started {
		return
	}
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// Now returns the roots that are in scope. A call that comes before the client's
// first answer waits for it, for as long as the client has; no call waits for a
// later one. When the context ends, Now returns what is known.
func (k *Keeper) Now(ctx context.Context) Set {
	if k.asks() {
		k.wait(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current
}

func (k *Keeper) wait(ctx context.Context) {
	timer := time.NewTimer(time.Until(k.limit()))
	defer timer.Stop()
	select {
	case <-k.known:
	case <-timer.C:
	case <-ctx.Done():
	case <-k.ctx.Done():
	}
}

// limit is the same for all calls, so that a client which is silent from the
// beginning holds up none that comes later.
func (k *Keeper) limit() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.patience.IsZero() {
		k.patience = time.Now().Add(k.opts.Timeout)
	}
	return k.patience
}

// Set takes roots that the client has named with a request of its own. An answer
// that is still to come was for an older question, and is dropped.
func (k *Keeper) Set(named []ClientRoot) {
	set := k.judge(named)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.generation++
	k.current = set
	k.heard()
}

// heard ends the wait for the first answer. The caller holds mu.
func (k *Keeper) heard() {
	select {
	case <-k.known:
	default:
		close(k.known)
	}
}

// Close gives up what is being asked and waits until nothing of it is left. Now
// keeps returning what is known.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.work.Wait()
}

// run asks once, and again after each change. News that comes while a question is
// open waits in the channel.
func (k *Keeper) run() {
	k.refresh()
	for {
		select {
		case <-k.news:
		case <-k.ctx.Done():
			return
		}
		select {
		case <-time.After(k.opts.Debounce):
		case <-k.ctx.Done():
			return
		}
		// The question that follows is about this one too.
		select {
		case <-k.news:
		default:
		}
		k.refresh()
	}
}

// refresh asks, and takes what is answered unless something newer has come.
func (k *Keeper) refresh() {
	k.mu.Lock()
	generation := k.generation
	k.mu.Unlock()
	named, err := k.ask()
	var set Set
	if err == nil {
		set = k.judge(named)
	} else if k.ctx.Err() == nil {
		k.opts.Log.Warn("the client's roots could not be read; those of before stay in scope", "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil && generation == k.generation {
		k.current = set
	}
	k.heard()
}

type answer struct {
	named []ClientRoot
	err   error
}

// ask gives the client its time and no more: what is answered later is read by
// nobody.
func (k *Keeper) ask() ([]ClientRoot, error) {
	ctx, cancel := context.WithTimeout(k.ctx, k.opts.Timeout)
	defer cancel()
	answers := make(chan answer, 1)
	k.work.Go(func() {
		named, err := k.opts.Ask(ctx)
		answers <- answer{named, err}
	})
	select {
	case a := <-answers:
		if ctx.Err() == nil {
			return a.named, a.err
		}
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("the client did not answer within %v", k.opts.Timeout)
}

func (k *Keeper) judge(named []ClientRoot) Set {
	set, problems := FromClient(named)
	Warn(k.opts.Log, problems)
	k.opts.Log.Debug("the client has named its roots", "count", set.Count())
	return set
}
