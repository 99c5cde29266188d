package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endpoint is a server that is spoken to over HTTP, in the stateless era.
type endpoint struct {
	name, url  string
	tool, args string
	requests   int                        // of each kind in a round
	rates      map[string]map[int]samples // by what is asked and by concurrency
	client     *http.Client
	cmd        *exec.Cmd // nil for one that was running
}

func newEndpoint(name, url string) *endpoint {
	e := &endpoint{
		name: name, url: url, requests: *load, rates: map[string]map[int]samples{},
		tool: cmp.Or(os.Getenv("PEER_TOOL"), "greet"), args: cmp.Or(os.Getenv("PEER_ARGS"), `{"name":"World"}`),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute},
	}
	for _, what := range asked {
		e.rates[what] = map[int]samples{}
	}
	return e
}

const (
	askList = "tools/list"
	askCall = "tools/call"
)

var asked = []string{askList, askCall}

// startEndpoint starts conch on a port of its own.
func startEndpoint(script string) (*endpoint, error) {
	e := newEndpoint("conch over HTTP", "")
	e.tool, e.args = "greet", `{"name":"World"}`
	e.cmd = exec.Command(*conchPath, "serve", "--http=127.0.0.1:0", "--concurrency", "8", script)
	stderr, err := e.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	e.url, err = listening(stderr)
	return e, err
}

// startEndpoints starts conch, and takes the peer at $PEER_URL.
func startEndpoints(script string) ([]*endpoint, error) {
	e, err := startEndpoint(script)
	if err != nil {
		return nil, err
	}
	endpoints := []*endpoint{e}
	if url := os.Getenv("PEER_URL"); url != "" {
		peer := newEndpoint("the peer over HTTP", url)
		peer.requests = *peerCalls
		endpoints = append(endpoints, peer)
	}
	return endpoints, nil
}

var listeningLine = regexp.MustCompile(`msg=listening address=(\S+) path=(\S+)`)

// listening reads the log until it says where the server listens, and throws the
// rest away.
func listening(log io.Reader) (url string, err error) {
	r := bufio.NewReader(log)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("wait for the server to listen: %w", err)
		}
		if found := listeningLine.FindStringSubmatch(line); found != nil {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return "http://" + found[1] + found[2], nil
		}
	}
}

func (e *endpoint) stop() {
	if e.cmd != nil {
		_ = e.cmd.Process.Signal(syscall.SIGTERM)
		_ = e.cmd.Wait()
	}
}

// ask sends one request and reads the answer, which must be a success.
func (e *endpoint) ask(what string) error {
	params := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if what == askCall {
		params += fmt.Sprintf(`,"name":%q,"arguments":%s`, e.tool, e.args)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, what, params)
	r, err := http.NewRequest(http.MethodPost, e.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": what,
	} {
		r.Header.Set(name, value)
	}
	if what == askCall {
		r.Header.Set("Mcp-Name", e.tool)
	}
	resp, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(`"result"`)) || bytes.Contains(answer, []byte(`"isError":true`)) {
		return fmt.Errorf("not a result: %d %s", resp.StatusCode, answer)
	}
	return nil
}

// throughput sends n requests, so many at once, and returns how many a second
// were answered.
func (e *endpoint) throughput(what string, n, atOnce int) (float64, error) {
	start := time.Now()
	var clients sync.WaitGroup
	var failure error
	var failed sync.Once
	for i := range atOnce {
		clients.Go(func() {
			for range share(n, atOnce, i) {
				if err := e.ask(what); err != nil {
					failed.Do(func() { failure = err })
					return
				}
			}
		})
	}
	clients.Wait()
	return float64(n) / time.Since(start).Seconds(), failure
}

// share is how many of n the i-th of so many does.
func share(n, of, i int) int {
	if i < n%of {
		return n/of + 1
	}
	return n / of
}

func (e *endpoint) round(counts bool) error {
	for _, what := range asked {
		for _, n := range concurrencies {
			rate, err := e.throughput(what, e.requests, n)
			if err != nil {
				return err
			}
			s := e.rates[what][n]
			s.add(rate, counts)
			e.rates[what][n] = s
		}
	}
	return nil
}

// idleSessions is how many sessions are opened to see what one takes.
const idleSessions = 500

// sessionKB opens sessions of a server that has done nothing yet, and returns
// what it holds for one that nobody uses, garbage included.
func sessionKB(script string) (float64, error) {
	e, err := startEndpoint(script)
	if err != nil {
		return 0, err
	}
	defer e.stop()
	before, err := residentMB(e.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	for range idleSessions {
		r, err := http.NewRequest(http.MethodPost, e.url, strings.NewReader(hello))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := e.client.Do(r)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.Header.Get("Mcp-Session-Id") == "" {
			return 0, fmt.Errorf("there was no session: %s", resp.Status)
		}
	}
	after, err := residentMB(e.cmd.Process.Pid)
	return (after - before) * 1000 / idleSessions, err
}
