// Package sparing writes warnings of what somebody else may bring about any number
// of times.
package sparing

import (
	"log/slog"
	"sync"
	"time"
)

// Most is how many warnings are written before the rest is counted.
const Most = 20

// A Log takes warnings of one kind. It is safe for concurrent use.
type Log struct {
	log   *slog.Logger
	more  string
	every time.Duration

	mu    sync.Mutex
	count int       // since the start, or since it began again
	start time.Time // of the count
}

// New returns a Log that writes to another: [Most] warnings, and how many there were
// besides, under the text of more. Where every is not zero it begins again when that
// long has passed.
func New(log *slog.Logger, more string, every time.Duration) *Log {
	return &Log{log: log, more: more, every: every}
}

// Warn writes a warning, or counts it.
func (l *Log) Warn(message string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.every > 0 && time.Since(l.start) >= l.every {
		l.settle()
		l.start = time.Now()
	}
	if l.count++; l.count <= Most {
		l.log.Warn(message, args...)
	}
}

// End writes how many warnings were only counted, if there were any.
func (l *Log) End(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(args...)
}

func (l *Log) settle(args ...any) {
	if l.count > Most {
		l.log.Warn(l.more, append([]any{"times", l.count - Most}, args...)...)
	}
	l.count = 0
}
