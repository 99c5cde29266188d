package annotated_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// awaitChanges waits until the client has been told n times that the list of tools
// has changed.
func (s *server) awaitChanges(n int) {
	s.t.Helper()
	for s.changed < n {
		line := s.Line()
		if !strings.Contains(line, `"method":"notifications/tools/list_changed"`) {
			s.t.Fatalf("not what was awaited: %.300s", line)
		}
		s.changed++
	}
}

// begin begins a session of the older era, in which clients are told of changes.
func (s *server) begin() {
	s.t.Helper()
	s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func one(name, says string) string {
	return fmt.Sprintf("# @cmd\n%s() { echo %s; }\n", name, says)
}

func TestAnEditOfAFileOfAFolderIsThereForTheNextRequest(t *testing.T) {
	dir := files(t, map[string]string{"a.sh": one("a", "1"), "b.sh": one("b", "1"), "data.txt": "x\n"})
	s := serve(t, dir)
	s.begin()
	s.names("a", "b")

	// A function's body, which no list has.
	write(t, filepath.Join(dir, "a.sh"), one("a", "2"))
	s.says("a", `{}`, "2")
	s.awaitChanges(1)

	// What is new, with another parameter.
	write(t, filepath.Join(dir, "c.sh"), "# @describe d\n# @option --x!\nmain() { echo \"c $argc_x\"; }\n")
	s.says("c", `{"x":"y"}`, "c y")
	s.names("a", "b", "c")
	s.awaitChanges(2)
	write(t, filepath.Join(dir, "c.sh"), "# @describe d\n# @option --z!\nmain() { echo \"c $argc_z\"; }\n")
	s.fails("c", `{"x":"y"}`, "z")
	s.says("c", `{"z":"y"}`, "c y")
	s.awaitChanges(3)

	// What is gone.
	if err := os.Remove(filepath.Join(dir, "b.sh")); err != nil {
		t.Fatal(err)
	}
	s.names("a", "c")
	if reply := s.request("tools/call", `{"name":"b","arguments":{}}`); reply.Error == nil || reply.Error.Code != -32602 {
		t.Errorf("a tool that is gone: %s", reply.Raw)
	}
	s.awaitChanges(4)

	// The new file has been watched since.
	write(t, filepath.Join(dir, "c.sh"), "# @describe d\nmain() { echo again; }\n")
	s.awaitChanges(5)
	s.says("c", `{}`, "again")

	// A list, which had not been there.
	write(t, filepath.Join(dir, "tools.json"), `{"tools":[{"name":"a","description":"of the list","inputSchema":{"type":"object"}}]}`)
	s.awaitChanges(6)
	_, entries := s.tools()
	if !strings.Contains(string(entries["a"]), "of the list") {
		t.Errorf("the entry is %s", entries["a"])
	}
	s.says("a", `{}`, "2")
	s.ends()
}

func TestAFileThatTagsNewlyNameIsWatched(t *testing.T) {
	dir := files(t, map[string]string{"a.sh": one("a", "1"), "more/out.json": `{"type":"object"}`})
	s := serve(t, dir)
	s.begin()
	s.names("a")
	write(t, filepath.Join(dir, "a.sh"), "# @cmd\n# @meta output-schema more/out.json\na() { echo '{}'; }\n")
	s.awaitChanges(1)
	write(t, filepath.Join(dir, "more", "out.json"), `{"type":"object","title":"other"}`)
	s.awaitChanges(2)
	_, entries := s.tools()
	if !strings.Contains(string(entries["a"]), `"title":"other"`) {
		t.Errorf("the entry is %s", entries["a"])
	}
	s.ends()
}

func TestABrokenFileOfARunningFolderCostsItsOwnTools(t *testing.T) {
	dir := files(t, map[string]string{"a.sh": one("a", "1"), "b.sh": one("b", "1")})
	s := serve(t, dir)
	s.names("a", "b")
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\n# @option --x[\nb() { :; }\n")
	s.names("a")
	s.says("a", `{}`, "1")
	harness.Eventually(t, harness.Deadline, "a warning", func() bool { return strings.Contains(s.Stderr(), "b.sh:2") })
	// Bash's own errors end a call.
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\nb() { echo 1; }\nif\n")
	s.fails("b", `{}`, "syntax error, or its last command failed")
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\nb() { echo 1; }\nunset -f b\n")
	s.fails("b", `{}`, "has not defined b")
	write(t, filepath.Join(dir, "b.sh"), one("b", "2"))
	s.names("a", "b")
	s.says("b", `{}`, "2")
	write(t, filepath.Join(dir, "c.sh"), one("a", "c"))
	s.names("b")
	harness.Eventually(t, harness.Deadline, "a warning", func() bool { return strings.Contains(s.Stderr(), "a.sh and c.sh both have a tool a") })
	if err := os.Remove(filepath.Join(dir, "a.sh")); err != nil {
		t.Fatal(err)
	}
	s.says("a", `{}`, "c")
	s.ends()
}

func TestWhatAFolderDoesNotServe(t *testing.T) {
	dir := files(t, map[string]string{
		"a.sh": one("a", "1"), ".hidden.sh": one("hidden", "1"), "old.sh~": one("old", "1"), "sub/b.sh": one("sub", "1"), "lib.sh": "helper() { :; }\n",
		"notes.md": "# @describe no script\n", "empty.sh": "",
	})
	if err := os.Symlink(filepath.Join(dir, "sub", "b.sh"), filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling.sh")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	s.names("a", "sub")
	if strings.Contains(s.Stderr(), "WARN") {
		t.Errorf("there is a warning: %s", s.Stderr())
	}
	s.ends()
}

func TestAStartIsRefusedWithWhatIsWrongWhereAndWhatWasExpected(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		parts []string
	}{
		{"no choices", map[string]string{"x.sh": "# @cmd\n# @option --x[]\nx() { :; }\n"}, []string{"x.sh:2:", "there are no choices", "expected"}},
		{"an unknown tag", map[string]string{"x.sh": "# @cmd\n# @optoin --x\nx() { :; }\n"}, []string{"x.sh:2:", "@optoin", "expected @describe"}},
		{"a default that does not fit", map[string]string{"x.sh": "# @cmd\n# @option --x=y <INT>\nx() { :; }\n"}, []string{"x.sh:2", "whole number"}},
		{"a @cmd without a function", map[string]string{"x.sh": "# @cmd\n"}, []string{"x.sh:1", "no function follows @cmd", "expected"}},
		{"a function that computes and is not there", map[string]string{"x.sh": "# @cmd\n# @option --x=`f`\nx() { :; }\n"}, []string{"x.sh:2", "there is no function f"}},
		{"two mistakes", map[string]string{"x.sh": "# @cmd\n# @option --x[]\nx() { :; }\n# @cmd\n# @flag\ny() { :; }\n"}, []string{"x.sh:2:", "x.sh:5:"}},
		{"a schema that is none", map[string]string{"x.sh": "# @cmd\n# @option --x\n# @schema x {\"type\":7}\nx() { :; }\n"}, []string{"x.sh:3"}},
		{"a bad dotenv", map[string]string{"x.sh": "# @meta dotenv v\n# @cmd\nx() { :; }\n", "v": "A='\n"}, []string{"/v", "@meta dotenv"}},
		{"a dotenv with no name", map[string]string{"x.sh": "# @meta dotenv v\n# @cmd\nx() { :; }\n", "v": "a.b=1\n"}, []string{"/v", "a.b"}},
		{"an output schema that is not there", map[string]string{"x.sh": "# @cmd\n# @meta output-schema none.json\nx() { :; }\n"}, []string{"x.sh:1", "output-schema", "none.json"}},
		{"an output schema that is no JSON", map[string]string{"x.sh": "# @cmd\n# @meta output-schema s.json\nx() { :; }\n", "s.json": "{"}, []string{"output-schema", "s.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, tt.files)
			for _, target := range []string{dir, filepath.Join(dir, "x.sh")} {
				out, status := conch(t, nil, "serve", target)
				if status == 0 {
					t.Errorf("%s is fine: %s", target, out)
				}
				for _, part := range tt.parts {
					if !strings.Contains(out, part) {
						t.Errorf("%s: %q is not in %s", target, part, out)
					}
				}
			}
		})
	}
	for _, tt := range []struct {
		files map[string]string
		parts []string
	}{
		{map[string]string{"a.sh": one("x", "1"), "b.sh": one("x", "2")}, []string{"a.sh and b.sh both have a tool x"}},
		{map[string]string{"lib.sh": "f() { :; }\n"}, []string{"no file in", "@describe"}},
		{map[string]string{"p": "#!/usr/bin/awk -f\n# @describe d\n# @option --x[]\n"}, []string{"p:3:", "there are no choices"}},
		{map[string]string{"p": "#!/usr/bin/awk -f\n# @cmd d\n# @option --x\n"}, []string{"/p", "@cmd"}},
	} {
		out, status := conch(t, nil, "serve", files(t, tt.files))
		for _, part := range tt.parts {
			if status == 0 || !strings.Contains(out, part) {
				t.Errorf("%v: status %d, %q is not in %s", tt.files, status, part, out)
			}
		}
	}
}

func TestScriptsOfAListStartAsBefore(t *testing.T) {
	const text = `# @param x what it is
# @describe a thing, as comments do
# @arg $1 string as shdoc has it
# @return nothing
# @option -h | --help  Print help.
tool_x() { echo "x $arg_a"; }
# @exitcode 0 always
`
	const list = `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		env   []string
		flags []string
	}{
		{"a list beside it", map[string]string{"server.sh": text, "tools.json": list}, nil, nil},
		{"a list that the environment names", map[string]string{"server.sh": text, "other.json": list}, []string{"MCP_TOOLS_LIST_FILE=other.json"}, nil},
		{"a list that a flag names", map[string]string{"server.sh": text, "other.json": list}, nil, []string{"--tools", "other.json"}},
		{"a list that the script names", map[string]string{"server.sh": "MCP_TOOLS_LIST_FILE=\"$(dirname \"${BASH_SOURCE[0]}\")/other.json\"\n" + text, "other.json": list}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.files["config.json"] = `{}`
			dir := files(t, tt.files)
			for i := range tt.flags {
				tt.flags[i] = strings.Replace(tt.flags[i], "other.json", filepath.Join(dir, "other.json"), 1)
			}
			for i := range tt.env {
				tt.env[i] = strings.Replace(tt.env[i], "other.json", filepath.Join(dir, "other.json"), 1)
			}
			s := serveWith(t, tt.env, filepath.Join(dir, "server.sh"), tt.flags...)
			s.names("x")
			s.says("x", `{"a":"b"}`, "x b")
			s.ends()
		})
	}
}

func TestAListAndTagsTogether(t *testing.T) {
	dir := files(t, map[string]string{"server.sh": `
tool_listed() { echo "listed $arg_a"; }
# @cmd Of the tags
# @option --a
both() { echo "both ${argc_a-none}"; }
# @cmd Of the tags
tagged() { echo tagged; }
`, "tools.json": `{"tools":[{"name":"listed","inputSchema":{"type":"object"}},
{"name":"both","description":"Of the list","inputSchema":{"type":"object","properties":{"a":{"type":"string","minLength":2}}}},
{"name":"prog","exec":["cat"],"inputSchema":{"type":"object"}}]}`})
	s := serve(t, filepath.Join(dir, "server.sh"))
	s.names("listed", "both", "prog", "tagged")
	_, entries := s.tools()
	if !strings.Contains(string(entries["both"]), "Of the list") || !strings.Contains(string(entries["both"]), "minLength") {
		t.Errorf("the list does not win: %s", entries["both"])
	}
	s.says("listed", `{"a":"x"}`, "listed x")
	s.says("both", `{"a":"xy"}`, "both xy")
	s.says("both", `{}`, "both none")
	s.fails("both", `{"a":"x"}`, "a")
	s.says("prog", `{"a":1}`, `{"a":1}`)
	s.says("tagged", `{}`, "tagged")
	if strings.Contains(s.Stderr(), "WARN") {
		t.Errorf("there is a warning: %s", s.Stderr())
	}
	s.ends()

	// A folder's list may declare programs, too.
	write(t, filepath.Join(dir, "server.sh"), one("tagged", "tagged"))
	write(t, filepath.Join(dir, "tools.json"), `{"tools":[{"name":"prog","exec":["./bin/p","x"],"inputSchema":{"type":"object"}}]}`)
	write(t, filepath.Join(dir, "bin", "p"), "#!/bin/sh\necho \"$1\"\n")
	s = serve(t, dir)
	s.names("prog", "tagged")
	s.says("prog", `{}`, "x")
	s.ends()
}
