package stdio_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const rootsScript = `
tool_paths() { printf '%s' "$MCP_ROOTS_PATHS"; }
tool_variables() { env | grep '^MCP_ROOTS_[JC]' | sort; }
tool_listed() { mcp_roots_list; mcp_roots_count; }
tool_twice() { mcp_roots_list; mcp_roots_contains "$(mcp_roots_list)" && echo in; }
tool_within() { cd / && cd "$arg_from" && if mcp_roots_contains "$arg_path"; then echo in; else echo out; fi; }
tool_needed() { env | grep '^MCP_ROOTS_PATHS'; mcp_roots_list; }
tool_path() { mcp_require_path path; }
tool_single() { mcp_require_path path --default-to-single-root; }
tool_maybe() { mcp_require_path path --allow-empty && echo "."; }
`

const rootsTools = `{"tools":[
 {"name":"paths","inputSchema":{"type":"object"}},{"name":"variables","inputSchema":{"type":"object"}},{"name":"listed","inputSchema":{"type":"object"}},
 {"name":"twice","inputSchema":{"type":"object"}},{"name":"within","inputSchema":{"type":"object"}},{"name":"path","inputSchema":{"type":"object"}},
 {"name":"single","inputSchema":{"type":"object"}},{"name":"maybe","inputSchema":{"type":"object"}},
 {"name":"needed","requires":["roots"],"inputSchema":{"type":"object"}}]}`

// rooted is a server, and a tree for roots beside it.
type rooted struct {
	*harness.Server
	t    testing.TB
	dir  string // of the script
	tree string
	last int // the latest id
}

func serveRoots(t testing.TB, flags ...string) *rooted {
	t.Helper()
	script := harness.Script(t, rootsScript, rootsTools, `{}`)
	dir, err := filepath.EvalSymlinks(filepath.Dir(script))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/sub", "a b", "ab", "é"} {
		if err := os.MkdirAll(filepath.Join(tree, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for target, name := range map[string]string{"../ab": "a/out", "a/sub": "in", "/nowhere": "a/dangling"} {
		if err := os.Symlink(target, filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	return &rooted{Server: harness.Serve(t, append(flags, script)...), t: t, dir: dir, tree: tree}
}

// begin initializes a session of a client with these capabilities.
func (r *rooted) begin(capabilities string) {
	r.t.Helper()
	r.Ask(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`)
	r.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// asked is the server's next line, which must ask for the roots.
func (r *rooted) asked() (id string) {
	r.t.Helper()
	line := r.Line()
	var m struct{ ID, Method string }
	if json.Unmarshal([]byte(line), &m) != nil || m.Method != "roots/list" || m.ID == "" {
		r.t.Fatalf("roots/list was expected: %s", line)
	}
	return m.ID
}

func (r *rooted) answer(id string, uris ...string) {
	r.t.Helper()
	r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, id, r.named(uris...)))
}

// named is the result of a client that has roots below the tree.
func (r *rooted) named(uris ...string) string {
	list := []map[string]string{}
	for _, uri := range uris {
		if !strings.Contains(uri, ":") {
			uri = "file://" + r.tree + "/" + uri
		}
		list = append(list, map[string]string{"uri": uri})
	}
	text, _ := json.Marshal(map[string]any{"roots": list})
	return string(text)
}

func (r *rooted) call(tool, arguments string) harness.Reply {
	r.t.Helper()
	r.last++
	return r.Ask(harness.Call(r.last, tool, arguments))
}

// says makes a call and wants a text, in which TREE and DIR stand for the two
// directories.
func (r *rooted) says(tool, arguments, want string) {
	r.t.Helper()
	r.want(r.call(tool, r.here(arguments)), want)
}

func (r *rooted) want(reply harness.Reply, want string) {
	r.t.Helper()
	if text, isError := reply.ToolText(r.t); isError || text != r.here(want) {
		r.t.Errorf("got %q, want %q", text, r.here(want))
	}
}

func (r *rooted) here(text string) string {
	return strings.NewReplacer("TREE", r.tree, "DIR", r.dir).Replace(text)
}

func (r *rooted) refuses(tool, arguments, why string) {
	r.t.Helper()
	reply := r.call(tool, r.here(arguments))
	if reply.Error == nil || reply.Error.Code != -32602 || !strings.Contains(reply.Error.Message, why) {
		r.t.Errorf("%s %s: %s", tool, arguments, reply.Raw)
	}
}

// ends closes the input; nothing more may come.
func (r *rooted) ends() {
	r.t.Helper()
	if rest := r.Rest(); len(rest) > 0 {
		r.t.Errorf("lines that nobody expected: %q", rest)
	}
	if state := r.Wait(); state.ExitCode() != 0 {
		r.t.Errorf("ended with %v", state)
	}
}

func TestACallWaitsForTheClientsRoots(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{}}`)
	id := r.asked()
	r.Send(harness.Call(1, "variables", `{}`))
	if reply := r.Ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); string(reply.ID) != "2" {
		t.Fatalf("the call did not wait: %s", reply.Raw)
	}
	r.answer(id, "a%20b", "%C3%A9", "in", "nowhere", "https://example.com/", "a/sub", "a/../a%20b")
	uri := func(name string) string { return "file://" + r.tree + "/" + name }
	r.want(harness.ParseReply(t, r.Line()), fmt.Sprintf("MCP_ROOTS_COUNT=3\nMCP_ROOTS_JSON="+
		`[{"uri":"%s","name":"","path":"TREE/a b"},{"uri":"%s","name":"","path":"TREE/é"},{"uri":"%s","name":"","path":"TREE/a/sub"}]`,
		uri("a%20b"), uri("%C3%A9"), uri("in")))
	r.says("listed", `{}`, "TREE/a b\nTREE/é\nTREE/a/sub\n3")
	if log := r.Stderr(); !strings.Contains(log, "nowhere") || !strings.Contains(log, "example.com") {
		t.Errorf("the log does not tell what was refused: %s", log)
	}
	r.ends()
}

func TestPathsAreJudgedByWhereTheyLead(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{}}`)
	r.answer(r.asked(), "a")
	for path, want := range map[string]string{
		"TREE/a": "in", "TREE/a/sub/new": "in", "TREE/in": "in", "TREE/in/../../a": "in", "TREE/ab": "out", "TREE/a/out": "out", "TREE/a/out/x": "out",
		"TREE/a/dangling": "out", "TREE/a/../ab": "out", "TREE": "out", "TREE/a*": "out", "TREE/[a]": "out", "-x": "out", "": "out", "DIR": "out",
	} {
		r.says("within", fmt.Sprintf(`{"from":"DIR","path":%q}`, path), want)
	}
	for path, want := range map[string]string{".": "in", "new": "in", "..": "out", "out": "out", "-x": "in", "../ab": "out"} {
		r.says("within", fmt.Sprintf(`{"from":"TREE/a","path":%q}`, path), want)
	}
	r.says("path", `{"path":"TREE/in/../x"}`, "TREE/a/x")
	r.says("single", `{}`, "TREE/a")
	r.says("maybe", `{"path":""}`, ".")
	r.refuses("path", `{"path":"TREE/a/out"}`, "in none of the roots")
	r.refuses("path", `{"path":"TREE/a/x\n"}`, "line break")
	r.refuses("path", `{"path":["TREE/a"]}`, "must be a path")
	r.refuses("path", `{}`, "path is missing")
	r.refuses("maybe", `{"path":"/etc/passwd"}`, "in none of the roots")
	r.ends()
}

func TestAClientWithoutRootsHasNothingInScope(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{}}`)
	r.answer(r.asked())
	r.says("listed", `{}`, "0")
	r.says("within", `{"from":"/","path":"DIR"}`, "out")
	r.refuses("path", `{"path":"/etc/passwd"}`, "no roots")
	r.refuses("path", `{"path":"DIR/server.sh"}`, "no roots")
	r.refuses("single", `{}`, "path is missing")
	r.ends()
}

func TestARootThatIsRemovedWhileServing(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{}}`)
	r.answer(r.asked(), "a%20b", "é")
	r.says("path", `{"path":"TREE/a b/x"}`, "TREE/a b/x")
	if err := os.Remove(r.tree + "/a b"); err != nil {
		t.Fatal(err)
	}
	r.says("path", `{"path":"TREE/é/x"}`, "TREE/é/x")
	r.says("path", `{"path":"TREE/a b/x"}`, "TREE/a b/x") // which is not there, as before
	if err := os.Symlink("ab", r.tree+"/a b"); err != nil {
		t.Fatal(err)
	}
	r.refuses("path", `{"path":"TREE/a b/x"}`, "in none of the roots")
	r.ends()
}

func TestABurstOfChangesIsOneQuestion(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{"listChanged":true}}`)
	r.answer(r.asked(), "a")
	r.says("paths", `{}`, "TREE/a")
	for range 10 {
		r.Send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	}
	r.says("paths", `{}`, "TREE/a")
	id := r.asked()
	r.says("paths", `{}`, "TREE/a") // as long as the client has not answered
	r.answer(id, "ab")
	r.becomes("TREE/ab")
	r.ends()
}

// becomes waits until calls are told a root.
func (r *rooted) becomes(want string) {
	r.t.Helper()
	harness.Eventually(r.t, harness.Deadline, "the root is "+want, func() bool {
		text, _ := r.call("paths", `{}`).ToolText(r.t)
		return text == r.here(want)
	})
}

func TestAClientThatNeverAnswersHoldsUpNothingElse(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{"listChanged":true}}`)
	first := r.asked()
	r.Send(harness.Call("waits", "paths", `{}`))
	if reply := r.Ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); string(reply.ID) != "1" {
		t.Fatalf("got %s", reply.Raw)
	}
	// What waited goes on while the question is taken back.
	lines := []string{r.Line(), r.Line()}
	if strings.Contains(lines[1], `"notifications/cancelled"`) {
		slices.Reverse(lines)
	}
	if !strings.Contains(lines[0], `"notifications/cancelled"`) || !strings.Contains(lines[0], first) {
		t.Errorf("the question was not taken back: %s", lines[0])
	}
	r.want(harness.ParseReply(t, lines[1]), "DIR")
	// Calls go on at that moment, and do not wait for the log.
	harness.Eventually(t, harness.Deadline, "the log tells", func() bool { return strings.Contains(r.Stderr(), "did not answer within 5s") })
	r.says("paths", `{}`, "DIR") // at once
	r.Send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	second := r.asked()
	r.answer(second, "a")
	r.becomes("TREE/a")
	r.answer(first, "ab") // too late
	for range 5 {
		r.says("paths", `{}`, "TREE/a")
	}
	r.ends()
}

func TestAnAnswerThatMakesNoSenseLeavesTheServersRoots(t *testing.T) {
	for _, result := range []string{`{}`, `{"roots":null}`, `{"roots":{}}`, `{"roots":["x"]}`} {
		r := serveRoots(t)
		r.begin(`{"roots":{}}`)
		r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, r.asked(), result))
		r.says("paths", `{}`, "DIR")
		r.ends()
	}
}

func TestAClientThatInitializesAnewIsAskedAnew(t *testing.T) {
	r := serveRoots(t)
	r.begin(`{"roots":{}}`)
	r.answer(r.asked(), "a")
	r.says("paths", `{}`, "TREE/a")
	r.begin(`{}`)
	r.says("paths", `{}`, "DIR")
	r.begin(`{"roots":{}}`)
	r.answer(r.asked(), "ab")
	r.says("paths", `{}`, "TREE/ab")
	r.ends()
}

func TestAClientThatDeclaresNoRootsIsNotAsked(t *testing.T) {
	r := serveRoots(t, "--roots", "config.json,.")
	r.begin(`{"sampling":{},"elicitation":{}}`)
	r.says("listed", `{}`, "DIR/config.json\nDIR\n2")
	r.says("within", `{"from":"DIR","path":"tools.json"}`, "in")
	r.ends()
}

// statelessly sends a call of the stateless era, and goes on with it as often as
// it asks for the roots.
func (r *rooted) statelessly(tool, capabilities string, uris ...string) (reply harness.Reply, asked int) {
	r.t.Helper()
	more := ""
	for ; ; asked++ {
		r.last++
		reply = r.Ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}%s,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, r.last, tool, more, capabilities))
		var result struct {
			InputRequests map[string]struct{ Method string }
			RequestState  string
		}
		if err := json.Unmarshal(reply.Result, &result); err != nil || len(result.InputRequests) == 0 {
			return reply, asked
		}
		for key, question := range result.InputRequests {
			if question.Method != "roots/list" || len(result.InputRequests) > 1 {
				r.t.Fatalf("it asks for something else: %s", reply.Raw)
			}
			more = fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, result.RequestState, key, r.named(uris...))
		}
	}
}

func TestAStatelessClientIsAskedWhenACallNeedsIt(t *testing.T) {
	for name, flags := range map[string][]string{"parked": nil, "begun anew": {"--max-parked=0"}} {
		t.Run(name, func(t *testing.T) {
			r := serveRoots(t, flags...)
			tests := []struct {
				tool, capabilities string
				asked              int
				want               string
			}{
				{"paths", `{"roots":{}}`, 0, "DIR"},
				{"listed", `{"roots":{}}`, 1, "TREE/a b\n1"},
				{"twice", `{"roots":{}}`, 1, "TREE/a b\nin"},
				{"needed", `{"roots":{}}`, 1, "MCP_ROOTS_PATHS=TREE/a b\nTREE/a b"},
				{"single", `{"roots":{}}`, 1, "TREE/a b"},
				{"twice", `{"elicitation":{}}`, 0, "DIR\nin"},
				{"listed", `{}`, 0, "DIR\n1"},
			}
			for _, tt := range tests {
				reply, asked := r.statelessly(tt.tool, tt.capabilities, "a%20b")
				if asked != tt.asked {
					t.Errorf("%s: asked %d times", tt.tool, asked)
				}
				r.want(reply, tt.want)
			}
			if reply, _ := r.statelessly("needed", `{}`); reply.Error == nil || reply.Error.Code != -32021 {
				t.Errorf("got %s", reply.Raw)
			}
			r.ends()
		})
	}
}

// An integer would evaluate what a client has sent. Where one of the three is
// the script's own, all are as they were.
func TestAScriptsOwnVariablesStay(t *testing.T) {
	const tool = `tool_paths() { printf '%s,%s' "${MCP_ROOTS_JSON%%:*}" "$MCP_ROOTS_PATHS"; }`
	for script, want := range map[string]string{
		"readonly MCP_ROOTS_JSON=mine":                      "mine,DIR",
		"unset MCP_ROOTS_JSON; MCP_ROOTS_JSON=mine":         "mine,DIR",
		"unset MCP_ROOTS_COUNT; declare -i MCP_ROOTS_COUNT": `[{"uri",DIR`,
		"export MCP_ROOTS_JSON=mine":                        `[{"uri",TREE/a`,
		"MCP_ROOTS_PATHS=$'a\ndeclare -x MCP_ROOTS_JSON='":  `[{"uri",TREE/a`,
	} {
		r := serveRoots(t)
		r.ends()
		if err := os.WriteFile(r.dir+"/server.sh", []byte(script+"\n"+tool), 0o644); err != nil {
			t.Fatal(err)
		}
		r.Server = harness.Serve(t, r.dir+"/server.sh")
		r.begin(`{"roots":{}}`)
		r.answer(r.asked(), "a")
		r.says("paths", `{}`, want)
		r.ends()
	}
}

func TestWhereTheServersRootsComeFrom(t *testing.T) {
	r := serveRoots(t)
	r.ends()
	for _, path := range []string{"config/roots.json", "data/x", "b c/x"} {
		if err := os.MkdirAll(filepath.Dir(r.dir+"/"+path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(r.dir+"/config/roots.json", []byte(`{"roots":[{"path":"./data","name":"Data"},{"path":"nowhere"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	again := func(want string, flags ...string) {
		t.Helper()
		r.Server = harness.Serve(t, append(flags, r.dir+"/server.sh")...)
		r.says("paths", `{}`, want)
		r.ends()
	}
	again("DIR/data")
	if !strings.Contains(r.Stderr(), "nowhere") {
		t.Error("the log does not tell what was left out")
	}
	t.Setenv("MCPBASH_ROOTS", "config")
	again("DIR/config")
	t.Setenv("CONCH_ROOTS", "b c:data")
	again("DIR/b c\nDIR/data")
	again("DIR/b c\nDIR", "--roots", "b c,.")
	for _, flags := range [][]string{{"--roots", "data,nowhere"}, {"--roots="}} {
		r.Server = harness.Serve(t, append(flags, r.dir+"/server.sh")...)
		if state := r.Wait(); state.ExitCode() != 1 || !strings.Contains(r.Stderr(), "--roots: ") {
			t.Errorf("%q: ended with %v", flags, state)
		}
	}
	t.Setenv("CONCH_ROOTS", "data:nowhere")
	r.Server = harness.Serve(t, r.dir+"/server.sh")
	if state := r.Wait(); state.ExitCode() != 1 || !strings.Contains(r.Stderr(), `CONCH_ROOTS: `) || !strings.Contains(r.Stderr(), `nowhere" does not exist`) {
		t.Errorf("ended with %v", state)
	}
}
