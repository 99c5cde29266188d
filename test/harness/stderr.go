package harness

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// stderr keeps what is written into a pipe.
//
// Not a file, which a server that opens its /dev/stderr would cut off; and not a
// copy that lags behind, for a test is to find what was said before an answer
// once it has the answer.
type stderr struct {
	pipe *os.File
	mu   sync.Mutex // held from a read until what was read is in text
	text []byte
}

// newStderr returns a stderr, and the end of its pipe to write into. Close that
// once the process has it.
func newStderr(t testing.TB) (s *stderr, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s = &stderr{pipe: r}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.keep()
	}()
	t.Cleanup(func() {
		r.Close()
		<-ended
	})
	return s, w
}

// keep reads until the pipe's end.
func (s *stderr) keep() {
	conn, err := s.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) (ended bool) { return s.take(fd) })
}

// take reads what is there, and reports whether nothing more can come.
func (s *stderr) take(fd uintptr) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf := make([]byte, 32<<10)
	for {
		n, err := syscall.Read(int(fd), buf)
		switch {
		case n > 0:
			s.text = append(s.text, buf[:n]...)
		case err == syscall.EAGAIN:
			return false
		case err != syscall.EINTR:
			return true
		}
	}
}

// String is all that has been written.
func (s *stderr) String() string {
	if conn, err := s.pipe.SyscallConn(); err == nil {
		// It may be closed, and all that there was is read.
		_ = conn.Control(func(fd uintptr) { s.take(fd) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}
