// Package keep holds what calls printed that was too long for a model, for as
// long as it may be asked for, and shortens it.
//
// It knows nothing of calls, nor of how a URI is asked for. Who has the URI may
// read the output: it is random and long enough not to be guessed.
package keep

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// URIPrefix is what the URIs of all outputs begin with.
const URIPrefix = "conch://output/"

// Options bound what is kept. What is zero has the default.
type Options struct {
	Dir      string        // for the files; made with the first, and removed by Close if nothing else is in it
	TTL      time.Duration // how long an output is kept: ten minutes
	MaxBytes int64         // of all outputs together: 64 MiB
	MaxCount int           // how many outputs: 256
}

func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = 10 * time.Minute
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxCount == 0 {
		o.MaxCount = 256
	}
	return o
}

var (
	// ErrTooLong tells that an output is longer than all that may be kept.
	ErrTooLong = errors.New("the output is too long to be kept")
	// ErrClosed tells that nothing is kept any more.
	ErrClosed = errors.New("outputs are no longer kept")
)

// Keeper keeps outputs. It is safe for concurrent use.
type Keeper struct {
	options Options
	end     chan struct{}
	added   chan struct{} // holds a value when something was put
	ended   sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the files
	closed bool
	bytes  int64
	oldest []*output // in the order of their ends
	byID   map[string]*output
}

type output struct {
	id, mime string
	size     int64
	ends     time.Time
}

// New returns a Keeper, which Close ends.
func New(options Options) *Keeper {
	k := &Keeper{
		options: options.withDefaults(),
		end:     make(chan struct{}),
		added:   make(chan struct{}, 1),
		byID:    map[string]*output{},
	}
	k.ended.Go(k.expire)
	return k
}

// Put keeps a text, and returns the URI that Get knows it by. Where it does not
// fit within the bounds, the oldest outputs make room.
func (k *Keeper) Put(text []byte, mime string) (uri string, err error) {
	size := int64(len(text))
	if size > k.options.MaxBytes {
		return "", fmt.Errorf("%w: %d bytes, of at most %d", ErrTooLong, size, k.options.MaxBytes)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return "", ErrClosed
	}
	for len(k.oldest) > 0 && (k.bytes+size > k.options.MaxBytes || len(k.oldest) >= k.options.MaxCount) {
		k.drop()
	}
	o := &output{id: rand.Text(), mime: mime, size: size, ends: time.Now().Add(k.options.TTL)}
	if err := k.write(o, text); err != nil {
		return "", err
	}
	k.oldest, k.byID[o.id], k.bytes = append(k.oldest, o), o, k.bytes+size
	select {
	case k.added <- struct{}{}:
	default:
	}
	return URIPrefix + o.id, nil
}

// write leaves no part of a file behind. Most servers never write one.
func (k *Keeper) write(o *output, text []byte) error {
	if err := os.MkdirAll(k.options.Dir, 0o700); err != nil {
		return fmt.Errorf("make the directory for long outputs: %w", err)
	}
	if err := os.WriteFile(k.path(o), text, 0o600); err != nil {
		_ = os.Remove(k.path(o))
		return fmt.Errorf("keep a long output: %w", err)
	}
	return nil
}

// Get returns an output and its type, if it is still kept.
func (k *Keeper) Get(uri string) (text []byte, mime string, ok bool) {
	id, ok := strings.CutPrefix(uri, URIPrefix)
	if !ok {
		return nil, "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.byID[id]
	if !ok || !time.Now().Before(o.ends) {
		return nil, "", false
	}
	text, err := os.ReadFile(k.path(o))
	return text, o.mime, err == nil
}

// Close removes all outputs and their directory. A Keeper is closed once.
func (k *Keeper) Close() error {
	close(k.end)
	k.ended.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for len(k.oldest) > 0 {
		k.drop()
	}
	// What others have put there is not the Keeper's to remove.
	err := os.Remove(k.options.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("remove the directory of long outputs: %w", err)
	}
	return nil
}

// expire drops outputs as their time comes, until the Keeper is closed.
func (k *Keeper) expire() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-k.end:
			return
		case <-timer.C:
		case <-k.added:
		}
		if left, some := k.dropExpired(); some {
			timer.Reset(left)
		}
	}
}

// dropExpired tells how long the oldest output has left that stays.
func (k *Keeper) dropExpired() (left time.Duration, some bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.oldest) > 0 {
		if left = time.Until(k.oldest[0].ends); left > 0 {
			return left, true
		}
		k.drop()
	}
	return 0, false
}

// drop drops the oldest output. A file that cannot be removed stays until the
// directory goes.
func (k *Keeper) drop() {
	o := k.oldest[0]
	k.oldest[0] = nil
	k.oldest = k.oldest[1:]
	delete(k.byID, o.id)
	k.bytes -= o.size
	_ = os.Remove(k.path(o))
}

func (k *Keeper) path(o *output) string { return filepath.Join(k.options.Dir, o.id) }
