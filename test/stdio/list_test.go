package stdio_test

import (
	"regexp"
	"strings"
	"testing"
)

// listScript defines a function for each name; all print "ran".
func listScript(names ...string) string {
	var script strings.Builder
	for _, name := range names {
		script.WriteString("tool_" + name + "() { printf ran; }\n")
	}
	return script.String()
}

// Clients refuse each result of a tool with one that has no structured content,
// which came with 2025-06-18 as well.
var outputSchema = regexp.MustCompile(`,"outputSchema":\{.*?\}\}\}`)

func TestToolsAreListedByteForByteInTheirOrder(t *testing.T) {
	entries := []string{
		`{"name":"zebra","inputSchema":{"type":"object"}}`,
		`{"inputSchema":{"required":["b","a"],"properties":{"b":{"type":"string","x-order":1},"a":{"type":"integer"}},"type":"object"},"description":"keys in an order of their own","name":"apple"}`,
		`{"name":"numbers","inputSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.10,"maximum":1E+2,"multipleOf":0.10,"default":9007199254740993,"examples":[1.0,-0,1e400,123456789012345678901234567890]}}}}`,
		`{"name":"unknown","x-vendor":{"a":[1,{"b":null}]},"inputSchema":{"type":"object","x-hint":true,"$comment":"kept","properties":{"p":{"title":"P","x-y":[[]],"examples":["e"]}},"$defs":{"d":{"const":false}}},"annotations":{"title":"T","readOnlyHint":true},"_meta":{"com.example/k":1.50}}`,
		`{"name":"text","description":"<b>&amp; \"q\" \\ \/ \u003c\u003e\u0026 \u00e9 é 日本語 😀 \ud83d\ude00 \t\n \u2028` + "\u2028" + `'","inputSchema":{"type":"object","properties":{"<a&b>":{"type":"string","pattern":"^[<>&]+$"},"é":{"enum":["ü","\u00fc"]}}}}`,
		`{"name":"draft","title":"Other drafts","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false}}`,
		`{"name":"shape","inputSchema":{"type":"object","allOf":[{"required":["a"]}],"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":false,"dependentRequired":{"a":["b"]}}}`,
		`{"name":"output","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}}`,
		`{"name":"aardvark","description":"","inputSchema":{"type":"object","properties":{}}}`,
		`{"name":"dash-ed.name_1","inputSchema":{"type":"object"}}`,
	}
	script := listScript("aardvark", "apple", "draft", "numbers", "output", "shape", "text", "unknown", "zebra", "dash-ed.name_1")
	c := custom(t, script, `{"tools":[`+strings.Join(entries, ",")+`],"unknown":1}`, `{}`)
	want := `{"tools":[` + strings.Join(entries, ",") + `]`
	for _, revision := range append([]string{""}, legacyRevisions...) {
		wantThere := want
		if revision != "" {
			c.initialize(revision)
			if revision < "2025-06-18" {
				wantThere = outputSchema.ReplaceAllString(want, "")
			}
		}
		wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", wantThere+`}`)
		wantResult(t, c.ask(modernRequest("2", "tools/list", "")), "2", want+`,"ttlMs":0,"cacheScope":"public",`+modernEnd)
	}
	c.initialize(newestLegacy)
	wantResult(t, c.ask(request("3", "tools/list", `{"cursor":""}`)), "3", want+`}`)
	wantText(t, c.ask(request("4", "tools/call", `{"name":"dash-ed.name_1"}`)), "4", "ran")
}

func TestTheListMayBeEditedWhileTheServerRuns(t *testing.T) {
	c := custom(t, listScript("one", "two"), `{"tools":[]}`, `{}`)
	call := request("1", "tools/call", `{"name":"one","arguments":{"n":1}}`)
	entry := func(name, schema string) string { return `{"name":"` + name + `","inputSchema":` + schema + `}` }
	steps := []struct{ entries, outcome string }{
		{``, "unknown"},
		{entry("one", `{"type":"object"}`), "ran"},
		{entry("two", `{"type":"object"}`), "unknown"},
		{entry("two", `{"type":"object"}`) + `,` + entry("one", `{"type":"object","properties":{"n":{"type":"string"}}}`), "refused"},
		{entry("one", `{"type":"object","properties":{"n":{"type":"number"}}}`) + `,` + entry("two", `{"type":"object"}`), "ran"},
		{entry("one", `{"type":"object"}`) + `,` + entry("one", `{"type":"object"}`), "unknown"},
		{entry("one", `{"type":"object"}`), "ran"},
	}
	for range 2 {
		for _, step := range steps {
			c.replace("tools.json", `{"tools":[`+step.entries+`]}`)
			switch r := c.ask(call); step.outcome {
			case "unknown":
				wantError(t, r, "1", -32602)
			case "ran":
				wantText(t, r, "1", "ran")
			default:
				if _, isError := r.ToolText(t); !isError {
					t.Errorf("arguments have passed that the schema refuses: %s", r.Raw)
				}
			}
			if step.outcome != "unknown" {
				wantResult(t, c.ask(request("2", "tools/list", `{}`)), "2", `{"tools":[`+step.entries+`]}`)
			}
			if t.Failed() {
				t.Fatalf("that was with %s", step.entries)
			}
		}
	}
}

func TestAnEditThatLeavesSizeAndTimeAsTheyWereIsSeen(t *testing.T) {
	c := custom(t, listScript("one", "two"), `{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}`, `{}`)
	for range 20 {
		for _, name := range []string{"one", "two"} {
			list := `{"tools":[{"name":"` + name + `","inputSchema":{"type":"object"}}]}`
			c.replace("tools.json", list)
			wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", list)
		}
	}
}

func TestEntriesOfNoUseAreNotServedAndHideNoOthers(t *testing.T) {
	good := `{"name":"good","inputSchema":{"type":"object"}}`
	script := listScript("good", "twice", "7", "undeclared") + "alias tool_aliased='printf ran'\nshopt -s expand_aliases\n" +
		`here=${BASH_SOURCE[0]%/*}
mkdir "$here/bin"
printf '#!/bin/sh\nprintf ran\n' >"$here/bin/tool_executable"
chmod +x "$here/bin/tool_executable"
PATH=$here/bin:$PATH
tool_variable=set
# What a tool ran before is remembered by its path.
hash tool_executable
`
	for name, entry := range map[string]string{
		"null":                                `null`,
		"a number":                            `7`,
		"a string":                            `"good"`,
		"an array":                            `["good"]`,
		"an empty object":                     `{}`,
		"no name":                             `{"description":"good","inputSchema":{"type":"object"}}`,
		"a name of null":                      `{"name":null,"inputSchema":{"type":"object"}}`,
		"a name that is a number":             `{"name":7,"inputSchema":{"type":"object"}}`,
		"an empty name":                       `{"name":"","inputSchema":{"type":"object"}}`,
		"Name":                                `{"Name":"good","inputSchema":{"type":"object"}}`,
		"declared twice":                      `{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","description":"other","inputSchema":{"type":"object"}}`,
		"declared twice, once without schema": `{"name":"twice"},{"name":"twice","inputSchema":{"type":"object"}}`,
		"declared three times":                `{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}}`,
		"declared twice, once in escapes":     `{"name":"twice","inputSchema":{"type":"object"}},{"name":"\u0074wice","inputSchema":{"type":"object"}}`,
		"without function":                    `{"name":"absent","inputSchema":{"type":"object"}}`,
		"in another case":                     `{"name":"GOOD","inputSchema":{"type":"object"}}`,
		"with its prefix":                     `{"name":"tool_good","inputSchema":{"type":"object"}}`,
		"with a space":                        `{"name":"good ","inputSchema":{"type":"object"}}`,
		"with a line break":                   `{"name":"good\n","inputSchema":{"type":"object"}}`,
		"with a NUL":                          `{"name":"good\u0000","inputSchema":{"type":"object"}}`,
		"an executable":                       `{"name":"executable","inputSchema":{"type":"object"}}`,
		"an alias":                            `{"name":"aliased","inputSchema":{"type":"object"}}`,
		"a variable":                          `{"name":"variable","inputSchema":{"type":"object"}}`,
		"a path":                              `{"name":"/../bin/tool_executable","inputSchema":{"type":"object"}}`,
		"a command":                           `{"name":"good; printf ran","inputSchema":{"type":"object"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, list := range []string{entry + "," + good, good + "," + entry} {
				c := custom(t, script, `{"tools":[`+list+`]}`, `{}`)
				wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", `{"tools":[`+good+`]}`)
				for _, tool := range []string{`""`, `"twice"`, `"absent"`, `"GOOD"`, `"tool_good"`, `"good "`, `"good\n"`, `"good\u0000"`, `"executable"`, `"aliased"`, `"variable"`, `"undeclared"`, `"7"`, `"/../bin/tool_executable"`, `"good; printf ran"`} {
					wantError(t, c.ask(request("2", "tools/call", `{"name":`+tool+`}`)), "2", -32602)
				}
				wantText(t, c.ask(request("3", "tools/call", `{"name":"good"}`)), "3", "ran")
			}
		})
	}
}

// A builtin of the name tool_x has to be made first.
func TestABuiltinIsNoTool(t *testing.T) {
	c := custom(t, "enable -n printf 2>/dev/null\nenable printf\n"+listScript("good"),
		`{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}},{"name":"printf","inputSchema":{"type":"object"}}]}`, `{}`)
	wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", `{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}`)
	wantError(t, c.ask(request("2", "tools/call", `{"name":"echo"}`)), "2", -32602)
	wantError(t, c.ask(request("3", "tools/call", `{"name":"printf"}`)), "3", -32602)
}

func TestAListMayBeEmptyOrAbsent(t *testing.T) {
	for _, list := range []string{`{}`, `{"tools":[]}`, `{"tools":null}`, `{"Tools":[{"name":"good","inputSchema":{"type":"object"}}]}`} {
		c := custom(t, listScript("good"), list, `{}`)
		wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", `{"tools":[]}`)
		wantError(t, c.ask(request("2", "tools/call", `{"name":"good"}`)), "2", -32602)
	}
}

func TestAListThatIsNoArrayIsTold(t *testing.T) {
	for _, list := range []string{`{"tools":{}}`, `{"tools":"good"}`, `{"tools":7}`, `{"tools":true}`} {
		c := custom(t, listScript("good"), list, `{}`)
		for _, line := range []string{request("1", "tools/list", `{}`), request("1", "tools/call", `{"name":"good"}`)} {
			r := c.ask(line)
			if wantError(t, r, "1", -32603); !strings.Contains(r.Error.Message, c.path("tools.json")) {
				t.Errorf("the message does not name the file: %s", r.Raw)
			}
		}
		c.alive()
	}
}

func TestAToolWithoutAUsableSchemaIsListedAndItsCallsAreRefused(t *testing.T) {
	for name, member := range map[string]string{
		"none":                       ``,
		"null":                       `,"inputSchema":null`,
		"a string":                   `,"inputSchema":"object"`,
		"a number":                   `,"inputSchema":7`,
		"an array":                   `,"inputSchema":[]`,
		"true":                       `,"inputSchema":true`,
		"another type":               `,"inputSchema":{"type":"array"}`,
		"a type that is none":        `,"inputSchema":{"type":"thing"}`,
		"several types":              `,"inputSchema":{"type":["object","null"]}`,
		"a member of the wrong type": `,"inputSchema":{"type":"object","required":"a"}`,
		"properties that are none":   `,"inputSchema":{"type":"object","properties":[]}`,
		"a property that is none":    `,"inputSchema":{"type":"object","properties":{"a":7}}`,
		"a pattern that is none":     `,"inputSchema":{"type":"object","properties":{"a":{"pattern":"("}}}`,
		"a negative length":          `,"inputSchema":{"type":"object","properties":{"a":{"maxLength":-1}}}`,
		"a reference to nothing":     `,"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`,
		"a reference elsewhere":      `,"inputSchema":{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:9/schema.json"}}}`,
		"a reference to a file":      `,"inputSchema":{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := custom(t, listScript("odd", "good"), `{"tools":[{"name":"odd"`+member+`},{"name":"good","inputSchema":{"type":"object"}}]}`, `{}`)
			for _, line := range []string{request("1", "tools/list", `{}`), modernRequest("1", "tools/list", "")} {
				r := c.ask(line)
				if text := string(r.Result); !strings.HasPrefix(text, `{"tools":[{"name":"odd","inputSchema":{`) || !strings.Contains(text, `{"name":"good",`) {
					t.Errorf("not both are listed: %s", r.Raw)
				}
			}
			for _, line := range []string{
				request("2", "tools/call", `{"name":"odd"}`),
				request("2", "tools/call", `{"name":"odd","arguments":{"a":"`+canary+`"}}`),
				modernRequest("2", "tools/call", `"name":"odd","arguments":{}`),
			} {
				text, isError := c.ask(line).ToolText(t)
				if !isError || !strings.HasPrefix(text, "Cannot validate arguments for odd: ") || strings.Contains(text, canary) {
					t.Errorf("not why the call is refused: %q", text)
				}
				if leak := leaks.FindString(text); leak != "" {
					t.Errorf("the text shows %q: %q", leak, text)
				}
			}
			wantText(t, c.ask(request("3", "tools/call", `{"name":"good"}`)), "3", "ran")
		})
	}
}
