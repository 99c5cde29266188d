package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func waitCall(id int, file string) string {
	return harness.Call(id, "wait", fmt.Sprintf(`{"file":%q}`, file))
}

func TestOlderRevisionsAreServedInSessions(t *testing.T) {
	e := serve(t)
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", newestLegacy} {
		t.Run(revision, func(t *testing.T) {
			c := e.initialize(revision)
			sameJSON(t, c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`).body, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			answer := c.send(harness.Call(2, "echo", `{"n":1.10}`))
			sameJSON(t, answer.body, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"n\":1.10}"}],"isError":false}}`)
			if listed := c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); strings.Contains(listed.body, "resultType") || !strings.Contains(listed.body, `"name":"wait"`) {
				t.Errorf("tools/list: %s", listed.body)
			}
			if answer := c.send(harness.Call(2, "gone", `{}`)); answer.status != 200 || !strings.Contains(answer.body, `"code":-32602`) {
				t.Errorf("an unknown tool: %+v", answer)
			}
			if answer := c.send(`{"jsonrpc":"2.0","id":9,"result":{}}`); answer.status != 202 || answer.body != "" {
				t.Errorf("a response: %+v", answer)
			}
		})
	}
	e.Terminate()
}

func TestAClientThatNamesNoVersionIsServed(t *testing.T) {
	e := serve(t)
	c := e.initialize("2025-03-26")
	answer := e.send(sent{header: map[string]string{"Mcp-Session-Id": c.id}, body: harness.Call(1, "echo", `{}`)})
	if answer.status != 200 {
		t.Errorf("got %+v", answer)
	}
}

func TestASessionIsNamedOrThereIsNone(t *testing.T) {
	e := serve(t)
	c := e.initialize(newestLegacy)
	other := e.initialize(newestLegacy)
	if c.id == other.id || len(c.id) < 20 {
		t.Errorf("the sessions are %q and %q", c.id, other.id)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, tt := range map[string]struct {
		id     string
		status int
	}{"none": {"", 400}, "two": {c.id + "\n" + c.id, 400}, "another": {"XYZ", 404}, "this": {c.id, 200}} {
		answer := e.send(sent{header: map[string]string{"Mcp-Session-Id": tt.id}, body: ping})
		if answer.status != tt.status || !strings.Contains(answer.body, `"id":1,`) {
			t.Errorf("%s: %+v", name, answer)
		}
		if tt.status == 400 && (!strings.Contains(answer.body, "initialize") || !strings.Contains(answer.body, "_meta")) {
			t.Errorf("%s: it is not told of either era: %s", name, answer.body)
		}
	}
	for _, body := range []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`} {
		if answer := e.send(sent{body: body}); answer.status != 400 || !strings.Contains(answer.body, `"id":null,`) {
			t.Errorf("%s, which is no request, is answered %+v", body, answer)
		}
	}
	if answer := e.send(sent{method: http.MethodDelete, header: c.header()}); answer.status != 204 {
		t.Errorf("DELETE: %+v", answer)
	}
	if answer := c.send(ping); answer.status != 404 || !strings.Contains(answer.body, `"id":1,`) || !strings.Contains(answer.body, "initialize") {
		t.Errorf("after DELETE: %+v", answer)
	}
	if answer := other.send(ping); answer.status != 200 {
		t.Errorf("another session: %+v", answer)
	}
}

func TestDeleteEndsTheCallsInFlightAtOnce(t *testing.T) {
	e := serve(t)
	c := e.initialize(newestLegacy)
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	if answer := e.send(sent{method: http.MethodDelete, header: c.header()}); answer.status != 204 {
		t.Fatalf("DELETE: %+v", answer)
	}
	for {
		f, ok := r.next()
		if !ok {
			break
		}
		if f.data != "" {
			t.Errorf("the call was answered: %+v", f)
		}
	}
	harness.Eventually(t, 10*time.Second, "the call has ended", func() bool { return !runs(t, file) })
	if !exists(file) {
		t.Error("the call went on to its end")
	}
	e.Terminate()
}

func TestACancelledRequestOfASessionIsNotAnswered(t *testing.T) {
	e := serve(t)
	c := e.initialize(newestLegacy)
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	if answer := c.send(waitCall(1, file)); !strings.Contains(answer.body, `-32600`) || strings.Contains(answer.body, `"id":1`) {
		t.Errorf("the id of a request in flight: %+v", answer)
	}
	if answer := c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); answer.status != 202 {
		t.Errorf("cancelled: %+v", answer)
	}
	for {
		f, ok := r.next()
		if !ok {
			break
		}
		if f.data != "" {
			t.Errorf("it was answered: %+v", f)
		}
	}
	if answer := c.send(harness.Call(1, "echo", `{}`)); answer.status != 200 {
		t.Errorf("the id again: %+v", answer)
	}
}

func TestAClientThatComesBackGetsTheRest(t *testing.T) {
	e := serve(t)
	c := e.initialize(newestLegacy)
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(7, file)})
	first, ok := r.next()
	if !ok || first.id == "" || first.retry == "" || first.data != "" {
		t.Fatalf("the stream begins with %+v", first)
	}
	awaitFile(t, file)
	r.leave()
	header := c.header()
	header["Last-Event-ID"] = first.id
	again := e.open(sent{method: http.MethodGet, header: header})
	remove(t, file)
	last := again.message()
	if !strings.Contains(last.data, `"id":7`) || !strings.Contains(last.data, "waited") {
		t.Errorf("got %+v", last)
	}
	if f, ok := again.next(); ok {
		t.Errorf("behind the response comes %+v", f)
	}
	// Once more, from the same place.
	if once := e.open(sent{method: http.MethodGet, header: header}).message(); once.data != last.data {
		t.Errorf("again: %+v", once)
	}
	for _, id := range []string{"99-0", "x", "-1-0", "1", "1-9999999999"} {
		header["Last-Event-ID"] = id
		if answer := e.send(sent{method: http.MethodGet, header: header}); answer.status != 400 {
			t.Errorf("Last-Event-ID %s: %+v", id, answer)
		}
	}
}

// However much is told meanwhile, and nobody reads.
func TestAClientThatComesBackFindsWhatItIsAsked(t *testing.T) {
	e := serveScript(t, `
tool_ask() {
  local text i
  text=$(head -c 30000 /dev/zero | tr '\0' a)
  mcp_elicit_confirm 'Really?' &
  until [[ -e $arg_file ]]; do sleep 0.02; done
  for ((i = 0; i < 60; i++)); do mcp_log_info "$text"; done
  rm -- "$arg_file"
  wait
}`, `{"tools":[{"name":"ask","inputSchema":{"type":"object","properties":{"file":{"type":"string"}}}}]}`, "{}")
	answer := e.send(sent{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`})
	c := &client{e, answer.header.Get("Mcp-Session-Id"), newestLegacy}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`)
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: harness.Call(3, "ask", fmt.Sprintf(`{"file":%q}`, file))})
	first, _ := r.next()
	if asked := r.message(); !strings.Contains(asked.data, "elicitation/create") {
		t.Fatalf("got %+v", asked)
	}
	r.leave()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.Deadline, "the call has told much", func() bool { return !exists(file) })
	header := c.header()
	header["Last-Event-ID"] = first.id
	again := e.open(sent{method: http.MethodGet, header: header})
	for {
		var m struct{ ID, Method string }
		f := again.message()
		if strings.Contains(f.data, `"id":3,"result"`) {
			break
		}
		if err := json.Unmarshal([]byte(f.data), &m); err != nil {
			t.Fatalf("%v: %.200s", err, f.data)
		}
		if m.Method == "elicitation/create" {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"confirmed":true}}}`, m.ID))
		}
	}
	e.Terminate()
}

func TestACallGoesOnWithoutItsClientInASession(t *testing.T) {
	e := serve(t)
	c := e.initialize("2025-06-18")
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	r.leave()
	done := filepath.Join(t.TempDir(), "g")
	r = c.open(sent{header: c.header(), body: waitCall(2, done)})
	awaitFile(t, done)
	if !runs(t, file) {
		t.Error("the call has ended with its connection")
	}
	remove(t, file)
	remove(t, done)
	if f := r.message(); f.id == "" || !strings.Contains(f.data, "waited") {
		t.Errorf("got %+v", f)
	}
}

func TestTheUnaskedStreamHasOneReader(t *testing.T) {
	e := serve(t, "--keep-alive", "100ms")
	c := e.initialize(newestLegacy)
	first := e.open(sent{method: http.MethodGet, header: c.header()})
	if f, ok := first.next(); !ok || f.id == "" {
		t.Fatalf("got %+v", f)
	}
	second := e.open(sent{method: http.MethodGet, header: c.header()})
	for {
		if _, ok := first.next(); !ok {
			break
		}
	}
	for {
		f, ok := second.next()
		if !ok {
			t.Fatal("the second reader's stream has ended")
		}
		if f.comment != "" {
			break
		}
	}
	header := c.header()
	header["Accept"] = "application/json"
	if answer := e.send(sent{method: http.MethodGet, header: header}); answer.status != 406 {
		t.Errorf("got %+v", answer)
	}
}

func TestBatchesAreOfTheirRevisionAlone(t *testing.T) {
	e := serve(t)
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"nope"},5,{"jsonrpc":"2.0","id":3,"method":"initialize"}]`
	c := e.initialize("2025-03-26")
	answer := c.send(batch)
	if answer.status != 200 || !strings.HasPrefix(answer.body, "[{") {
		t.Fatalf("got %+v", answer)
	}
	for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `"id":"b","error":{"code":-32601`, `"id":null,"error":{"code":-32600`, `"id":3,"error":{"code":-32600`} {
		if !strings.Contains(answer.body, want) {
			t.Errorf("%s is not in %s", want, answer.body)
		}
	}
	if answer := c.send(`[{"jsonrpc":"2.0","method":"notifications/x"}]`); answer.status != 202 || answer.body != "" {
		t.Errorf("a batch that asks nothing: %+v", answer)
	}
	if answer := c.send(`[]`); answer.status != 400 {
		t.Errorf("an empty batch: %+v", answer)
	}
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: `[` + waitCall(1, file) + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`})
	if f := r.message(); !strings.Contains(f.data, `"id":2`) {
		t.Errorf("got %+v", f)
	}
	awaitFile(t, file)
	remove(t, file)
	if f := r.message(); !strings.Contains(f.data, `"id":1`) {
		t.Errorf("got %+v", f)
	}
	if answer := e.initialize("2025-06-18").send(batch); answer.status != 400 {
		t.Errorf("in another revision: %+v", answer)
	}
}

func TestSessionsThatNobodyUsesEnd(t *testing.T) {
	e := serve(t, "--session-timeout", "200ms")
	c := e.initialize(newestLegacy)
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	idle := e.initialize(newestLegacy)
	harness.Eventually(t, harness.Deadline, "the idle session has ended", func() bool {
		resp, err := http.DefaultClient.Do(sent{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": idle.id, "Accept": "application/json"}}.request(t.Context(), e))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		// 406 while it is there; to ask does not count as long as it is refused.
		time.Sleep(300 * time.Millisecond)
		return resp.StatusCode == 406 && e.send(sent{header: idle.header(), body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}).status == 404
	})
	remove(t, file)
	if f := r.message(); !strings.Contains(f.data, "waited") {
		t.Errorf("a session with a call in flight: %+v", f)
	}
}

func TestTheSessionIdleForLongestMakesRoom(t *testing.T) {
	e := serve(t, "--max-sessions", "3")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	file := filepath.Join(t.TempDir(), "f")
	busy := e.initialize(newestLegacy)
	r := busy.open(sent{header: busy.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	oldest, kept := e.initialize(newestLegacy), e.initialize(newestLegacy)
	for range 20 {
		e.initialize(newestLegacy)
		if answer := kept.send(ping); answer.status != 200 {
			t.Fatalf("a session in use: %+v", answer)
		}
	}
	if answer := oldest.send(ping); answer.status != 404 {
		t.Errorf("the oldest: %+v", answer)
	}
	remove(t, file)
	if f := r.message(); !strings.Contains(f.data, "waited") {
		t.Errorf("a session with a call in flight: %+v", f)
	}
}
