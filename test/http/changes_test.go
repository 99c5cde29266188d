package http_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// offers is an endpoint with a resource and a prompt, and the folder they are in.
func offers(t testing.TB, flags ...string) (*endpoint, string) {
	t.Helper()
	script := harness.Script(t, "resource_row() { [[ $arg_id == 1 ]] || return 3; printf 'row %s' \"$arg_id\"; }\n", `{"tools":[]}`, `{}`)
	dir := filepath.Dir(script)
	write(t, dir, "resources.json", `{"resources":[{"uri":"x://text","name":"text","file":"text.txt"}],"resourceTemplates":[{"uriTemplate":"x://rows/{id}","name":"row"}]}`)
	write(t, dir, "prompts.json", `{"prompts":[{"name":"hello","file":"text.txt"}]}`)
	return servePath(t, script, flags...), dir
}

// write writes a file, whole at any moment.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func listen(id, filter string) sent {
	return modernRequest(id, "subscriptions/listen", `"notifications":`+filter, nil)
}

// hears holds the next message of a stream to a notification with these members.
func (r *response) hears(method, params string) {
	r.t.Helper()
	want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}`, method, params)
	if got := r.message().data; got != want {
		r.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func under(id string) string { return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` }

func TestResourcesAreReadWithTheStatusOfTheTable(t *testing.T) {
	e, _ := offers(t)
	read := func(uri string) sent {
		return modernRequest("1", "resources/read", fmt.Sprintf(`"uri":%q`, uri), map[string]string{"Mcp-Name": uri})
	}
	if answer := e.send(read("x://rows/1")); answer.status != 200 || !strings.Contains(answer.body, `"text":"row 1"`) || !strings.Contains(answer.body, `"ttlMs":0,"cacheScope":"public"`) {
		t.Errorf("got %+v", answer)
	}
	if answer := e.send(read("x://rows/2")); answer.status != 400 || !strings.Contains(answer.body, `"code":-32602`) || !strings.Contains(answer.body, `"data":{"uri":"x://rows/2"}`) {
		t.Errorf("what is not there: %+v", answer)
	}
	c := e.initialize(newestLegacy)
	if answer := c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://rows/2"}}`); answer.status != 200 || !strings.Contains(answer.body, `"code":-32002`) {
		t.Errorf("the same in a session: %+v", answer)
	}
	e.Terminate()
}

func TestWhoListensHearsOnItsOwnStream(t *testing.T) {
	e, dir := offers(t)
	const big = "12345678901234567890"
	lists := e.open(listen(big, `{"promptsListChanged":true,"resourcesListChanged":true}`))
	if kind := lists.Header.Get("Content-Type"); lists.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("status %d, %s", lists.StatusCode, kind)
	}
	lists.hears("subscriptions/acknowledged", under(big)+`,"notifications":{"promptsListChanged":true,"resourcesListChanged":true}`)
	text := e.open(listen(`"t"`, `{"resourceSubscriptions":["x://text","x://gone"]}`))
	text.hears("subscriptions/acknowledged", under(`"t"`)+`,"notifications":{"resourceSubscriptions":["x://text"]}`)
	write(t, dir, "text.txt", "new")
	text.hears("resources/updated", under(`"t"`)+`,"uri":"x://text"`)
	write(t, dir, "prompts.json", `{"prompts":[]}`)
	lists.hears("prompts/list_changed", under(big))
	text.leave()
	write(t, dir, "resources.json", `{"resources":[]}`)
	lists.hears("resources/list_changed", under(big))
	if answer := e.post("1", "subscriptions/listen", `"notifications":[]`, nil); answer.status != 400 || !strings.Contains(answer.body, `"code":-32602`) {
		t.Errorf("what is no filter: %+v", answer)
	}
	lists.leave()
	e.Terminate()
}

func TestAServerThatEndsTellsWhoListens(t *testing.T) {
	e, _ := offers(t)
	r := e.open(listen("7", `{"toolsListChanged":true}`))
	r.hears("subscriptions/acknowledged", under("7")+`,"notifications":{"toolsListChanged":true}`)
	if err := e.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if f := r.message(); !strings.HasPrefix(f.data, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{`) || !strings.Contains(f.data, `"io.modelcontextprotocol/subscriptionId":7}`) {
		t.Errorf("got %s", f.data)
	}
	if f, more := r.next(); more {
		t.Errorf("more comes: %+v", f)
	}
	if state := e.Wait(); state.ExitCode() != 0 {
		t.Errorf("ended with %v", state)
	}
}

func TestWhoListensKeepsNobodyFromBeingAnswered(t *testing.T) {
	e, _ := offers(t, "--max-requests", "2", "--max-sessions", "4")
	for i := range 4 {
		id := fmt.Sprint(i)
		e.open(listen(id, `{}`)).hears("subscriptions/acknowledged", under(id)+`,"notifications":{}`)
	}
	if answer := e.send(listen("9", `{}`)); !strings.Contains(answer.body, `"id":9,"error":{"code":-32603`) || !strings.Contains(answer.body, "--max-sessions") {
		t.Errorf("one more: %+v", answer)
	}
	if answer := e.post("1", "prompts/list", "", nil); answer.status != 200 {
		t.Errorf("got %+v", answer)
	}
}

func TestSessionsHearOfChangesUnasked(t *testing.T) {
	e, dir := offers(t)
	c := e.initialize(newestLegacy)
	subscribe := `{"jsonrpc":"2.0","id":1,"method":"resources/%s","params":{"uri":"x://text"}}`
	sameJSON(t, c.send(fmt.Sprintf(subscribe, "subscribe")).body, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	stream := c.open(sent{method: http.MethodGet, header: c.header()})
	write(t, dir, "text.txt", "new")
	stream.hears("resources/updated", `"uri":"x://text"`)
	write(t, dir, "prompts.json", `{"prompts":[]}`)
	stream.hears("prompts/list_changed", "")
	sameJSON(t, c.send(fmt.Sprintf(subscribe, "unsubscribe")).body, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	write(t, dir, "text.txt", "newer")
	write(t, dir, "resources.json", `{"resources":[]}`)
	stream.hears("resources/list_changed", "")
	if answer := c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`); !strings.Contains(answer.body, "-32601") {
		t.Errorf("what is of the other era: %+v", answer)
	}
	harness.Eventually(t, harness.Deadline, "the session ends", func() bool {
		return e.send(sent{method: http.MethodDelete, header: c.header()}).status == 204
	})
	if _, more := stream.next(); more {
		t.Error("the stream goes on after the session")
	}
	e.Terminate()
}
