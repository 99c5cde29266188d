package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/wire"
)

// answered is what a request of the drop-in file prints, and the status.
func answered(t *testing.T, what string, fields ...string) (out string, status int, err error) {
	t.Helper()
	var b bytes.Buffer
	err = bashMCPSDK().ask(what, fields, &b)
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		status = exit.status
	case err != nil:
		status = 1
	}
	return b.String(), status, err
}

// serverFiles writes the two files of a server and points to them.
func serverFiles(t *testing.T, tools, config string) (toolsPath, configPath string) {
	t.Helper()
	dir := t.TempDir()
	toolsPath, configPath = filepath.Join(dir, "tools.json"), filepath.Join(dir, "config.json")
	must(t, os.WriteFile(toolsPath, []byte(tools), 0o600))
	must(t, os.WriteFile(configPath, []byte(config), 0o600))
	for name, value := range map[string]string{
		"MCP_TOOLS_LIST_FILE": toolsPath, "MCP_CONFIG_FILE": configPath, "MCP_LOG_FILE": "",
		"MCP_EXTRA_LOG_FILE": "", "MCP_LOG_STDERR": "", "MCP_CONCURRENCY": "", "CONCH_FLAGS": "",
	} {
		t.Setenv(name, value)
	}
	return toolsPath, configPath
}

func TestAResponseIsOneCompactLine(t *testing.T) {
	tests := []struct{ name, id, result, want string }{
		{"an object", `1`, `{ "a" : [ 1, 2 ] }`, `{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`},
		{"over several lines", `"x"`, "{\n\t\"a\": null\n}", `{"jsonrpc":"2.0","id":"x","result":{"a":null}}`},
		{"an id that is null", `null`, `[]`, `{"jsonrpc":"2.0","id":null,"result":[]}`},
		{"an id of many digits", `9007199254740993`, `0`, `{"jsonrpc":"2.0","id":9007199254740993,"result":0}`},
		{"an id in blanks", " 1\n", `0`, `{"jsonrpc":"2.0","id":1,"result":0}`},
		{"a number to the digit", `1`, `1.50e400`, `{"jsonrpc":"2.0","id":1,"result":1.50e400}`},
		{"what web pages fear", `1`, `"<&>` + "\u2028" + `"`, `{"jsonrpc":"2.0","id":1,"result":"<&>` + "\u2028" + `"}`},
		{"escapes as they are", `1`, `"\u003c\ue000\u003c\u00e9\/"`, `{"jsonrpc":"2.0","id":1,"result":"\u003c\ue000\u003c\u00e9\/"}`},
		{"false", `1`, `false`, `{"jsonrpc":"2.0","id":1,"result":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, status, err := answered(t, "response", tt.id, tt.result)
			if err != nil || status != 0 || out != tt.want+"\n" {
				t.Errorf("%q, status %d, %v; want %q", out, status, err, tt.want)
			}
		})
	}
}

func TestAnErrorResponseHasDataOnlyWhenItIsGiven(t *testing.T) {
	tests := []struct{ name, id, code, text, data, want string }{
		{"none", `1`, `-32601`, `no`, ``, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
		{"an object", `"a"`, `7`, `no`, `{"b": 1}`, `{"jsonrpc":"2.0","id":"a","error":{"code":7,"message":"no","data":{"b":1}}}`},
		{"null", `1`, `0`, `no`, `null`, `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"no","data":null}}`},
		{"an empty text", `1`, `0`, `no`, `""`, `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"no","data":""}}`},
		{"a message to quote", `null`, `1`, "a\"\\\n\t<é>", ``, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"a\"\\\n\t<é>"}}`},
		{"an empty message", `1`, `1`, ``, ``, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, status, err := answered(t, "error", tt.id, tt.code, tt.text, tt.data)
			if err != nil || status != 0 || out != tt.want+"\n" {
				t.Errorf("%q, status %d, %v; want %q", out, status, err, tt.want)
			}
		})
	}
}

func TestWhatIsNoJSONIsNoPartOfAResponse(t *testing.T) {
	tests := []struct {
		name, what string
		fields     []string
	}{
		{"no result", "response", []string{`1`, ``}},
		{"half a result", "response", []string{`1`, `{"a"`}},
		{"two results", "response", []string{`1`, `1 2`}},
		{"a result that ends in a backslash", "response", []string{`1`, `"\u003c\`}},
		{"no id", "response", []string{``, `1`}},
		{"two ids", "response", []string{`1 2`, `1`}},
		{"an id that is a word", "response", []string{`abc`, `1`}},
		{"an id that brings members", "response", []string{`1,"x":1`, `1`}},
		{"a result that brings members", "response", []string{`1`, `1,"x":1`}},
		{"an error without an id", "error", []string{``, `1`, `no`, ``}},
		{"no code", "error", []string{`1`, ``, `no`, ``}},
		{"a code that is a word", "error", []string{`1`, `x`, `no`, ``}},
		{"a code that is a fraction", "error", []string{`1`, `1.5`, `no`, ``}},
		{"a code that no integer holds", "error", []string{`1`, `9223372036854775808`, `no`, ``}},
		{"half of the data", "error", []string{`1`, `1`, `no`, `{"a"`}},
		{"data that brings members", "error", []string{`1`, `1`, `no`, `1,"x":1`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out, status, err := answered(t, tt.what, tt.fields...); err == nil || status != 1 || out != "" {
				t.Errorf("%q, status %d, %v", out, status, err)
			}
		})
	}
}

func TestARequestThatIsNotKnownIsRefused(t *testing.T) {
	for what, fields := range map[string][]string{
		"":         {""},
		"nonsense": {"1"},
		"response": {"1"},
		"error":    {"1", "1", "no"},
		"object":   {},
		"list":     {"1", "2"},
	} {
		if out, status, err := answered(t, what, fields...); err == nil || status != 2 || out != "" {
			t.Errorf("%q with %q: %q, status %d, %v", what, fields, out, status, err)
		}
	}
}

func TestAFileThatHoldsOneObjectIsPrintedOnOneLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	tests := []struct{ name, text, want, logged string }{
		{"an object", "{\n  \"a\": 1.0\n}\n", `{"a":1.0}` + "\n", ""},
		{"an empty object", "{}", "{}\n", ""},
		{"two objects", "{} {}", "", "Not exactly one parseable JSON object: " + path},
		{"a list", "[]", "", "Not exactly one parseable JSON object: " + path},
		{"null", "null", "", "Not exactly one parseable JSON object: " + path},
		{"nothing", "", "", "Not exactly one parseable JSON object: " + path},
		{"half an object", `{"a"`, "", "Not exactly one parseable JSON object: " + path},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, written := newTestJournal(t)
			must(t, os.WriteFile(os.Getenv("MCP_LOG_FILE"), nil, 0o600))
			must(t, os.WriteFile(path, []byte(tt.text), 0o600))
			out, status, _ := answered(t, "object", path)
			if out != tt.want || (status != 0) != (tt.want == "") {
				t.Errorf("%q, status %d; want %q", out, status, tt.want)
			}
			log := written()
			if tt.logged != "" && withoutTime(t, log) != "[ERROR] "+tt.logged || tt.logged == "" && log != "" {
				t.Errorf("the journal has %q, want %q", log, tt.logged)
			}
		})
	}
	t.Run("nothing of that name", func(t *testing.T) {
		_, written := newTestJournal(t)
		for _, path := range []string{dir + "/missing", dir, os.DevNull} {
			if out, status, _ := answered(t, "object", path); out != "" || status != 1 {
				t.Errorf("%s: %q, status %d", path, out, status)
			}
			if !strings.HasSuffix(written(), "[ERROR] File not found: "+path+"\n") {
				t.Errorf("the journal has %q", written())
			}
		}
	})
}

func TestTheHandshakeAndTheListAreAskedForByID(t *testing.T) {
	tools, config := serverFiles(t, `{"tools":[{"name":"a"}]}`, `{"serverInfo":{"name":"n","version":"2"}}`)
	check := func(what string, fields []string, want string) {
		t.Helper()
		if out, status, err := answered(t, what, fields...); err != nil || status != 0 || out != want+"\n" {
			t.Errorf("%s: %q, status %d, %v; want %q", what, out, status, err, want)
		}
	}
	check("list", []string{`"x"`}, `{"jsonrpc":"2.0","id":"x","result":{"tools":[{"name":"a"}]}}`)
	check("initialize", []string{`1`, `{"protocolVersion":"2025-06-18"}`},
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"n","version":"2"},"capabilities":{"tools":{}}}}`)
	check("initialize", []string{`1`, `no JSON`},
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"n","version":"2"},"capabilities":{"tools":{}}}}`)
	must(t, os.Remove(tools))
	must(t, os.Remove(config))
	check("list", []string{`1`}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Cannot read tools list: `+tools+`"}}`)
	check("initialize", []string{`1`, `{}`}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Cannot read server configuration: `+config+`"}}`)
}

func TestAValidationPrintsWhatIsWrongAndFails(t *testing.T) {
	path, _ := serverFiles(t, `{"tools":[{"name":"a","inputSchema":{"required":["n"]}},{"name":"bare"},{"name":"two"},{"name":"two"}]}`, `{}`)
	cannot := func(tool, why string) string { return "Cannot validate arguments for " + tool + ": " + why + "." }
	tests := []struct{ name, tool, arguments, want string }{
		{"nothing", "a", `{"n":1}`, ""},
		{"a parameter", "a", `{}`, "Missing required parameter(s): n."},
		{"arguments that are a list", "a", `[1]`, "Invalid arguments: expected a JSON object, got array."},
		{"arguments that are no JSON", "a", `{"n"`, cannot("a", "they could not be evaluated against its schema")},
		{"no schema", "bare", `{}`, cannot("bare", "its entry in "+path+" declares no inputSchema")},
		{"a tool declared twice", "two", `{}`, cannot("two", "the tool list at "+path+" declares it more than once")},
		{"no such tool", "none", `{}`, cannot("none", "the tool list at "+path+" does not declare it")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, status, _ := answered(t, "validate", tt.tool, tt.arguments)
			if out != tt.want || (status != 0) != (tt.want != "") {
				t.Errorf("%q, status %d; want %q", out, status, tt.want)
			}
		})
	}
}

func TestTheDropInServerTakesItsFlagsFromTheEnvironment(t *testing.T) {
	tests := []struct {
		name, flags, concurrency string
		limits                   call.Limits
		maxLine                  size
		drain                    duration
		workers                  int
	}{
		{"none", "", "", call.Limits{MaxOutput: 10 << 20}, wire.DefaultMaxLine, math.MaxInt64, 1},
		{"blanks", " \t\n", "", call.Limits{MaxOutput: 10 << 20}, wire.DefaultMaxLine, math.MaxInt64, 1},
		{"each", "--timeout 30s --max-output 1MiB --max-line 2KiB --drain 5s", "4",
			call.Limits{Timeout: 30 * time.Second, MaxOutput: 1 << 20}, 2 << 10, duration(5 * time.Second), 4},
		{"with an equals sign", "--timeout=1m  --drain=0s", "1", call.Limits{Timeout: time.Minute, MaxOutput: 10 << 20}, wire.DefaultMaxLine, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serverFiles(t, `{}`, `{}`)
			t.Setenv("CONCH_FLAGS", tt.flags)
			t.Setenv("MCP_CONCURRENCY", tt.concurrency)
			d, err := newDropInServer(bashMCPSDK())
			if err != nil {
				t.Fatal(err)
			}
			if d.limits != tt.limits || d.connection.maxLine != tt.maxLine || d.connection.drain != tt.drain || d.workers != tt.workers {
				t.Errorf("%+v, %+v, %d workers", d.limits, d.connection, d.workers)
			}
		})
	}
}

func TestFlagsThatMakeNoSenseNameTheirVariable(t *testing.T) {
	const flags = "there are --timeout, --max-output, --max-line and --drain"
	tests := []struct{ variable, value, instead string }{
		{"CONCH_FLAGS", "--timeout", ""},
		{"CONCH_FLAGS", "--timeout soon", "30s"},
		{"CONCH_FLAGS", "--concurrency 4", "MCP_CONCURRENCY"},
		{"CONCH_FLAGS", "--tools=list.json", "MCP_TOOLS_LIST_FILE"},
		{"CONCH_FLAGS", "--config c.json", "MCP_CONFIG_FILE"},
		{"CONCH_FLAGS", "--log-file x.log", "MCP_LOG_FILE"},
		{"CONCH_FLAGS", "--bash /bin/bash", flags},
		{"CONCH_FLAGS", "--help", flags},
		{"CONCH_FLAGS", "-x", flags},
		{"CONCH_FLAGS", "30s", flags},
		{"CONCH_FLAGS", "--max-line 0", ""},
		{"CONCH_FLAGS", "--max-output 0", ""},
		{"MCP_CONCURRENCY", "0", ""},
		{"MCP_CONCURRENCY", "-1", ""},
		{"MCP_CONCURRENCY", "many", ""},
		{"MCP_CONCURRENCY", "1025", ""},
		{"MCP_CONCURRENCY", "1 ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.variable+"="+tt.value, func(t *testing.T) {
			serverFiles(t, `{}`, `{}`)
			t.Setenv(tt.variable, tt.value)
			_, err := newDropInServer(bashMCPSDK())
			var exit *exitError
			if !errors.As(err, &exit) || exit.status != 2 || !strings.Contains(err.Error(), "$"+tt.variable) || !strings.Contains(err.Error(), tt.instead) {
				t.Errorf("%v", err)
			}
		})
	}
}

// FuzzResponses gives any texts to what prints responses: what is printed is
// one line of JSON with the id, the result and nothing else.
func FuzzResponses(f *testing.F) {
	for _, seed := range [][2]string{
		{`1`, `{"a":[1,2]}`}, {`"x"`, `"\u003c\ue000\u003c\`}, {`1,"x":1`, `1`}, {`1`, `1,"x":2`}, {"\n1\n", "{\n}"}, {``, ``}, {`null`, `"` + "\xff\u2028" + `"`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, id, value string) {
		for member, print := range map[string]func(*bytes.Buffer) error{
			"result": func(b *bytes.Buffer) error { return printResponse(b, id, json.RawMessage(value)) },
			"error":  func(b *bytes.Buffer) error { return printError(b, id, 1, value, json.RawMessage(value)) },
		} {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				if b.Len() > 0 {
					t.Fatalf("%v, and printed is %q", err, b.String())
				}
				continue
			}
			line := b.String()
			if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
				t.Fatalf("printed is %q", line)
			}
			var got map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if len(got) != 3 || string(got["jsonrpc"]) != `"2.0"` || string(got["id"]) != compacted(id) || got[member] == nil {
				t.Errorf("of the id %q and %q it makes %q", id, value, line)
			}
			if member == "result" && string(got[member]) != compacted(value) {
				t.Errorf("of %q it makes %q", value, got[member])
			}
		}
	})
}

func compacted(text string) string {
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(text))
	return b.String()
}
