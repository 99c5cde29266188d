package httpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// maxOneBody is how large a body may be in what follows.
const maxOneBody = 1000

// oneServer serves an endpoint whose every tool answers the text of its
// arguments.
func oneServer(t testing.TB) *Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	endpoint, err := New(Options{
		Path: "/mcp", Server: mcp.NewServer(&mcp.Implementation{Name: "one", Version: "1"}, nil),
		Supported: func() []string { return []string{message.Revision20260728} },
		CallTool: func(_ context.Context, c engine.ToolCall) (json.RawMessage, error) {
			return fmt.Appendf(nil, `{"arguments":%s}`, message.Member(c.Params, "arguments")), nil
		},
		CheckParams:   func(string, json.RawMessage, http.Header) string { return "" },
		ServerBashSDK: true, Legacy: true,
		MaxRequests: 1, MaxBody: maxOneBody, MaxBodies: maxOneBody, MaxAnswers: 1 << 20, KeepAlive: time.Minute,
		SessionTimeout: time.Minute, MaxSessions: 1, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return NewServer(ServerOptions{Endpoint: endpoint, ReadTimeout: time.Minute, Log: log})
}

// oneCall is a request with a body, and more header lines.
func oneCall(body string, length any, lines ...string) string {
	header := append([]string{
		"POST /mcp HTTP/1.1", "Host: x", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: t",
		fmt.Sprintf("Content-Length: %v", length),
	}, lines...)
	return strings.Join(header, "\r\n") + "\r\n\r\n" + body
}

const oneBody = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"é"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`

func TestARequestInAPipeIsAnswered(t *testing.T) {
	good := oneCall(oneBody, len(oneBody))
	chunked := strings.Replace(oneCall("", 0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
	for _, tt := range []struct {
		name, in string
		status   int
		want     string
	}{
		{"a whole request", good, 200, `"a":"é"`},
		{"lines that end in line feeds alone", strings.ReplaceAll(good, "\r\n", "\n"), 200, `"a":"é"`},
		{"spaces before and behind a value", strings.Replace(good, "Mcp-Name: t", "Mcp-Name:  \t t  ", 1), 200, `"a":"é"`},
		{"a body in chunks", chunked + fmt.Sprintf("5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", oneBody[:5], len(oneBody)-5, oneBody[5:]), 200, `"a":"é"`},
		{"another request behind it", good + good, 200, `"a":"é"`},
		{"garbage behind it", good + "garbage", 200, `"a":"é"`},
		{"a body that ends early", oneCall(oneBody, len(oneBody)+1), 400, "not whole"},
		{"a chunk that ends early", chunked + "ff\r\n{", 400, "not whole"},
		{"a chunk that is none", chunked + "x\r\n", 400, "not whole"},
		{"a header that ends early", good[:40], 400, "400 Bad Request"},
		{"a length that is none", oneCall(oneBody, "x[$(id)]"), 400, "400 Bad Request"},
		{"a negative length", oneCall(oneBody, -1), 400, "400 Bad Request"},
		{"two lengths", oneCall(oneBody, len(oneBody), "Content-Length: 5"), 400, "400 Bad Request"},
		{"two names", oneCall(oneBody, len(oneBody), "Mcp-Name: t"), 400, "-32020"},
		{"no HTTP", "garbage\r\n\r\n", 400, "400 Bad Request"},
		{"no Host", strings.Replace(good, "Host: x\r\n", "", 1), 400, "missing required Host header"},
		{"a body as large as it may be", oneCall(oneBody+strings.Repeat(" ", maxOneBody-len(oneBody)), maxOneBody), 200, `"a":"é"`},
		{"a larger body", oneCall(strings.Repeat(" ", maxOneBody+1), maxOneBody+1), 413, "--max-body"},
		{"a body said to be huge", oneCall("{", 1<<60), 413, "--max-body"},
		{"a huge header", oneCall(oneBody, len(oneBody), "X: "+strings.Repeat("x", 2*maxHeader)), 431, "431"},
		{"a huge line", strings.Repeat("x", 2*maxHeader), 431, "431"},
		{"GET", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", 405, "GET"},
		{"another path", "POST /x HTTP/1.1\r\nHost: x\r\n\r\n", 404, "/mcp"},
		{"an empty body", oneCall("", 0), 400, "-32700"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := oneServer(t).ServeOne(t.Context(), strings.NewReader(tt.in), &out); err != nil {
				t.Fatal(err)
			}
			status, body, rest := oneAnswer(t, &out)
			if status != tt.status || !strings.Contains(body, tt.want) || rest != "" {
				t.Errorf("%d, %q, and behind it %q; want %d, %q", status, body, rest, tt.status, tt.want)
			}
		})
	}
}

// oneAnswer reads what was answered, and what follows it.
func oneAnswer(t *testing.T, out io.Reader) (status int, body, rest string) {
	t.Helper()
	r := bufio.NewReader(out)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	behind, _ := io.ReadAll(r)
	return resp.StatusCode, string(text), string(behind)
}

func TestAnEmptyPipeIsAnsweredNothing(t *testing.T) {
	var out bytes.Buffer
	if err := oneServer(t).ServeOne(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, &out)
	}
}

// A client that keeps its pipe open, behind its request, is answered all the same;
// so is one that never sends the rest, once its time is over.
func TestAPipeMayStayOpen(t *testing.T) {
	for _, tt := range []struct {
		in     string
		status int
	}{
		{oneCall(oneBody, len(oneBody)), 200},
		{oneCall(oneBody[:9], len(oneBody)), 408},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		defer in.Close()
		if tt.status == 408 {
			// What is in the pipe is read all the same.
			defer time.AfterFunc(100*time.Millisecond, func() { _ = in.SetReadDeadline(time.Unix(1, 0)) }).Stop()
		}
		if _, err := w.WriteString(tt.in); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := oneServer(t).ServeOne(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		if status, body, _ := oneAnswer(t, &out); status != tt.status {
			t.Errorf("%d, %q; want %d", status, body, tt.status)
		}
	}
}

func TestAClientThatDoesNotReadIsAnError(t *testing.T) {
	err := oneServer(t).ServeOne(t.Context(), strings.NewReader(oneCall(oneBody, len(oneBody))), brokenPipe{})
	if !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

// FuzzServeOne has any bytes for a request: it ends, and what is answered is
// HTTP, or nothing.
func FuzzServeOne(f *testing.F) {
	for _, seed := range []string{
		oneCall(oneBody, len(oneBody)), oneCall(oneBody, 5), oneCall(oneBody, len(oneBody), "Expect: 100-continue"), oneCall(oneBody, "x"),
		oneCall("5\r\n{}\r\n0\r\n\r\n", 0, "Transfer-Encoding: chunked"), "GET /mcp?x HTTP/1.0\n\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\nOrigin: y\r\n\r\n{}", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var out bytes.Buffer
		if err := oneServer(t).ServeOne(ctx, bytes.NewReader(in), &out); err != nil || ctx.Err() != nil {
			t.Fatalf("%v, %v", err, ctx.Err())
		}
		if out.Len() > 0 && !strings.HasPrefix(out.String(), "HTTP/1.") {
			t.Errorf("%q is answered %q", in, &out)
		}
	})
}
