package harness

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An HTTPServer is a running conch serve --http.
type HTTPServer struct {
	*Server
	Address string // host and port
}

// listening is what a server that listens says.
var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// ServeHTTP starts "conch serve" with args on a port that is free, and waits
// until it listens.
func ServeHTTP(t testing.TB, args ...string) *HTTPServer {
	t.Helper()
	s := Serve(t, append([]string{"--http=127.0.0.1:0"}, args...)...)
	line := s.Said(listening)
	return &HTTPServer{Server: s, Address: line[1]}
}

// URL is the endpoint.
func (s *HTTPServer) URL() string { return "http://" + s.Address + "/mcp" }

// Said waits until the server writes something to standard error, and returns
// it with its submatches.
func (s *Server) Said(what *regexp.Regexp) []string {
	s.t.Helper()
	deadline := time.After(Deadline)
	for {
		s.mu.Lock()
		text, more := s.stderr.String(), s.more
		s.mu.Unlock()
		// What is behind the last newline may go on.
		if found := what.FindStringSubmatch(text[:strings.LastIndex(text, "\n")+1]); found != nil {
			return found
		}
		select {
		case <-more:
		case <-s.exited:
			s.t.Fatalf("the server has ended without saying %q; it said:\n%s", what, s.Stderr())
		case <-deadline:
			s.t.Fatalf("not within %v: the server says %q; it said:\n%s", Deadline, what, s.Stderr())
		}
	}
}

// Terminate ends the server as whoever runs servers does. It must exit with
// status 0 and leave nothing.
func (s *HTTPServer) Terminate() {
	s.t.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if state := s.Wait(); state.ExitCode() != 0 {
		s.t.Errorf("the server ended with %v", state)
	}
	s.Left(s.t)
}

// Left fails the test for every process and file of the server's that stays.
func (s *Server) Left(t testing.TB) {
	t.Helper()
	Eventually(t, Deadline, "the server's processes are gone", func() bool { return len(s.Session()) == 0 })
	if files := s.Files(); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
}
