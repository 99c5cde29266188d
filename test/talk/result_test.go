package talk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/judge"
)

const results = `
tool_items() {
  local png=$MCP_CALL_TMPDIR/x.png
  printf '\211PNG\r\n\032\n' >"$png"
  mcp_emit_text --audience user,assistant --priority 0.5 'one'
  mcp_emit_image --priority 1 "$png"
  mcp_emit_audio "$png" audio/wav
  mcp_emit_resource test://text - text/plain <<<'two'
  mcp_emit_resource --audience user test://blob "$png" image/png
  mcp_emit_link --audience assistant test://link 'a "name"' text/plain 'described'
  mcp_emit_link test://bare bare
  echo printed
}
tool_bad_items() {
  local me=${MCP_CALL_TMPDIR##*/}
  mcp_emit_text --audience robots 'no such audience' 2>/dev/null || echo "audience $?"
  mcp_emit_text --priority 2 'too much' 2>/dev/null || echo "priority $?"
  printf '%s emit {"type":"text"}\n%s emit {"type":"image","data":"!","mimeType":"image/png"}\n' "$me" "$me" 1<>"$CONCH_TALK"
  mcp_emit_image /nonexistent.png 2>/dev/null || echo "image $?"
}
tool_json() { mcp_emit_json "$arg_json"; }
tool_declared() { mcp_emit_json "$arg_json"; }
tool_printed() { printf '%s\n' "$arg_json"; }
tool_success() { mcp_result_success '{"n":1,
  "m":2}'; echo unheard; }
tool_failure() { mcp_result_error '{"n":1}'; }
tool_error() { mcp_error not_found 'no "such" thing' --hint 'look' --data '[1]'; return 3; }
tool_succeeds_and_fails() { mcp_result_success 1; echo why; return 3; }
tool_fail() { mcp_fail -32050 'of "my" own' '{"a":1}'; echo unreached; }
tool_fail_args() { mcp_fail_invalid_args 'no good'; }
tool_fail_subshell() { x=$(mcp_fail -32051 inner); echo went on; }
tool_fail_child() { bash -c '. "$1"; mcp_fail -32052 child' - "${CONCH_TALK%/*}/talk.bash"; echo went on; }
tool_fail_nonsense() { (mcp_fail x y 2>/dev/null); (mcp_fail 1.5 y); (mcp_fail 0 y); echo survived; }
`

var resultEntries = map[string]string{
	"declared": `"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
	"printed":  `"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
}

func TestContentComesInOrderAndAsTheRevisionHasIt(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, w way) {
		o := fixture{script: results}.serve(t, w).call(ask{tool: "items"})
		items := o.content()
		if len(items) != 8 {
			t.Fatalf("%d items: %s", len(items), o.Raw)
		}
		data := "iVBORw0KGgo="
		want := []string{
			`{"type":"text","text":"one","annotations":{"audience":["user","assistant"],"priority":0.5}}`,
			`{"type":"image","data":"` + data + `","mimeType":"image/png","annotations":{"priority":1}}`,
			`{"type":"audio","data":"` + data + `","mimeType":"audio/wav"}`,
			`{"type":"resource","resource":{"uri":"test://text","text":"two\n","mimeType":"text/plain"}}`,
			`{"type":"resource","resource":{"uri":"test://blob","blob":"` + data + `","mimeType":"image/png"},"annotations":{"audience":["user"]}}`,
			`{"type":"resource_link","uri":"test://link","name":"a \"name\"","mimeType":"text/plain","description":"described","annotations":{"audience":["assistant"]}}`,
			`{"type":"resource_link","uri":"test://bare","name":"bare"}`,
			`{"type":"text","text":"printed"}`,
		}
		if w.revision < "2025-03-26" {
			want[2] = `{"type":"text","text":"[a sound, audio/wav]"}`
		}
		if w.revision < "2025-06-18" {
			want[5], want[6] = `{"type":"text","text":"a \"name\": test://link"}`, `{"type":"text","text":"bare: test://bare"}`
		}
		for i, item := range items {
			sameJSON(t, fmt.Sprintf("item %d", i), item, want[i])
		}
	})
}

func TestWhatIsNoContentIsLetGo(t *testing.T) {
	c := fixture{script: results}.serve(t, ways[1])
	o := c.call(ask{tool: "bad_items"})
	o.wantSays(t, "audience 2\npriority 2\nimage 1")
	if strings.Count(c.server.Stderr(), "ignored what a call said") != 2 {
		t.Error("the log does not tell of both")
	}
}

// What a revision has no structured content for, it gets as text.
func TestStructuredContentByRevision(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, w way) {
		c := fixture{script: results, entries: resultEntries}.serve(t, w)
		for _, document := range []string{`{"n": 12345678901234567890}`, "{\n \"n\": 1}", `[1,2]`, `"text"`, `null`, `5`} {
			o := c.call(ask{tool: "json", args: `{"json":` + quote(document) + `}`})
			o.wantSays(t, document)
			takes := w.isModern() || w.revision >= "2025-06-18" && document[0] == '{'
			got := member(o.Result, "structuredContent")
			switch {
			case !takes && got != nil:
				t.Errorf("%s is there: %s", document, o.Raw)
			case takes && got == nil:
				t.Errorf("%s is not there: %s", document, o.Raw)
			case takes:
				sameJSON(t, "structured content", got, document)
			}
		}
	})
}

func TestStructuredContentMatchesItsSchema(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: results, entries: resultEntries}.serve(t, w)
		tests := []struct{ tool, json, defect string }{
			{"declared", `{"n":1}`, ""},
			{"declared", `{"n":"1"}`, "does not match its outputSchema"},
			{"declared", `{`, "printed no JSON document"},
			{"printed", `{"n":1}`, ""},
			{"printed", `{}`, "does not match its outputSchema"},
			{"printed", `text`, "printed no JSON document"},
			{"printed", ``, "printed no JSON document"},
		}
		for _, tt := range tests {
			o := c.call(ask{tool: tt.tool, args: `{"json":` + quote(tt.json) + `}`})
			got, failed := o.says()
			if tt.defect == "" {
				o.wantSays(t, tt.json)
				sameJSON(t, "structured content", member(o.Result, "structuredContent"), tt.json)
			} else if !failed || !strings.Contains(got, tt.defect) || member(o.Result, "structuredContent") != nil {
				t.Errorf("%s with %s: %s", tt.tool, tt.json, o.Raw)
			}
		}
	})
}

func TestWholeResults(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, w way) {
		c := fixture{script: results}.serve(t, w)
		tests := []struct {
			tool, document string
			isError        bool
		}{
			{"success", `{"success":true,"result":{"n":1,"m":2}}`, false},
			{"failure", `{"success":false,"error":{"n":1}}`, true},
			{"error", `{"success":false,"error":{"type":"not_found","message":"no \"such\" thing","hint":"look","data":[1]}}`, true},
		}
		for _, tt := range tests {
			o := c.call(ask{tool: tt.tool})
			said, isError := o.says()
			if isError != tt.isError {
				t.Errorf("%s: isError is %v: %s", tt.tool, isError, o.Raw)
			}
			sameJSON(t, tt.tool, json.RawMessage(said), tt.document)
			if got := member(o.Result, "structuredContent"); w.revision >= "2025-06-18" {
				sameJSON(t, tt.tool+", structured", got, tt.document)
			}
		}
		if said, failed := c.call(ask{tool: "succeeds_and_fails"}).says(); !failed || said != "Error executing succeeds_and_fails: why" {
			t.Errorf("a tool that fails after all says %q", said)
		}
	})
}

func TestErrorsOfTheProtocolFromAnywhereInACall(t *testing.T) {
	each(t, append(ways, way{"stdio", judge.Revisions[0]}), func(t *testing.T, w way) {
		c := fixture{script: results}.serve(t, w)
		tests := []struct {
			tool    string
			code    int
			message string
		}{
			{"fail", -32050, `of "my" own`}, {"fail_args", -32602, "no good"}, {"fail_subshell", -32051, "inner"}, {"fail_child", -32052, "child"},
		}
		for _, tt := range tests {
			o := c.call(ask{tool: tt.tool})
			if o.Error == nil || o.Error.Code != tt.code || o.Error.Message != tt.message {
				t.Errorf("%s: %s", tt.tool, o.Raw)
			}
			if tt.tool == "fail" && o.Error != nil {
				sameJSON(t, "data", o.Error.Data, `{"a":1}`)
			}
		}
		if o := c.call(ask{tool: "fail_nonsense"}); o.Error == nil || o.Error.Code != -32603 || o.Error.Message != "y" {
			t.Errorf("a code that is none: %s", o.Raw)
		}
	})
}

// An error whose JSON is none is an error all the same.
func TestWhatIsNoJSONCostsNoErrorItsMessage(t *testing.T) {
	script := `
tool_error() { mcp_error broken "is down" --data 'not json'; }
tool_result_error() { mcp_result_error '{bad'; }
tool_result_success() { mcp_result_success '{bad'; }
tool_nothing() { mcp_result_success ''; }
tool_fail() { mcp_fail -32050 msg '{bad'; }
tool_args() { mcp_fail_invalid_args msg 'plain text'; }
tool_option() { mcp_error broken "is down" --hnt x 2>/dev/null; }
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script}.serve(t, w)
		for tool, want := range map[string]string{
			"error": `{"type":"broken","message":"is down","data":"not json"}`, "option": `{"type":"broken","message":"is down"}`,
			"result_error": `"{bad"`, "result_success": `"what it gave for its result is not JSON: {bad"`, "nothing": `"what it gave for its result is not JSON: "`,
		} {
			o := c.call(ask{tool: tool})
			if _, failed := o.says(); !failed {
				t.Errorf("%s is a success: %s", tool, o.Raw)
			}
			sameJSON(t, tool, member(o.Result, "structuredContent"), `{"success":false,"error":`+want+`}`)
		}
		for tool, want := range map[string]string{"fail": `-32050 msg "{bad"`, "args": `-32602 msg "plain text"`} {
			o := c.call(ask{tool: tool})
			if o.Error == nil || fmt.Sprintf("%d %s %s", o.Error.Code, o.Error.Message, o.Error.Data) != want {
				t.Errorf("%s: %s", tool, o.Raw)
			}
		}
	})
}

func TestThereAreOnlySoManyItems(t *testing.T) {
	c := fixture{script: `tool_many() { for ((i = 0; i < 10001; i++)); do mcp_emit_text "$i"; done; }`}.serve(t, ways[0])
	if said, failed := c.call(ask{tool: "many"}).says(); !failed || said != "Error executing many: its result has more than 10000 items" {
		t.Errorf("it says %.200q", said)
	}
}

func TestWrongOptionsOfFunctionsAreTold(t *testing.T) {
	script := `
tool_wrong() {
  mcp_emit_text --audience robots x; mcp_emit_text --priority 7 x; mcp_emit_json --priority x 1; mcp_emit_link x:; mcp_resource_updated
  mcp_emit_text -- --audience; mcp_progress .5 half; echo "status $?"
}
`
	c := fixture{script: script}.serve(t, ways[0])
	o := c.call(ask{tool: "wrong", token: "1"})
	items := o.content()
	if len(items) != 2 || text(items[0], "text") != "--audience" {
		t.Fatalf("it says %s", o.Raw)
	}
	lines := strings.Split(text(items[1], "text"), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "mcp_emit_text: --audience is") || !strings.HasPrefix(lines[2], "mcp_emit_json: --priority is") || lines[5] != "status 0" {
		t.Errorf("it says %q", lines)
	}
	if got := o.progress(); !slices.Equal(got, []string{"0.5"}) {
		t.Errorf("the progress is %q", got)
	}
}

func TestALongTextReachesTheClientAsHeadAndTail(t *testing.T) {
	script := `
tool_long() { for ((i = 0; i < 30000; i++)); do echo "line $i"; done; }
tool_emitted() { mcp_emit_text --priority 0.5 "$(tool_long)"; mcp_emit_text short; }
tool_fits() { head -c 2000 /dev/zero | tr '\0' x; }
tool_much() { for i in 1 2 3 4 5; do mcp_emit_text "$(head -c 300000 /dev/zero | tr '\0' x)"; done; }
`
	each(t, everyWay(), func(t *testing.T, w way) {
		c := fixture{script: script, flags: []string{"--max-text=2000", "--max-output=1MiB"}}.serve(t, w)
		for tool, more := range map[string]int{"long": 0, "emitted": 1} {
			items := c.call(ask{tool: tool}).content()
			links := 1
			if w.revision < "2025-06-18" {
				links = 0
			}
			if len(items) != 1+links+more {
				t.Fatalf("%s: %d items: %s", tool, len(items), items)
			}
			short := text(items[0], "text")
			if len(short) > 2000 || !strings.HasPrefix(short, "line 0\nline 1\n") || !strings.Contains(short, "bytes left out; all of it is at conch://output/") ||
				!strings.HasSuffix(strings.TrimSpace(short), "\nline 29999") {
				t.Errorf("%s: %q", tool, short)
			}
			if links > 0 && (text(items[1], "type") != "resource_link" || !strings.Contains(short, text(items[1], "uri"))) {
				t.Errorf("the link is %s", items[1])
			}
			if tool == "emitted" {
				sameJSON(t, "annotations", member(items[0], "annotations"), `{"priority":0.5}`)
			}
		}
		c.call(ask{tool: "fits"}).wantSays(t, strings.Repeat("x", 2000))
		if said, failed := c.call(ask{tool: "much"}).says(); !failed || said != "Error executing much: its result is longer than 1048576 bytes, the limit set by --max-output" {
			t.Errorf("it says %.300q", said)
		}
	})
}

func TestLongTextsAreWholeWithoutALimit(t *testing.T) {
	c := fixture{script: `tool_long() { head -c 2000000 /dev/zero | tr '\0' x; }`, flags: []string{"--max-text=0B"}}.serve(t, ways[0])
	c.call(ask{tool: "long"}).wantSays(t, strings.Repeat("x", 2000000))
}

func TestALongTextThatIsNotKeptSaysSo(t *testing.T) {
	c := fixture{script: `tool_long() { head -c 2000000 /dev/zero | tr '\0' x; }`, flags: []string{"--keep-output=0s"}}.serve(t, ways[1])
	if said, failed := c.call(ask{tool: "long"}).says(); failed || len(said) > 100_000 || !strings.Contains(said, "bytes left out]") {
		t.Errorf("it says %.300q", said)
	}
}
