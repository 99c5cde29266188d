package annotated

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/catalog/program"
	"github.com/conch-mcp/conch/internal/tags"
)

// write puts a file in its place as a whole; one that begins with #! can be executed.
func write(t testing.TB, path, text string) {
	t.Helper()
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	beside := filepath.Join(filepath.Dir(path), ".new")
	if err := errors.Join(os.WriteFile(beside, []byte(text), mode), os.Rename(beside, path)); err != nil {
		t.Fatal(err)
	}
}

func folderOf(t testing.TB, env Environment, texts map[string]string) (*Folder, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		write(t, filepath.Join(dir, name), text)
	}
	f, err := NewFolder(dir, env)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func names(tools *catalog.Tools) (list []string) {
	for _, tool := range tools.List {
		list = append(list, tool.Name)
	}
	return list
}

// requireTools reads a folder and checks which tools it has, and what is told: a part
// of each problem.
func requireTools(t testing.TB, f *Folder, want string, problems ...string) *catalog.Tools {
	t.Helper()
	tools, err := f.Tools(noList())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(tools), " "); got != want {
		t.Errorf("the tools are %q, want %q", got, want)
	}
	if len(tools.Problems) != len(problems) {
		t.Errorf("the problems are %q", tools.Problems)
		return tools
	}
	for i, part := range problems {
		if !strings.Contains(tools.Problems[i], part) {
			t.Errorf("%q is not in %q", part, tools.Problems[i])
		}
	}
	return tools
}

func TestAFolderIsReadAgainWhenItHasChanged(t *testing.T) {
	f, dir := folderOf(t, in(nil), map[string]string{"a.sh": "# @cmd\na() { :; }\n", "data": "x"})
	// Once the time stamps of its files tell a change, it is not read any more.
	first := requireTools(t, f, "a")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		again := requireTools(t, f, "a")
		if again == first {
			break
		}
		if first = again; time.Now().After(deadline) {
			t.Fatal("it is read again and has not changed")
		}
	}
	write(t, filepath.Join(dir, "b.sh"), "# @describe d\nmain() { :; }\n")
	requireTools(t, f, "a b")
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\n# @option --x[\nc() { :; }\n")
	requireTools(t, f, "a", "b.sh:2:14: the choices have no end")
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\nc() { :; }\n")
	requireTools(t, f, "a c")
	if got, want := f.Files(), []string{dir, filepath.Join(dir, "a.sh"), filepath.Join(dir, "b.sh"), filepath.Join(dir, "data")}; !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	// What tags name is a part of it, too.
	write(t, filepath.Join(dir, "b.sh"), "# @meta dotenv\n# @cmd\n# @option --x! $FROM\n# @meta output-schema .out\nc() { :; }\n")
	requireTools(t, f, "a", ".out")
	write(t, filepath.Join(dir, ".out"), `{"type":"object"}`)
	if tool := requireTools(t, f, "a c").Lookup("c"); !strings.Contains(string(tool.InputSchema), `"required"`) {
		t.Errorf("nothing is required: %s", tool.InputSchema)
	}
	write(t, filepath.Join(dir, ".env"), "FROM=x\n")
	if tool := requireTools(t, f, "a c").Lookup("c"); strings.Contains(string(tool.InputSchema), `"required"`) {
		t.Errorf("what the file gives is required: %s", tool.InputSchema)
	}
	if got := f.Files(); !slices.Contains(got, filepath.Join(dir, ".env")) || !slices.Contains(got, filepath.Join(dir, ".out")) {
		t.Errorf("the files are %q", got)
	}
	write(t, filepath.Join(dir, "b.sh"), "# @cmd\nc() { :; }\n")
	if err := os.Remove(filepath.Join(dir, "a.sh")); err != nil {
		t.Fatal(err)
	}
	// A program that can no longer be executed.
	write(t, filepath.Join(dir, "p"), "#!/usr/bin/awk -f\n# @describe d\n")
	requireTools(t, f, "c p")
	if err := os.Chmod(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	requireTools(t, f, "c", "not executable")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var gone *catalog.FileError
	if _, err := f.Tools(noList()); !errors.As(err, &gone) || !gone.NotFound {
		t.Errorf("a folder that is gone: %v", err)
	}
	if err := f.Check(catalog.NewTools(nil, nil, nil)); err == nil {
		t.Error("a folder that is gone is fine")
	}
}

func TestWhatBelongsToAFolder(t *testing.T) {
	f, dir := folderOf(t, in(nil), map[string]string{
		"a.sh": "# @cmd\na() { :; }\n", ".h.sh": "# @cmd\nh() { :; }\n", "b.sh~": "# @cmd\nb() { :; }\n", "lib.sh": "f() { :; }\n", "t.yaml": "# @describe d\n", "e": "",
		"private.sh": "# @cmd\n_p() { :; }\n",
	})
	if err := unix.Mkfifo(filepath.Join(dir, "fifo.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "d.sh"), 0o755), os.Symlink("a.sh", filepath.Join(dir, ".l")), os.Symlink("none", filepath.Join(dir, "dangling.sh"))); err != nil {
		t.Fatal(err)
	}
	requireTools(t, f, "a", "no function below a @cmd that could be a tool")
	if err := f.Check(catalog.NewTools(nil, nil, nil)); err != nil {
		t.Error(err)
	}
}

func TestTwoToolsOfOneNameAreNone(t *testing.T) {
	f, dir := folderOf(t, in(nil), map[string]string{
		"a.sh": "# @cmd\nx() { :; }\n# @cmd\ny() { :; }\n", "b.sh": "# @cmd\nx() { :; }\n", "x.sh": "# @describe d\nmain() { :; }\n",
	})
	requireTools(t, f, "y", "a.sh and b.sh both have a tool x", "a.sh and x.sh both have a tool x")
	if err := f.Check(catalog.NewTools(nil, nil, nil)); err == nil || !strings.Contains(err.Error(), "give one of them another name") {
		t.Errorf("the check says %v", err)
	}
	for _, name := range []string{"b.sh", "x.sh"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	requireTools(t, f, "x y")
}

func TestCheckTellsOfAllFiles(t *testing.T) {
	f, _ := folderOf(t, in(nil), map[string]string{"a.sh": "# @cmd\n# @option --x[]\na() { :; }\n", "b.sh": "# @cmd\n", "c.sh": "# @cmd\nc() { :; }\n"})
	err := f.Check(catalog.NewTools(nil, nil, nil))
	if err == nil || !strings.Contains(err.Error(), "a.sh:2:") || !strings.Contains(err.Error(), "b.sh:1") {
		t.Errorf("the check says %v", err)
	}
	requireTools(t, f, "c", "a.sh:2", "b.sh:1")
	empty, _ := folderOf(t, in(nil), map[string]string{"lib.sh": "f() { :; }\n"})
	if err := empty.Check(catalog.NewTools(nil, nil, nil)); err == nil || !strings.Contains(err.Error(), "no file in") {
		t.Errorf("of an empty folder the check says %v", err)
	}
	program := catalog.NewTools([]*catalog.Tool{{Name: "p", Engine: &command{}}}, nil, nil)
	if err := empty.Check(program); err != nil {
		t.Errorf("of one with a list the check says %v", err)
	}
}

func TestLanguages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       language
	}{
		{"x.sh", "", bash}, {"x.bash", "", bash}, {"x.SH", "", bash}, {"x", "", unknown}, {"x.txt", "# @cmd", unknown}, {"x.md", "", unknown},
		{"x", "#!/bin/bash\n", bash}, {"x", "#!/usr/bin/env bash\r\n", bash}, {"x", "#! /usr/bin/env -S bash -e\n", bash}, {"x", "#!/bin/sh", bash}, {"x", "#!/usr/bin/env conch\n", bash},
		{"x.sh", "#!/usr/bin/env python3\n", hashes}, {"x.py", "#!/usr/bin/env python3\n", hashes}, {"x.py", "", hashes}, {"x", "#!/usr/bin/perl -w\n", hashes}, {"x", "#!/opt/some/thing\n", hashes},
		{"x.js", "", slashes}, {"x", "#!/usr/bin/env node\n", slashes}, {"x", "#!/usr/bin/env -S deno run\n", slashes}, {"x.ts", "#!/usr/bin/env tsx\n", slashes}, {"x.js", "#!/bin/bash\n", bash},
		{"x.lua", "#!/usr/bin/env lua\n", dashes}, {"x.hs", "", dashes}, {"x", "#!/usr/bin/lua\n", dashes}, {"x", "#!\n", unknown}, {"x", "no\n#!/bin/bash\n", unknown},
	} {
		if got := languageOf(tt.name, []byte(tt.text)); got != tt.want {
			t.Errorf("%s %q is %d, want %d", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestProgramsOfAFolder(t *testing.T) {
	const head = "#!/usr/bin/awk -f\n"
	f, dir := folderOf(t, in(map[string]string{"TOKEN": "t", "LIST": "1,2", "ALL": "true", "LOUD": "2", "BAD": "x"}), map[string]string{
		"p.env": "FROM=file\n",
		"p": head + `# @describe Does it
# @option --token! $$
# @option --list*, $LIST <INT>
# @option --size=07 <INT>
# @option --words <A+>
# @option --kind[=a|b]
# @option --wrong $BAD <INT>
# @flag --all $ALL
# @flag --loud* $LOUD
# @flag --off
# @env GIVEN=1
# @env OTHER[x|y]
# @env MUST!
# @meta dotenv p.env
# @meta environment minimal
# @meta timeout 2.5
`,
	})
	tool := requireTools(t, f, "p").List[0]
	if tool.Description != "Does it" || tool.Timeout.Seconds() != 2.5 || strings.Contains(string(tool.Entry), `"required"`) {
		t.Errorf("the tool is %s, with %v", tool.Entry, tool.Timeout)
	}
	p, ok := tool.Engine.(*program.Program)
	if !ok || !slices.Equal(p.Words, []string{filepath.Join(dir, "p")}) {
		t.Fatalf("it is run by %+v", tool.Engine)
	}
	if got := p.Missing(has(p.Words...)); len(got) != 1 || !strings.Contains(got[0], "MUST") {
		t.Errorf("missing is %q", got)
	}
	if _, err := p.Invocation(json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "BAD") {
		t.Errorf("a variable that does not fit: %v", err)
	}
	v, err := p.Invocation(json.RawMessage(`{"wrong":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(v.Input), `{"wrong":1,"token":"t","list":[1,2],"size":7,"kind":"a","all":true,"loud":2}`+"\n"; got != want {
		t.Errorf("the input is %s, want %s", got, want)
	}
	if !slices.Equal(v.Defaults, []string{"FROM=file", "GIVEN=1"}) || !slices.Equal(v.Wants, []string{"GIVEN", "OTHER", "MUST", "FROM"}) || !v.Environment.Limited {
		t.Errorf("it runs with %+v", v)
	}
	for name, text := range map[string]string{
		"a @cmd":            head + "# @cmd\n# @option --x\n",
		"a bad environment": head + "# @describe d\n# @meta environment A=1\n",
		"no first line":     "# @describe d\n",
	} {
		bad, dir := folderOf(t, in(nil), map[string]string{"q.py": text})
		if err := os.Chmod(filepath.Join(dir, "q.py"), 0o755); err != nil {
			t.Fatal(err)
		}
		if tools, err := bad.Tools(noList()); err != nil || len(tools.List) > 0 || len(tools.Problems) != 1 || !strings.Contains(tools.Problems[0], "q.py") {
			t.Errorf("%s: %v, %+v", name, err, tools)
		}
	}
}

// list reads a list of tools.
func list(t testing.TB, text string) *catalog.Tools {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.json")
	write(t, path, text)
	tools, err := bashsdk.NewToolsFile(path, false).Read()
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func TestTheListWins(t *testing.T) {
	s := readScript(t, "# @cmd of tags\n# @option --a\nboth() { :; }\n# @cmd\ntagged() { :; }\n# @cmd\nprog() { :; }\n# @cmd\ntwice() { :; }\n", in(nil))
	tools := s.Tools(list(t, `{"tools":[{"name":"listed","inputSchema":{"type":"object"}},{"name":"both","description":"of the list","inputSchema":{"type":"object","required":["b"]}},
		{"name":"prog","exec":["cat"],"inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}}]}`))
	if got := strings.Join(names(tools), " "); got != "listed both prog tagged" {
		t.Errorf("the tools are %q", got)
	}
	both := tools.Lookup("both")
	if both.Description != "of the list" || !strings.Contains(string(both.InputSchema), `"required":["b"]`) {
		t.Errorf("the entry is %s", both.Entry)
	}
	if _, ok := both.Engine.(*command); !ok {
		t.Errorf("it is run by %T", both.Engine)
	}
	if _, ok := tools.Lookup("prog").Engine.(*program.Program); !ok {
		t.Errorf("prog is run by %T", tools.Lookup("prog").Engine)
	}
	if tools.Lookup("listed").Engine != nil || tools.Lookup("twice") != nil || !tools.Declares("twice") {
		t.Error("what only the list has is not as the list has it")
	}
	if len(tools.Problems) != 1 || !strings.Contains(tools.Problems[0], "twice") {
		t.Errorf("the problems are %q", tools.Problems)
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string][2]bool{
		"# @cmd x\nf() { :; }\n": {true, true}, "# @describe d\n": {true, false}, "# @arg x\n": {true, false}, "# @param x\n": {false, false}, "": {false, false},
		"# @meta x\n": {true, false}, "# @version 1\n": {false, false}, "echo '\n# @cmd\n'\n": {false, false},
	} {
		if got := [2]bool{Is([]byte(text), false), Is([]byte(text), true)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestWhatAScriptReadsBesideIt(t *testing.T) {
	const script = "# @meta dotenv vars\n# @cmd\n# @meta output-schema out.json\n# @option --x! $FROM\nc() { :; }\n"
	for _, tt := range []struct {
		vars, schema string
		fault        string
	}{
		{"FROM=\"a b\"\nB='$x'\n# c\nexport A=1\n", `{"type":"object"}`, ""},
		{"", `{"type":"object"}`, ""},
		{"A='", `{"type":"object"}`, "@meta dotenv"},
		{"a.b=1", `{"type":"object"}`, "a.b"},
		{"A=1", `{`, "it.sh:2: @meta output-schema of c"},
		{"A=1", "", "out.json"},
	} {
		dir := t.TempDir()
		if tt.vars != "" {
			write(t, filepath.Join(dir, "vars"), tt.vars)
		}
		if tt.schema != "" {
			write(t, filepath.Join(dir, "out.json"), tt.schema)
		}
		s, err := Read(filepath.Join(dir, "it.sh"), []byte(script), in(map[string]string{"B": "mine"}))
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q, %q: %v", tt.vars, tt.schema, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		tool := s.Tools(noList()).List[0]
		if string(tool.OutputSchema) != `{"type":"object"}` {
			t.Errorf("the schema of results is %s", tool.OutputSchema)
		}
		if tt.vars == "" {
			continue
		}
		if got, want := s.Dotenv(), []string{"A=1", "B=$x", "FROM=a b"}; !slices.Equal(got, want) {
			t.Errorf("the variables are %q, want %q", got, want)
		}
		v, err := tool.Engine.Invocation(json.RawMessage(`{}`))
		if err != nil || told(v) != `argc_x="a b"` || v.Defaults != nil {
			t.Errorf("a call has %s, %q: %v", told(v), v.Defaults, err)
		}
	}
}

func TestAScriptThatIsSourcedForEachCall(t *testing.T) {
	whole := readScript(t, "# @describe d\n# @arg x\necho \"$1\"\n", in(nil))
	if !whole.IsApart() {
		t.Error("a script that is the command is sourced before")
	}
	v, err := only(t, whole).Invocation(json.RawMessage(`{"x":"a"}`))
	if err != nil || v.Function != "" || v.File == "" || !slices.Equal(v.Words, []string{"a"}) {
		t.Errorf("it runs %+v: %v", v, err)
	}
	for text, apart := range map[string]bool{
		"main \"$@\"\n": true, "main $@": true, "[[ ${BASH_SOURCE[0]} != \"$0\" ]] || main \"$@\"\n": true, "if ((1)); then\n  main \"${@}\"\nfi\n": true,
		"# main \"$@\"\n": false, "domain \"$@\"\n": false, "main\n": false, "eval \"$(argc --argc-eval \"$0\" \"$@\")\"\n": false, "echo main\n": false,
	} {
		if got := readScript(t, "# @describe d\nmain() { :; }\n"+text, in(nil)).IsApart(); got != apart {
			t.Errorf("%q is run as a whole: %v", text, got)
		}
	}
	s := readScript(t, "# @describe d\nmain() { :; }\n_argc_before() { :; }\n_argc_after() { :; }\n", in(nil))
	if s.IsApart() {
		t.Error("a script with main is sourced for each call")
	}
	s.apart = true
	if v, err = only(t, s).Invocation(json.RawMessage(`{}`)); err != nil || v.Function != "main" || !filepath.IsAbs(v.File) || v.Before != "_argc_before" || v.After != "_argc_after" {
		t.Errorf("it runs %+v: %v", v, err)
	}
}

func TestFaultsAreThoseOfTags(t *testing.T) {
	_, err := Read("x.sh", []byte("# @cmd\n# @option --x[]\nc() { :; }\n"), in(nil))
	var faults tags.Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Line != 2 || faults[0].File != "x.sh" {
		t.Errorf("the error is %v", err)
	}
}
