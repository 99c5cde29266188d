package talkback

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/sparing"
)

// Of the channel that is no call's: every process of a server's finds it there,
// and this is the token of what is said in it.
const (
	UpdatesVariable = "CONCH_UPDATES"
	updatesToken    = "server"
)

// Updates is the channel of a [Sender] outside of calls; ok is false where there
// is none.
func Updates() (s Sender, ok bool) {
	s = Sender{path: os.Getenv(UpdatesVariable), token: updatesToken}
	return s, isFIFO(s.path)
}

func isFIFO(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// A Listener is a channel that is no call's, and is there as long as the server.
type Listener struct {
	path  string
	in    *os.File
	ended chan struct{} // closed when nothing is heard any more; nil before anything is
}

// NewListener makes the channel, a FIFO at path. What is said before anybody
// listens waits there.
func NewListener(path string) (*Listener, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make the FIFO %s: %w", path, err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return &Listener{path: path, in: os.NewFile(uintptr(fd), path)}, nil
}

// Path is where the channel is.
func (l *Listener) Path() string { return l.path }

// Listen has hear called with each message, one by one, until the listener is
// closed.
func (l *Listener) Listen(hear func(Message), log *slog.Logger) {
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		r := NewReader(context.Background(), updatesToken, l.path, hear, log)
		// It is for as long as the server runs.
		r.log = sparing.New(log, ignoredMore, time.Minute)
		defer r.End()
		_, _ = io.Copy(r, l.in)
	}()
}

// Close ends it. A nil listener is closed.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	l.in.Close()
	if l.ended != nil {
		<-l.ended
	}
}
