package annotated_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const small = "# @describe Says hello.\n# @option --name!  Whom to greet\n# @flag --loud\nmain() { echo \"Hello, $argc_name${argc_loud:+!}\" >>\"$LLM_OUTPUT\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n"

func TestEveryRevisionListsTheSameTools(t *testing.T) {
	dir := files(t, map[string]string{"hello.sh": small, "p": "#!/usr/bin/awk -f\n# @describe d\n# @option --n <INT>\n{ print }\n"})
	for _, target := range []string{dir, filepath.Join(dir, "hello.sh")} {
		var first string
		for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			s := serve(t, target)
			var result json.RawMessage
			if revision == "2026-07-28" {
				_, body := harness.ModernRequest("7", "tools/list", "")
				s.Send(body)
				result = harness.ParseReply(t, s.Line()).Result
			} else {
				s.request("initialize", `{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
				s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				result = s.request("tools/list", `{}`).Result
			}
			_, entries := toolsIn(t, result)
			text, _ := json.Marshal(entries)
			if first == "" {
				first = string(text)
			}
			if len(entries) == 0 || string(text) != first {
				t.Errorf("%s lists %s, and not %s", revision, text, first)
			}
			s.ends()
		}
	}
}

func TestOverHTTP(t *testing.T) {
	dir := files(t, map[string]string{"hello.sh": small, "p": "#!/usr/bin/awk -f\n# @describe d\n# @option --n <INT>\n{ print }\n"})
	for _, target := range []string{dir, filepath.Join(dir, "hello.sh")} {
		s := harness.ServeHTTP(t, target)
		post := func(method, params string) harness.Reply {
			t.Helper()
			header, body := harness.ModernRequest("1", method, params)
			request, err := http.NewRequest(http.MethodPost, s.URL(), strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range header {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, _ := io.ReadAll(response.Body)
			line := strings.TrimSpace(string(text))
			if i := strings.LastIndex(line, "data: "); i >= 0 {
				line = line[i+len("data: "):]
			}
			return harness.ParseReply(t, line)
		}
		if text, isError := post("tools/call", `"name":"hello","arguments":{"name":"Ada","loud":true}`).ToolText(t); isError || text != "Hello, Ada!" {
			t.Errorf("it says %q", text)
		}
		if target == dir {
			if text, isError := post("tools/call", `"name":"p","arguments":{"n":3}`).ToolText(t); isError || text != `{"n":3}` {
				t.Errorf("it says %q", text)
			}
		}
		if _, isError := post("tools/call", `"name":"hello","arguments":{}`).ToolText(t); !isError {
			t.Error("a call without its argument is fine")
		}
		s.Terminate()
		s.LeavesNothing(harness.Deadline)
	}
}

func TestConchCallsListsAndTestsThem(t *testing.T) {
	dir := files(t, map[string]string{"hello.sh": small})
	for _, target := range []string{dir, filepath.Join(dir, "hello.sh")} {
		if out, status := conch(t, nil, "call", target, "hello", "name=Ada"); status != 0 || !strings.Contains(out, "Hello, Ada") {
			t.Errorf("call %s: status %d: %s", target, status, out)
		}
		if out, status := conch(t, nil, "tools", target); status != 0 || !strings.Contains(out, "Says hello.") || !strings.Contains(out, "name") {
			t.Errorf("tools %s: status %d: %s", target, status, out)
		}
	}
	write(t, filepath.Join(dir, "hello.test.yaml"), "- name: a\n  tool: hello\n  args: { name: Ada }\n  expect: { text: \"Hello, Ada\" }\n")
	write(t, dir+".test.yaml", "- name: b\n  tool: hello\n  args: { name: Bob, loud: true }\n  expect: { text: \"Hello, Bob!\" }\n")
	write(t, filepath.Join(dir, "other.sh"), one("other", "o"))
	write(t, filepath.Join(dir, "prog.awk"), "#!/usr/bin/awk -f\n# @describe d\n{ print }\n")
	write(t, filepath.Join(dir, "prog.test.yaml"), "- name: c\n  tool: prog\n  expect: { text: \"{}\" }\n")
	if out, status := conch(t, nil, "test", dir); status != 0 || !strings.Contains(out, "3 passed, 0 failed") {
		t.Errorf("test: status %d: %s", status, out)
	}
}
