package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Script is what a server script left behind in the shell that sourced it.
type Script struct {
	Bash      string            // the shell's version, as $BASH_VERSION
	Variables map[string]string // those that say where the server's files are; empty and unset are the same
	Functions map[string]bool   // every function there is
	Set       map[string]bool   // those of Options.Wanted that are set
}

// failure is a script that could not be sourced.
type failure struct {
	status, line int  // line is 0 where Bash did not tell
	read         bool // it was read to its end, or as far as its syntax is right
}

func (f *failure) Error() string {
	var at string
	if f.line > 0 {
		at = fmt.Sprintf("line %d: ", f.line)
	}
	switch {
	case !f.read:
		return fmt.Sprintf("%sit ended the shell with status %d while it was sourced; it has to come to its end (no exit, nor set -e before what may fail)", at, f.status)
	case f.status == syntaxError:
		return fmt.Sprintf("%sit has a syntax error, or its last command failed with status %d", at, f.status)
	case f.status == notExecutable:
		return fmt.Sprintf("%sits last command failed with status %d: it may not be executed, or is no program and no script of Bash's", at, f.status)
	case f.status == notFound:
		return fmt.Sprintf("%sits last command failed with status %d: there is no such command (install it, or write where it is)", at, f.status)
	}
	return fmt.Sprintf("%sits last command failed with status %d; a script must end with status 0 (a test at its end: write if … fi)", at, f.status)
}

// What Bash returns for a file that it cannot parse, and for a command that it cannot
// run.
const (
	syntaxError   = 2
	notExecutable = 126
	notFound      = 127
)

// report is what a root shell has to tell, on its way.
type report struct {
	in   *os.File
	hold *os.File // keeps reads from ending before the shell has begun to write
	path string
}

func newReport(path string) (*report, error) {
	f, err := makeFIFO(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	in := os.NewFile(uintptr(f.fd), path)
	hold, err := openFIFO(path, unix.O_WRONLY)
	if err != nil {
		in.Close()
		os.Remove(path)
		return nil, err
	}
	return &report{in, hold, path}, nil
}

func (r *report) close() {
	r.in.Close()
	r.hold.Close()
	os.Remove(r.path)
}

// read waits for the report, for the end of the shell, or for that of ctx.
func (r *report) read(ctx context.Context, done <-chan struct{}) (*Script, error) {
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-done:
			// What it has written is read all the same.
			r.hold.Close()
		case <-ctx.Done():
			_ = r.in.SetReadDeadline(time.Unix(1, 0))
		}
	}()
	script, err := readReport(r.in)
	cancel()
	<-finished
	return script, err
}

// readReport reads what the runtime's _conch_report or _conch_on_exit wrote:
// fields that end in NUL.
func readReport(r io.Reader) (*Script, error) {
	in := bufio.NewReader(r)
	field := func() (string, error) {
		s, err := in.ReadString(0)
		return strings.TrimSuffix(s, "\x00"), err
	}
	kind, err := field()
	if err != nil {
		return nil, fmt.Errorf("read the shell's report: %w", err)
	}
	switch kind {
	case "failed":
		status, _ := field()
		line, _ := field()
		read, _ := field()
		return nil, newFailure(status, line, read)
	case "ready":
		return readReady(field)
	}
	return nil, errors.New("the shell's report is not one")
}

func newFailure(status, line, read string) *failure {
	f := failure{read: read != ""}
	f.status, _ = strconv.Atoi(status)
	f.line, _ = strconv.Atoi(line)
	return &f
}

func readReady(field func() (string, error)) (*Script, error) {
	s := &Script{Variables: map[string]string{}, Functions: map[string]bool{}, Set: map[string]bool{}}
	var err error
	if s.Bash, err = field(); err != nil {
		return nil, err
	}
	for {
		f, err := field()
		if err != nil {
			return nil, fmt.Errorf("read the shell's report: %w", err)
		}
		if f == "end" {
			return s, nil
		}
		if strings.HasPrefix(f, "declare ") || f == "" {
			s.addFunctions(f)
			continue
		}
		if name, ok := strings.CutPrefix(f, "set "); ok {
			s.Set[name] = true
			continue
		}
		name, value, _ := strings.Cut(f, "=")
		s.Variables[name] = value
	}
}

// addFunctions takes the output of declare -F: "declare -f name" a line.
func (s *Script) addFunctions(list string) {
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) == 3 {
			s.Functions[words[2]] = true
		}
	}
}
