package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/process"
)

// A Prober starts servers, one after the other, and asks what they offer.
type Prober struct {
	Lifeline *process.Lifeline // ends what is left of them, also when this process is killed
	Timeout  time.Duration     // how long a server may take to answer all that is asked
	Version  string            // of this program
}

// leaving is how long a server may take to end once its input has ended, and
// again once it is asked to.
const leaving = 2 * time.Second

// lastWords is how long the rest of what an ended server has written may take.
const lastWords = 200 * time.Millisecond

// An answer is what came of starting a server.
type answer struct {
	err      error  // why it was not asked to the end; errLate if it took too long
	started  bool   // it is a program that could be started
	ended    string // how it ended before it was told to, "" if it did not
	closed   bool   // its output ended before it did
	lingered bool   // it did not end when its input did

	noise []string // lines on standard output that are no messages
	said  string   // the last of its standard error

	name, version string
	tools         []string
	others        int // resources, their templates and prompts
	took          time.Duration
}

var errLate = errors.New("it took too long")

// session is a server that is running.
type session struct {
	child *process.Child
	group process.Group
	in    *os.File
	out   *messages
	errs  *tail
}

// probe starts a server, and asks it as most clients do. One that refuses to begin
// so is started again, and asked in the way of the newest revision.
func (p Prober) probe(ctx context.Context, l launch) answer {
	a := p.try(ctx, l, message.Revision20251125)
	if refusal(a.err) == nil {
		return a
	}
	if newest := p.try(ctx, l, message.Revision20260728); newest.err == nil {
		return newest
	}
	return a
}

// try starts a server, asks it, and ends it with all that it has started.
func (p Prober) try(ctx context.Context, l launch, revision string) answer {
	start := time.Now()
	s, err := p.start(l)
	if err != nil {
		return answer{err: err}
	}
	a := answer{started: true}
	a.err = p.ask(ctx, s, revision, &a)
	a.took = time.Since(start)
	if a.err != nil {
		// How it ended says more than that it did.
		select {
		case <-s.child.Ended():
		case <-time.After(lastWords):
		}
	}
	select {
	case <-s.child.Ended():
		a.ended = s.child.String()
	default:
		a.closed = s.out.ended()
	}
	patience := leaving
	if ctx.Err() != nil {
		patience = lastWords
	}
	a.lingered = s.end(patience)
	_ = p.Lifeline.Record(0, 0)
	p.Lifeline.KillOrphans(lastWords)
	a.noise, a.said = s.out.noise(), s.errs.text()
	return a
}

func (p Prober) start(l launch) (_ *session, err error) {
	var pipes [6]*os.File
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeAll(pipes[:])
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	stdin, in, out, stdout, errs, stderr := pipes[0], pipes[1], pipes[2], pipes[3], pipes[4], pipes[5]
	cmd := &exec.Cmd{
		Path: l.file, Args: append([]string{l.command}, l.args...), Env: l.env, Dir: l.dir,
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		// All of its session can be ended with it.
		SysProcAttr: &unix.SysProcAttr{Setsid: true},
	}
	child, err := p.Lifeline.StartChild(cmd)
	closeAll([]*os.File{stdin, stdout, stderr})
	if err != nil {
		closeAll([]*os.File{in, out, errs})
		return nil, err
	}
	s := &session{child: child, group: process.Group(cmd.Process.Pid), in: in, out: newMessages(out), errs: newTail(errs)}
	if err := p.Lifeline.Record(0, s.group); err != nil {
		s.end(0)
		return nil, err
	}
	return s, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// ask does what a client does that has just started a server.
func (p Prober) ask(ctx context.Context, s *session, revision string, a *answer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errLate)
	defer cancel()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	var watch sync.WaitGroup
	// Somebody may hold its output open when it has ended.
	watch.Go(func() {
		select {
		case <-s.child.Ended():
			select {
			case <-time.After(lastWords):
				stop()
			case <-over:
			}
		case <-over:
		}
	})
	defer watch.Wait()
	defer close(over)
	client := mcp.NewClient(&mcp.Implementation{Name: "conch doctor", Version: p.Version}, nil)
	c, err := client.Connect(ctx, &mcp.IOTransport{Reader: s.out, Writer: unclosed{s.in}, MaxLineLength: -1}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		err = a.list(ctx, c)
		// The reader ends with the server's output, which ends with the server.
		stop()
	}
	if err != nil && errors.Is(context.Cause(ctx), errLate) {
		return errLate
	}
	return err
}

// unclosed is a writer whose closing waits: a server whose input has ended does
// what it may, and how it ended would say nothing.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }

// list asks for what the server offers.
func (a *answer) list(ctx context.Context, c *mcp.ClientSession) error {
	begun := c.InitializeResult()
	if begun.ServerInfo != nil {
		a.name, a.version = begun.ServerInfo.Name, begun.ServerInfo.Version
	}
	able := begun.Capabilities
	if able == nil {
		able = &mcp.ServerCapabilities{}
	}
	if able.Tools != nil {
		for tool, err := range c.Tools(ctx, nil) {
			if err != nil {
				return fmt.Errorf("list its tools: %w", err)
			}
			a.tools = append(a.tools, tool.Name)
		}
	}
	if able.Resources != nil {
		for _, err := range c.Resources(ctx, nil) {
			if err != nil {
				return fmt.Errorf("list its resources: %w", err)
			}
			a.others++
		}
		for _, err := range c.ResourceTemplates(ctx, nil) {
			if err != nil {
				// Not every server that has resources has templates.
				break
			}
			a.others++
		}
	}
	if able.Prompts != nil {
		for _, err := range c.Prompts(ctx, nil) {
			if err != nil {
				return fmt.Errorf("list its prompts: %w", err)
			}
			a.others++
		}
	}
	return nil
}

// end ends the server, and whatever of its session is left, where it does not end
// by itself within patience, nor again when it is asked to. It reports whether it
// had to be made to.
func (s *session) end(patience time.Duration) (lingered bool) {
	s.in.Close()
	select {
	case <-s.child.Ended():
	case <-time.After(patience):
		lingered = true
		release := s.group.Terminate()
		select {
		case <-s.child.Ended():
		case <-time.After(patience):
		}
		release()
	}
	process.KillSession(int(s.group))
	<-s.child.Ended()
	s.out.close()
	s.errs.close()
	return lingered
}

// messages hands on what is a message of what a server prints, and keeps the rest.
type messages struct {
	*io.PipeReader
	in   *os.File
	done chan struct{}
	rest []string
}

// mostNoise is more than anybody reads.
const mostNoise = 5

func newMessages(in *os.File) *messages {
	r, w := io.Pipe()
	m := &messages{PipeReader: r, in: in, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		m.sort(w)
	}()
	return m
}

func (m *messages) sort(to *io.PipeWriter) {
	lines := bufio.NewReader(m.in)
	for {
		line, err := readLine(lines)
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0:
		case isMessage(text):
			// Nobody may be reading any more.
			_, _ = to.Write(append(text, '\n'))
		case len(m.rest) < mostNoise:
			m.rest = append(m.rest, clip(string(text)))
		}
		if err != nil {
			_ = to.CloseWithError(io.EOF)
			return
		}
	}
}

// mostLine is more than any server says in a line.
const mostLine = 16 << 20

// readLine reads a line, or the beginning of one that has no end in sight, which is
// all there is then.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > mostLine:
			return line[:mostLine], io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// isMessage reports whether a line is JSON of the protocol's.
func isMessage(line []byte) bool {
	if !json.Valid(line) {
		return false
	}
	var one struct {
		JSONRPC string `json:"jsonrpc"`
	}
	return line[0] == '[' || json.Unmarshal(line, &one) == nil && one.JSONRPC == "2.0"
}

func clip(text string) string {
	const most = 120
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// close ends the reading. Somebody who got away may hold the pipe, and is not
// waited for.
func (m *messages) close() {
	m.PipeReader.Close()
	hurry(m.in)
	<-m.done
	m.in.Close()
}

// ended reports whether there is nothing more to read.
func (m *messages) ended() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// noise is what was no message. The reading must have ended.
func (m *messages) noise() []string { return m.rest }

// hurry has what is in a pipe be read, and no more.
func hurry(pipe *os.File) {
	if err := pipe.SetReadDeadline(time.Now().Add(lastWords)); err != nil {
		pipe.Close()
	}
}

// tail keeps the last of what comes out of a pipe.
type tail struct {
	in   *os.File
	kept []byte
	done chan struct{}
}

const mostSaid = 32 << 10

func newTail(in *os.File) *tail {
	t := &tail{in: in, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		buf := make([]byte, 8<<10)
		for {
			n, err := t.in.Read(buf)
			t.kept = append(t.kept, buf[:n]...)
			t.kept = t.kept[max(0, len(t.kept)-mostSaid):]
			if err != nil {
				return
			}
		}
	}()
	return t
}

func (t *tail) close() {
	hurry(t.in)
	<-t.done
	t.in.Close()
}

// text is what was kept. The reading must have ended.
func (t *tail) text() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }

// refusal is what a server has answered with instead; nil if it has not.
func refusal(err error) *jsonrpc.Error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
