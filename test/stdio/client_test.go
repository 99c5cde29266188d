package stdio_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/test/harness"
)

var (
	//go:embed testdata/server.sh
	fixtureScript string
	//go:embed testdata/tools.json
	fixtureTools string
)

// client is a server and what has been asked of it. It judges every line it
// reads.
type client struct {
	t testing.TB
	*connection
}

type connection struct {
	server     *harness.Server
	dir        string // holds the script
	negotiated string // the revision of the latest initialize
	asked      map[string]question
	serial     int
	ended      bool
	passedOver string // a notification that may come at any time, and is none of the test's business
}

// question is a request in flight.
type question struct {
	method string
	modern bool
}

// fixture starts the server of testdata.
func fixture(t testing.TB, flags ...string) *client {
	t.Helper()
	return custom(t, fixtureScript, fixtureTools, `{}`, flags...)
}

// custom starts a server of a test's own. When the test ends its input is
// closed: nothing unread may come then, and it must end with status 0.
func custom(t testing.TB, script, tools, config string, flags ...string) *client {
	t.Helper()
	return serve(t, harness.Script(t, script, tools, config), flags...)
}

func serve(t testing.TB, script string, flags ...string) *client {
	t.Helper()
	c := &client{t, &connection{dir: filepath.Dir(script), asked: map[string]question{}}}
	c.server = harness.Serve(t, append(flags, script)...)
	t.Cleanup(func() {
		if !t.Failed() && !c.ended {
			c.end()
		}
	})
	return c
}

// end closes the input and holds the server to a silent, clean end.
func (c *client) end() {
	c.t.Helper()
	for _, line := range c.rest() {
		if line == c.passedOver {
			continue
		}
		c.t.Errorf("a line nobody expected: %.2000s", line)
	}
	c.exits()
}

// rest closes the input and returns the lines that were still to come, judged.
func (c *client) rest() []string {
	c.t.Helper()
	lines := c.server.Rest()
	for _, line := range lines {
		c.judge(line)
	}
	return lines
}

// exits waits for the server's end, which must be one with status 0.
func (c *client) exits() {
	c.t.Helper()
	c.ended = true
	if state := c.server.Wait(); state.ExitCode() != 0 {
		c.t.Errorf("the server ended with %v; it said:\n%s", state, c.server.Stderr())
	}
}

// send sends one line and keeps in mind what it asks.
func (c *client) send(line string) {
	c.t.Helper()
	c.write(line + "\n")
}

// write sends bytes that hold whole lines, the last newline excepted.
func (c *client) write(text string) {
	c.t.Helper()
	for line := range strings.Lines(text) {
		c.note(json.RawMessage(line))
	}
	c.server.Write(text)
}

// note enters what a line asks among the requests in flight. What is no
// request asks nothing.
func (c *client) note(line json.RawMessage) {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) == nil {
		for _, element := range batch {
			c.note(element)
		}
		return
	}
	var members, params, meta map[string]json.RawMessage
	var method string
	if json.Unmarshal(line, &members) != nil || json.Unmarshal(members["method"], &method) != nil || members["id"] == nil {
		return
	}
	_ = json.Unmarshal(members["params"], &params)
	_ = json.Unmarshal(params["_meta"], &meta)
	_, isModern := meta[metaVersion]
	if _, open := c.asked[string(members["id"])]; !open {
		c.asked[string(members["id"])] = question{method, isModern}
	}
}

// line reads and judges the next line.
func (c *client) line() string {
	c.t.Helper()
	for {
		line := c.server.Line()
		c.judge(line)
		if line != c.passedOver {
			return line
		}
	}
}

// reply reads and judges the next line, which must be one response.
func (c *client) reply() harness.Reply {
	c.t.Helper()
	return harness.ParseReply(c.t, c.line())
}

// replies reads n responses and returns them by their ids.
func (c *client) replies(n int) map[string]harness.Reply {
	c.t.Helper()
	byID := map[string]harness.Reply{}
	for range n {
		r := c.reply()
		if _, twice := byID[string(r.ID)]; twice {
			c.t.Errorf("a second answer to %s: %.2000s", r.ID, r.Raw)
		}
		byID[string(r.ID)] = r
	}
	return byID
}

// ask sends a request and returns its reply.
func (c *client) ask(line string) harness.Reply {
	c.t.Helper()
	c.send(line)
	return c.reply()
}

// silent sends a line that nothing may answer.
func (c *client) silent(line string) {
	c.t.Helper()
	c.send(line)
	c.serial++
	id := fmt.Sprintf(`"silent %d"`, c.serial)
	c.send(request(id, "ping", `{}`))
	r := c.reply()
	for ; string(r.ID) != id; r = c.reply() {
		c.t.Errorf("%.200s is answered: %.2000s", line, r.Raw)
	}
	wantResult(c.t, r, id, `{}`)
}

// alive asks a good request.
func (c *client) alive() {
	c.t.Helper()
	c.serial++
	id := fmt.Sprintf(`"alive %d"`, c.serial)
	wantResult(c.t, c.ask(request(id, "ping", `{}`)), id, `{}`)
}

// works also runs a tool.
func (c *client) works() {
	c.t.Helper()
	c.alive()
	id := fmt.Sprintf(`"works %d"`, c.serial)
	wantText(c.t, c.ask(request(id, "tools/call", `{"name":"echo","arguments":{"n":1}}`)), id, `{"n":1}`)
}

// initialize negotiates a revision and returns the whole result.
func (c *client) initialize(revision string) harness.Reply {
	c.t.Helper()
	c.serial++
	r := c.ask(initialize(fmt.Sprint(c.serial), revision))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

// in is the same client, whose judgements count for a subtest.
func (c *client) in(t testing.TB) *client {
	return &client{t, c.connection}
}

// absent holds the server to not having made a file.
func (c *client) absent(name string) {
	c.t.Helper()
	if _, err := os.Stat(c.path(name)); err == nil {
		c.t.Errorf("there is %s, so a tool has run that must not", name)
	}
}

// path is a file beside the script.
func (c *client) path(name string) string { return filepath.Join(c.dir, name) }

// replace writes a file beside the script, whole at any moment.
func (c *client) replace(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name+".new"), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(c.path(name+".new"), c.path(name)); err != nil {
		c.t.Fatal(err)
	}
}

// awaitFile waits for a file beside the script.
func (c *client) awaitFile(name string) {
	c.t.Helper()
	harness.Eventually(c.t, harness.Deadline, name+" is there", func() bool {
		_, err := os.Stat(c.path(name))
		return err == nil
	})
}

// pid waits for the tool that leaves its process id in NAME.pid.
func (c *client) pid(name string) int {
	c.t.Helper()
	c.awaitFile(name + ".pid")
	text, err := os.ReadFile(c.path(name + ".pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		c.t.Fatalf("%q: %v", text, err)
	}
	return pid
}

// dies waits for the end of a process.
func (c *client) dies(pid int) {
	c.t.Helper()
	harness.Eventually(c.t, harness.Deadline, fmt.Sprintf("process %d has ended", pid), func() bool { return !harness.Alive(pid) })
}

// gate makes the FIFO that calls of the tool gate wait at. Each line written
// to it lets one pass.
func (c *client) gate() *os.File {
	c.t.Helper()
	if err := unix.Mkfifo(c.path("gate"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	// With a reader of its own, opening and writing never wait.
	f, err := os.OpenFile(c.path("gate"), os.O_RDWR, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { f.Close() })
	return f
}

func pass(t testing.TB, gate *os.File, n int) {
	t.Helper()
	if _, err := gate.WriteString(strings.Repeat("\n", n)); err != nil {
		t.Fatal(err)
	}
}
