package talk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a prompt's and a resource's function can say and ask besides printing.
const offering = `
resource_ask() { mcp_progress 1 asking; mcp_elicit_confirm "Read $arg_uri?"; }
resource_roots() { mcp_roots_list; }
resource_fails() { mcp_error gone "no such row"; }
resource_invalid() { mcp_fail_invalid_args "no row"; }
resource_emits() { mcp_emit_text x; mcp_log_info "read it"; echo printed; }
prompt_ask() { mcp_elicit_confirm "Really?"; }
prompt_roots() { mcp_roots_list; }
prompt_fails() { mcp_result_error '"no topic"'; }
prompt_emits() { mcp_emit_link x:1 one; mcp_result_success 5; }
complete_prompt_ask_topic() { mcp_elicit_confirm "Complete?" || echo "status-$?"; [[ $arg_value != fails ]] || mcp_fail 7 wrong; }
complete_prompt_emits_topic() { printf '%s\n' ada alan | grep -- "^$arg_value"; }
tool_plain() { echo plain; }
`

// serveOffers serves it.
func serveOffers(t *testing.T, w way, caps string) *client {
	t.Helper()
	f := fixture{script: offering, caps: caps, flags: []string{"--concurrency=2"}}
	script := f.write(t)
	for name, text := range map[string]string{
		"resources.json": `{"resources":[{"uri":"x:ask","name":"ask"},{"uri":"x:roots","name":"roots"},{"uri":"x:fails","name":"fails"},{"uri":"x:invalid","name":"invalid"},{"uri":"x:emits","name":"emits"}]}`,
		"prompts.json":   `{"prompts":[{"name":"ask","arguments":[{"name":"topic"}]},{"name":"roots"},{"name":"fails"},{"name":"emits","arguments":[{"name":"topic"}]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(script), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f.serveScript(t, w, script)
}

// get is what a request comes to whose params have these members; what it asks is
// answered.
func (c *client) get(method, members string) string {
	c.t.Helper()
	state := ""
	if c.isModern() {
		members += fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, c.revision, c.caps)
	}
	for {
		r := c.send(method, "{"+members+state+"}", "").wait()
		switch {
		case r.Error != nil:
			return fmt.Sprintf("%d %s", r.Error.Code, r.Error.Message)
		case text(r.Result, "resultType") != "input_required":
			return string(r.Result)
		}
		state = `,"requestState":` + quote(text(r.Result, "requestState")) + `,"inputResponses":` + quote(c.answers(r.Result))
	}
}

func TestFunctionsOfResourcesAndPromptsAskAndFailAsToolsDo(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := serveOffers(t, w, `{"elicitation":{}}`)
		c.answer = always(`{"action":"accept","content":{"confirmed":true}}`)
		accepted := `\"confirmed\":true`
		for _, tt := range []struct{ method, members, want string }{
			{"resources/read", `"uri":"x:ask"`, accepted},
			{"resources/read", `"uri":"x:fails"`, "-32603 Cannot read the resource: no such row"},
			{"resources/read", `"uri":"x:invalid"`, "-32602 no row"},
			{"resources/read", `"uri":"x:emits"`, `"text":"printed\n"`},
			{"prompts/get", `"name":"ask"`, accepted},
			{"prompts/get", `"name":"fails"`, "-32603 Cannot make the prompt: no topic"},
			{"prompts/get", `"name":"emits"`, `{\"success\":true,\"result\":5}`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"ask"},"argument":{"name":"topic","value":"x"}`, `"status-4"`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"ask"},"argument":{"name":"topic","value":"fails"}`, "7 wrong"},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"emits"},"argument":{"name":"topic","value":"a"}`, `["ada","alan"]`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"emits"},"argument":{"name":"topic","value":"z"}`, `"values":[]`},
		} {
			if got := c.get(tt.method, tt.members); !strings.Contains(got, tt.want) {
				t.Errorf("%s %s: %s, want %s", tt.method, tt.members, got, tt.want)
			}
		}
		c.call(ask{tool: "plain"}).wantSays(t, "plain")
		if !strings.Contains(c.server.Stderr(), "read it") || !strings.Contains(c.server.Stderr(), "what it prints is the resource") {
			t.Error("the log has not what a resource's function said")
		}
	})
}

// A client of the older revisions has said that it has none.
func TestFunctionsOfResourcesAndPromptsHaveTheClientsRoots(t *testing.T) {
	for w, want := range map[way]string{{"stdio", modern}: "/usr", {"http", modern}: "/usr", {"stdio", "2025-11-25"}: ""} {
		c := serveOffers(t, w, `{"roots":{}}`)
		c.answer = always(`{"roots":[{"uri":"file:///usr"}]}`)
		for _, got := range []string{c.get("resources/read", `"uri":"x:roots"`), c.get("prompts/get", `"name":"roots"`)} {
			if !strings.Contains(got, `"text":"`+want+`"`) && !strings.Contains(got, `"text":"`+want+`\n"`) {
				t.Errorf("%s: got %s, want %q", w, got, want)
			}
		}
	}
}

func TestAResourceIsReadByItsURI(t *testing.T) {
	c := serveOffers(t, ways[0], "{}")
	for _, members := range []string{`"uri":5`, `"name":"x"`} {
		if got := c.get("resources/read", members); got != "-32602 Invalid params: uri must be a string" {
			t.Errorf("%s: %s", members, got)
		}
	}
}

// Links came with 2025-06-18.
func TestPromptsHaveWhatTheirRevisionKnows(t *testing.T) {
	c := serveOffers(t, way{"stdio", "2024-11-05"}, "{}")
	if got := c.get("prompts/get", `"name":"emits"`); strings.Contains(got, "resource_link") || !strings.Contains(got, "one: x:1") {
		t.Errorf("it gets %s", got)
	}
}
