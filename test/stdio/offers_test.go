package stdio_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const offersScript = `
tool_x() { :; }
resource_note() { printf 'note of %s' "$arg_uri"; }
resource_row() {
  [[ $arg_id != none ]] || return 3
  [[ $arg_id != bad ]] || { echo "no luck"; return 1; }
  printf '%s|%s' "$arg_id" "$1"
}
binary() { printf '\x00\xff'; }
prompt_hello() { echo "Say hello to $arg_who${arg_how:+, $arg_how}."; }
complete_prompt_hello_who() { printf '%s\n' "$arg_value-1" "$arg_value-$arg_how"; }
complete_resource_row_id() { local i; for ((i = 0; i < 150; i++)); do echo "$arg_value$i"; done; }
`

const offersResources = `{ "resources": [
  {"uri":"x://note","name":"note","title":"Note","size":10,"annotations":{"priority":0.50},"_meta":{"ui":{"a":1.0}}},
  {"name":"bytes","uri":"x://bytes","function":"binary","mimeType":"application/x-bytes"},
  {"name":"text","uri":"x://text","file":"text.md","icons":[{"src":"https://example.org/i.png"}]},
  {"name":"nothing","uri":"x://nothing"}],
 "resourceTemplates": [
  {"uriTemplate":"x://rows/{id}","name":"row","mimeType":"text/plain"},
  {"uriTemplate":"x://files/{name}","name":"files","file":"sub/{name}.txt","complete":{"name":["ada","alan","bob"]}}]}`

const offersPrompts = `{"prompts":[
  {"name":"hello","description":"Says hello.","arguments":[{"name":"who","required":true},{"name":"how","complete":["warmly","wryly"]}]},
  {"name":"letter","file":"letter.md","arguments":[{"name":"to"}]}]}`

// offers starts a server with resources and prompts.
func offers(t testing.TB, flags ...string) *client {
	t.Helper()
	return offersWith(t, "", flags...)
}

// offersWith is offers with more in its script.
func offersWith(t testing.TB, more string, flags ...string) *client {
	t.Helper()
	script := harness.Script(t, offersScript+more, `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`, `{}`)
	c := &client{t, &connection{dir: strings.TrimSuffix(script, "/server.sh")}}
	c.replace("resources.json", offersResources)
	c.replace("prompts.json", offersPrompts)
	c.replace("text.md", "# Text\n")
	c.replace("letter.md", "Dear {{to}}, {{to}} {{from}}\n")
	if err := os.Mkdir(c.path("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.replace("sub/ada.txt", "Ada")
	return serve(t, script, flags...)
}

func TestResourcesAndPromptsAreListedAsTheyAreWritten(t *testing.T) {
	c := offers(t)
	lists := map[string]string{
		"resources/list": `"resources":[{"uri":"x://note","name":"note","title":"Note","size":10,"annotations":{"priority":0.50},"_meta":{"ui":{"a":1.0}}},` +
			`{"name":"bytes","uri":"x://bytes","mimeType":"application/x-bytes"},{"name":"text","uri":"x://text","icons":[{"src":"https://example.org/i.png"}]}]`,
		"resources/templates/list": `"resourceTemplates":[{"uriTemplate":"x://rows/{id}","name":"row","mimeType":"text/plain"},{"uriTemplate":"x://files/{name}","name":"files"}]`,
		"prompts/list":             `"prompts":[{"name":"hello","description":"Says hello.","arguments":[{"name":"who","required":true},{"name":"how"}]},{"name":"letter","arguments":[{"name":"to"}]}]`,
	}
	for _, revision := range append([]string{""}, legacyRevisions...) {
		if revision != "" {
			c.initialize(revision)
		}
		for method, want := range lists {
			wantResult(t, c.ask(request("1", method, `{}`)), "1", `{`+want+`}`)
			wantResult(t, c.ask(modernRequest("2", method, "")), "2", `{`+want+`,"ttlMs":0,"cacheScope":"public",`+modernEnd)
		}
	}
}

// Every answer is judged by the schema of its revision.
func TestResourcesAndPromptsAreServedInEveryRevision(t *testing.T) {
	c := offers(t)
	answers := []struct{ method, members, want string }{
		{"resources/read", `"uri":"x://note"`, `"contents":[{"uri":"x://note","mimeType":"text/plain","text":"note of x://note","_meta":{"ui":{"a":1.0}}}]`},
		{"resources/read", `"uri":"x://bytes"`, `"contents":[{"uri":"x://bytes","mimeType":"application/x-bytes","blob":"AP8="}]`},
		{"resources/read", `"uri":"x://text"`, `"contents":[{"uri":"x://text","mimeType":"text/markdown","text":"# Text\n"}]`},
		{"resources/read", `"uri":"x://rows/7"`, `"contents":[{"uri":"x://rows/7","mimeType":"text/plain","text":"7|{\"id\":\"7\",\"uri\":\"x://rows/7\"}"}]`},
		{"resources/read", `"uri":"x://files/ada"`, `"contents":[{"uri":"x://files/ada","mimeType":"text/plain","text":"Ada"}]`},
		{"prompts/get", `"name":"hello","arguments":{"who":"you"}`, `"description":"Says hello.","messages":[{"role":"user","content":{"type":"text","text":"Say hello to you."}}]`},
		{"prompts/get", `"name":"letter","arguments":{"to":"{{from}}\\n"}`, `"messages":[{"role":"user","content":{"type":"text","text":"Dear {{from}}\\n, {{from}}\\n {{from}}"}}]`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"who","value":"v"},"context":{"arguments":{"how":"h"}}`, `"completion":{"values":["v-1","v-h"],"total":2,"hasMore":false}`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"how","value":"wa"}`, `"completion":{"values":["warmly"],"total":1,"hasMore":false}`},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"x://files/{name}"},"argument":{"name":"name","value":"a"}`, `"completion":{"values":["ada","alan"],"total":2,"hasMore":false}`},
	}
	for _, revision := range append([]string{""}, legacyRevisions...) {
		if revision != "" {
			c.initialize(revision)
		}
		for _, a := range answers {
			wantResult(t, c.ask(request("1", a.method, `{`+a.members+`}`)), "1", `{`+a.want+`}`)
			caching := ""
			if a.method == "resources/read" {
				caching = `,"ttlMs":0,"cacheScope":"public"`
			}
			wantResult(t, c.ask(modernRequest("2", a.method, a.members)), "2", `{`+a.want+caching+`,`+modernEnd)
		}
		r := c.ask(request("1", "completion/complete", `{"ref":{"type":"ref/resource","uri":"x://rows/{id}"},"argument":{"name":"id","value":"r"}}`))
		if text := string(r.Result); !strings.Contains(text, `"r99"],"total":150,"hasMore":true`) {
			t.Errorf("got %s", r.Raw)
		}
	}
}

func TestWhatIsNotOfferedIsAnErrorOfItsEra(t *testing.T) {
	c := offers(t)
	for _, uri := range []string{"x://nothing", "x://gone", "x://rows/none", "x://files/bob", "x://files/..%2f..%2fserver", "x://files/%2e%2e", "x://rows/a%00b", "/etc/passwd", "file:///etc/passwd", ""} {
		member := fmt.Sprintf(`"uri":%q`, uri)
		for line, code := range map[string]int{request("1", "resources/read", `{`+member+`}`): -32002, modernRequest("1", "resources/read", member): -32602} {
			r := c.ask(line)
			wantError(t, r, "1", code)
			if string(r.Error.Data) != `{`+member+`}` {
				t.Errorf("the data does not name %q: %s", uri, r.Raw)
			}
		}
	}
	for line, code := range map[string]int{
		request("1", "resources/read", `{"uri":"x://rows/bad"}`):                                                           -32603,
		request("1", "resources/read", `{"uri":7}`):                                                                        -32602,
		request("1", "prompts/get", `{"name":"gone"}`):                                                                     -32602,
		request("1", "prompts/get", `{"name":"hello"}`):                                                                    -32602,
		modernRequest("1", "prompts/get", `"name":"hello","arguments":{"who":["x"]}`):                                      -32602,
		request("1", "completion/complete", `{"ref":{"type":"ref/prompt","name":"g"},"argument":{"name":"a","value":""}}`): -32602,
		modernRequest("1", "resources/subscribe", `"uri":"x://note"`):                                                      -32601,
		modernRequest("1", "resources/unsubscribe", `"uri":"x://note"`):                                                    -32601,
		request("1", "subscriptions/listen", `{"notifications":{}}`):                                                       -32601,
		request("1", "resources/subscribe", `{"uri":"x://gone"}`):                                                          -32002,
		request("1", "resources/subscribe", `{}`):                                                                          -32602,
	} {
		wantError(t, c.ask(line), "1", code)
	}
}

func TestValuesOfTemplatesAndPromptsAreData(t *testing.T) {
	c := offers(t)
	for _, value := range []string{`$(touch here)`, "`touch here`", `'; touch here; '`, `"; touch here #`, `\`, `a[$(touch here)]`, "line\nbreak"} {
		var escaped strings.Builder
		for _, b := range []byte(value) {
			fmt.Fprintf(&escaped, "%%%02X", b)
		}
		uri := "x://rows/" + escaped.String()
		r := c.ask(request("1", "resources/read", fmt.Sprintf(`{"uri":%q}`, uri)))
		var result struct{ Contents []struct{ Text string } }
		if json.Unmarshal(r.Result, &result) != nil || !strings.HasPrefix(result.Contents[0].Text, value+"|") {
			t.Errorf("%q: %s", value, r.Raw)
		}
		quoted, _ := json.Marshal(value)
		r = c.ask(request("1", "prompts/get", `{"name":"hello","arguments":{"who":`+string(quoted)+`}}`))
		if want, _ := json.Marshal("Say hello to " + value + "."); r.Error != nil || !strings.Contains(r.Raw, string(want)) {
			t.Errorf("%q: %s", value, r.Raw)
		}
	}
	c.absent("here")
}

func TestAPromptIsNoLargerThanAnOutput(t *testing.T) {
	c := offers(t, "--max-output=1000B")
	get := func(n int) harness.Reply {
		return c.ask(request("1", "prompts/get", fmt.Sprintf(`{"name":"letter","arguments":{"to":%q}}`, strings.Repeat("a", n))))
	}
	// The letter has it twice, and 16 bytes besides.
	if r := get(492); r.Error != nil {
		t.Errorf("what is as large as it may be: %s", r.Raw)
	}
	for _, n := range []int{493, 900} {
		if r := get(n); r.Error == nil || r.Error.Code != -32603 || !strings.Contains(r.Error.Message, "larger than 1000 bytes, the limit set by --max-output") {
			t.Errorf("with %d bytes twice: %s", n, r.Raw)
		}
	}
}

func TestAServerWithoutTheseListsHasNoneOfIt(t *testing.T) {
	c := custom(t, offersScript, `{"tools":[]}`, `{}`, "--keep-output=0s")
	if r := c.initialize(newestLegacy); !strings.Contains(r.Raw, `"capabilities":{"logging":{},"tools":{"listChanged":true}}`) {
		t.Errorf("got %s", r.Raw)
	}
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list", "resources/subscribe"} {
		wantError(t, c.ask(request("1", method, `{"uri":"x://note"}`)), "1", -32601)
	}
	c.replace("prompts.json", offersPrompts)
	if r := c.ask(request("1", "prompts/list", `{}`)); r.Error != nil {
		t.Errorf("with a list: %s", r.Raw)
	}
}

// For what clients read by the links of long results.
func TestAServerThatKeepsLongTextsHasResources(t *testing.T) {
	c := custom(t, `tool_long() { head -c 5000 /dev/zero | tr '\0' x; }`, `{"tools":[{"name":"long","inputSchema":{"type":"object"}}]}`, `{}`, "--max-text=1000B")
	if r := c.initialize(newestLegacy); !strings.Contains(r.Raw, `"resources":{}`) {
		t.Errorf("got %s", r.Raw)
	}
	wantResult(t, c.ask(request("1", "resources/list", `{}`)), "1", `{"resources":[]}`)
	var result struct{ Content []struct{ Type, URI string } }
	r := c.ask(request("2", "tools/call", `{"name":"long"}`))
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 2 || result.Content[1].Type != "resource_link" {
		t.Fatalf("no link in %s", r.Raw)
	}
	read := c.ask(request("3", "resources/read", `{"uri":"`+result.Content[1].URI+`"}`))
	if !strings.Contains(read.Raw, strings.Repeat("x", 5000)) {
		t.Errorf("it reads %.300s", read.Raw)
	}
	modern := c.ask(modernRequest("4", "resources/read", `"uri":"`+result.Content[1].URI+`"`))
	if !strings.Contains(modern.Raw, strings.Repeat("x", 5000)) || !strings.Contains(modern.Raw, `"ttlMs":0,"cacheScope":"private"`) {
		t.Errorf("a client of the stateless era reads %.300s", modern.Raw)
	}
}

func TestAListThatCannotBeReadIsNamed(t *testing.T) {
	c := offers(t)
	c.replace("resources.json", `{"resources":7}`)
	c.replace("prompts.json", `{`)
	for method, file := range map[string]string{"resources/list": "resources.json", "resources/templates/list": "resources.json", "resources/read": "resources.json", "prompts/list": "prompts.json", "prompts/get": "prompts.json"} {
		r := c.ask(request("1", method, `{"uri":"x:y","name":"hello"}`))
		if wantError(t, r, "1", -32603); !strings.Contains(r.Error.Message, c.path(file)) {
			t.Errorf("%s does not name the file: %s", method, r.Raw)
		}
	}
	c.replace("prompts.json", `{"prompts":[]}`)
	wantResult(t, c.ask(request("1", "prompts/list", `{}`)), "1", `{"prompts":[]}`)
}

func TestTheListsMayBeElsewhere(t *testing.T) {
	dir := t.TempDir()
	list := dir + "/elsewhere.json"
	if err := os.WriteFile(list, []byte(`{"prompts":[{"name":"hello"}],"resources":[{"uri":"x://note","name":"note"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(c *client) {
		t.Helper()
		wantResult(t, c.ask(request("1", "prompts/list", `{}`)), "1", `{"prompts":[{"name":"hello"}]}`)
		wantResult(t, c.ask(request("1", "resources/list", `{}`)), "1", `{"resources":[{"uri":"x://note","name":"note"}]}`)
	}
	check(offers(t, "--prompts", list, "--resources", list))
	check(custom(t, offersScript+"MCP_PROMPTS_LIST_FILE="+list+" MCP_RESOURCES_LIST_FILE="+list+"\n", `{}`, `{}`))
	c := custom(t, offersScript, `{}`, `{}`, "--prompts", dir+"/gone.json")
	wantError(t, c.ask(request("1", "prompts/list", `{}`)), "1", -32603)
}

func TestEveryListHasPages(t *testing.T) {
	c := custom(t, listScript("a", "b", "c"), `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}]}`, `{}`, "--page-size", "2")
	c.replace("prompts.json", `{"prompts":[{"name":"a","file":"f"},{"name":"b","file":"f"},{"name":"c","file":"f"}]}`)
	c.replace("resources.json", `{"resources":[{"name":"a","uri":"x:a","file":"f"},{"name":"b","uri":"x:b","file":"f"},{"name":"c","uri":"x:c","file":"f"}],
		"resourceTemplates":[{"name":"a","uriTemplate":"x:a{i}","file":"f"},{"name":"b","uriTemplate":"x:b{i}","file":"f"},{"name":"c","uriTemplate":"x:c{i}","file":"f"}]}`)
	for method, list := range map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		names := ""
		cursor := `""`
		for range 2 {
			var page map[string]json.RawMessage
			r := c.ask(modernRequest("1", method, `"cursor":`+cursor))
			var entries []struct{ Name string }
			if json.Unmarshal(r.Result, &page) != nil || json.Unmarshal(page[list], &entries) != nil {
				t.Fatalf("%s: %s", method, r.Raw)
			}
			for _, e := range entries {
				names += e.Name
			}
			names += "."
			cursor = string(page["nextCursor"])
		}
		if names != "ab.c." || cursor != "" {
			t.Errorf("%s has %s, then %q", method, names, cursor)
		}
		wantError(t, c.ask(request("1", method, `{"cursor":"nonsense"}`)), "1", -32602)
	}
}
