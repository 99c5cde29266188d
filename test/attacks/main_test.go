// Package attacks_test is hostile to the HTTP endpoint, from outside. Whatever
// is done to a server, honest clients are served meanwhile, its memory stays
// within bounds, it goes on afterwards, and its end leaves nothing.
//
// Each attack has a count and a time, and stays on this machine.
package attacks_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) {
	// Connections in numbers. The server gets as much.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	os.Exit(harness.Main(m))
}

const (
	// soon is how long an honest client may wait for its answer, on a machine
	// that an attack and other tests keep busy.
	soon = 10 * time.Second
	// bound is how much memory a server may hold that has nothing to keep.
	bound = 256 << 20
)

const script = `
tool_echo() { printf '%s' "$arg_v"; }
# Says who it is, and stays until somebody removes the file.
tool_wait() {
  echo "$BASHPID" >"$arg_file.pid"
  mv "$arg_file.pid" "$arg_file"
  while [[ -e $arg_file ]]; do sleep 0.02; done
  echo "waited"
}
tool_sleep() { sleep "$arg_v"; echo "slept"; }
tool_print() { head -c "$arg_v" /dev/zero | tr '\0' x; }
`

const tools = `{"tools":[
 {"name":"echo","inputSchema":{"type":"object"}},
 {"name":"wait","inputSchema":{"type":"object","properties":{"file":{"type":"string"}},"required":["file"]}},
 {"name":"sleep","inputSchema":{"type":"object"}},
 {"name":"print","inputSchema":{"type":"object"}}]}`

// target is a server under attack.
type target struct {
	*harness.HTTPServer
	t      testing.TB
	base   string // the URL without a path
	token  string // of the honest
	client *http.Client
}

func serve(t testing.TB, flags ...string) *target {
	t.Helper()
	path := harness.Script(t, script, tools, "{}")
	// Large answers are part of the attacks, so none is shortened.
	args := append(append([]string{"--max-text=0B"}, flags...), path)
	e := &target{HTTPServer: harness.ServeHTTP(t, args...), t: t, client: newClient(nil)}
	e.base = "http://" + e.Address
	t.Cleanup(e.client.CloseIdleConnections)
	return e
}

// serveTLS is serve, with a certificate that the target's client trusts.
func serveTLS(t testing.TB, flags ...string) *target {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	harness.WriteCertificate(t, certFile, keyFile, "attacked")
	e := serve(t, append([]string{"--tls-cert", certFile, "--tls-key", keyFile}, flags...)...)
	e.base = "https://" + e.Address
	e.client = newClient(&tls.Config{InsecureSkipVerify: true})
	return e
}

// newClient opens a connection for each request: one that is kept may be closed
// to make room at any time, and an honest client would try again.
func newClient(config *tls.Config) *http.Client {
	return &http.Client{Timeout: 2 * soon, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config}}
}

// got is what came back.
type got struct {
	status int
	header http.Header
	body   string
}

// try sends a request as a client does, with headers beside the usual ones.
func (e *target) try(ctx context.Context, method, body string, header map[string]string) (got, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.base+e.Path, strings.NewReader(body))
	if err != nil {
		return got{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if e.token != "" {
		r.Header.Set("Authorization", "Bearer "+e.token)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := e.client.Do(r)
	if err != nil {
		return got{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(text)}, err
}

func (e *target) post(body string, header map[string]string) got {
	e.t.Helper()
	answer, err := e.try(context.Background(), http.MethodPost, body, header)
	if err != nil {
		e.t.Fatalf("%v\n%s", err, e.Stderr())
	}
	return answer
}

// echo makes a call as a client of the stateless era does.
func (e *target) echo(word string) error {
	header, body := harness.ModernRequest("1", "tools/call", fmt.Sprintf(`"name":"echo","arguments":{"v":%q}`, word))
	answer, err := e.try(context.Background(), http.MethodPost, body, header)
	if err == nil && (answer.status != 200 || !strings.Contains(answer.body, word)) {
		err = fmt.Errorf("echo %s: %+v", word, answer)
	}
	return err
}

// begin opens a session, and returns the headers of what is sent in it.
func (e *target) begin(revision string) (map[string]string, error) {
	answer, err := e.try(context.Background(), http.MethodPost, harness.Initialize(revision), nil)
	if err != nil {
		return nil, err
	}
	id := answer.header.Get("Mcp-Session-Id")
	if answer.status != 200 || id == "" {
		return nil, fmt.Errorf("initialize: %+v", answer)
	}
	return map[string]string{"Mcp-Session-Id": id, "MCP-Protocol-Version": revision}, nil
}

func (e *target) session(revision string) map[string]string {
	e.t.Helper()
	header, err := e.begin(revision)
	if err != nil {
		e.t.Fatal(err)
	}
	return header
}

// meet is what an older client does: begin, call, leave.
func (e *target) meet(word string) error {
	header, err := e.begin(harness.NewestLegacy)
	if err != nil {
		return err
	}
	answer, err := e.try(context.Background(), http.MethodPost, harness.Call(1, "echo", fmt.Sprintf(`{"v":%q}`, word)), header)
	if err == nil && (answer.status != 200 || !strings.Contains(answer.body, word)) {
		err = fmt.Errorf("echo %s in a session: %+v", word, answer)
	}
	if answer.status == 404 {
		return errNoSession
	}
	if err != nil {
		return err
	}
	answer, err = e.try(context.Background(), http.MethodDelete, "", header)
	if answer.status == 404 {
		return errNoSession
	}
	if err == nil && answer.status != 204 {
		err = fmt.Errorf("the end of a session: %+v", answer)
	}
	return err
}

// withstands has the target attacked while honest clients of both eras use it,
// and checks that they are served soon, that its memory stays below most, and
// that it goes on.
func (e *target) withstands(most int64, attack func()) {
	e.t.Helper()
	stop := make(chan struct{})
	var honest sync.WaitGroup
	var served [2]int
	for i, visit := range []func(string) error{e.echo, e.meet} {
		honest.Go(func() { served[i] = e.visit(stop, visit) })
	}
	honest.Go(func() { e.watch(stop, most) })
	func() {
		// Also where the attack fails the test.
		defer honest.Wait()
		defer close(stop)
		attack()
	}()
	if served[0] == 0 || served[1] == 0 {
		e.t.Errorf("honest clients were served %d times during the attack", served)
	}
	if err := e.echo("after"); err != nil {
		e.t.Errorf("after the attack: %v", err)
	}
}

// visit comes again and again, until it is stopped, at least once.
func (e *target) visit(stop chan struct{}, visit func(string) error) (served int) {
	for {
		start := time.Now()
		if err := persist(visit, fmt.Sprintf("word%d", served)); err != nil {
			e.t.Errorf("an honest client: %v", err)
			return served
		}
		if took := time.Since(start); took > 3*soon {
			e.t.Errorf("an honest client waited for %v", took)
		}
		served++
		select {
		case <-stop:
			return served
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// persist tries again what a connection, or a session, was closed under to make
// room for others.
func persist(visit func(string) error, word string) (err error) {
	for range 5 {
		err = visit(word)
		var network net.Error
		lost := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		if !lost && !errors.Is(err, errNoSession) || errors.As(err, &network) && network.Timeout() {
			return err
		}
	}
	return err
}

var errNoSession = errors.New("the session is gone")

func (e *target) watch(stop chan struct{}, most int64) {
	var peak int64
	defer func() {
		e.t.Logf("%d MiB at most", peak>>20)
		if peak > most*harness.MemoryFactor(e.t) {
			e.t.Errorf("the server held %d MiB, more than %d", peak>>20, most*harness.MemoryFactor(e.t)>>20)
		}
	}()
	for {
		peak = max(peak, e.Memory())
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// each calls f for 0 to n-1, as many at once as workers.
func each(n, workers int, f func(i int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}
