package annotated_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed writes a script with a list whose tools are programs, and returns its path.
func listed(t testing.TB, texts map[string]string, entries, config string) string {
	t.Helper()
	texts["server.sh"] = "tool_fn() { echo function; }\n"
	texts["tools.json"] = `{"tools":[` + entries + `]}`
	if config != "" {
		texts["config.json"] = config
	} else {
		texts["config.json"] = `{}`
	}
	return filepath.Join(files(t, texts), "server.sh")
}

const tellInput = `#!/usr/bin/env python3
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "in": json.load(sys.stdin), "env": {n: v for n, v in os.environ.items() if n.startswith("ARG_")}}, ensure_ascii=False))
`

func TestAProgramHasItsArgumentsAsJSONAndInVariables(t *testing.T) {
	needs(t, "python3")
	touched := filepath.Join(t.TempDir(), "touched")
	path := listed(t, map[string]string{"tools/x.py": tellInput}, `{"name":"fn","inputSchema":{"type":"object"}},{"name":"x","exec":["python3","tools/x.py","$(touch `+touched+`)","a b"],"inputSchema":{"type":"object"}}`, "")
	s := serve(t, path, "--max-line=64MiB")
	_, entries := s.tools()
	if strings.Contains(string(entries["x"]), "exec") {
		t.Errorf("clients see how it runs: %s", entries["x"])
	}
	big := strings.Repeat("ü\\n'$(", 200_000)
	for _, tt := range []struct{ arguments, variables string }{
		{`{}`, `{}`},
		{`{"a":"x","b":1.50,"c":true,"d":null,"e":[1,"x"],"f":{"k":[]}}`, `{"ARG_A":"x","ARG_B":"1.50","ARG_C":"true","ARG_E":"[1,\"x\"]","ARG_F":"{\"k\":[]}"}`},
		{`{"dry-run":"y","ä":"z","a":"1","A":"2"}`, `{"ARG_DRY_RUN":"y","ARG__":"z","ARG_A":"1"}`},
		{`{"a":"` + `\n\u0001\u001f\u007f$(touch ` + touched + `)` + "`id`" + `-n"}`, `{"ARG_A":"\n\u0001\u001f\u007f$(touch ` + touched + ")`id`-n" + `"}`},
		{`{"a":"x\u0000y","b":"c"}`, `{"ARG_B":"c"}`},
		{`{"a":` + fmt.Sprintf("%q", big) + `,"b":"c"}`, `{"ARG_B":"c"}`},
	} {
		var got struct {
			Argv []string
			In   json.RawMessage
			Env  json.RawMessage
		}
		if err := json.Unmarshal([]byte(s.ok("x", tt.arguments)), &got); err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, string(got.In), tt.arguments) {
			t.Errorf("%.200s arrives as %.200s", tt.arguments, got.In)
		}
		if want := []string{"$(touch " + touched + ")", "a b"}; !slices.Equal(got.Argv, want) {
			t.Errorf("the program was called with %q", got.Argv)
		}
		if !sameEnv(t, got.Env, tt.variables) {
			t.Errorf("%.200s: the variables are %.300s, want %s", tt.arguments, got.Env, tt.variables)
		}
	}
	s.says("fn", `{}`, "function")
	s.ends()
	if _, err := os.Stat(touched); err == nil {
		t.Error("a text was run")
	}
}

// sameEnv compares variables. Python names a name that is no ASCII otherwise; ARG__
// is what Conch makes of one.
func sameEnv(t testing.TB, got json.RawMessage, want string) bool {
	t.Helper()
	return sameJSON(t, strings.ReplaceAll(string(got), `"ARG___"`, `"ARG__"`), want)
}

func TestArgumentsOfAProgramAreChecked(t *testing.T) {
	path := listed(t, map[string]string{}, `{"name":"x","exec":["cat"],"inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}`, "")
	s := serve(t, path)
	s.says("x", `{"a":"b"}`, `{"a":"b"}`)
	s.fails("x", `{}`, "a")
	s.fails("x", `{"a":1}`, "a")
	s.fails("x", `{"a":"b","c":1}`, "c")
	s.ends()
}

func TestHowAProgramEnds(t *testing.T) {
	entry := func(name string, words ...string) string {
		text, _ := json.Marshal(words)
		return fmt.Sprintf(`{"name":%q,"exec":%s,"inputSchema":{"type":"object"}}`, name, text)
	}
	path := listed(t, map[string]string{
		"plain.txt": "no program\n", "bad": "#!/no/such/interpreter\n", "folder/x": "",
		"killed": "#!/bin/sh\necho so far; kill -SEGV $$\n", "fails": "#!/bin/sh\necho why; exit 3\n", "many": "#!/bin/sh\nsleep 60 & echo $! >\"$MARK\"; exit 0\n",
		"closes": "#!/bin/sh\nexec <&- >&- 2>&-\nexit 0\n",
	}, strings.Join([]string{
		entry("deaf", "echo", "heard nothing"), entry("killed", "./killed"), entry("fails", "./fails"), entry("missing", "no-such-program-at-all"), entry("missing_file", "./nothing"),
		entry("not_executable", "./plain.txt"), entry("bad", "./bad"), entry("folder", "./folder"), entry("many", "./many"), entry("closes", "./closes"), entry("dash", "-x"), entry("empty", "true"),
	}, ","), "")
	mark := filepath.Join(t.TempDir(), "mark")
	s := serveWith(t, []string{"MARK=" + mark}, path)
	s.says("deaf", `{"a":"`+strings.Repeat("x", 1_000_000)+`"}`, "heard nothing")
	s.fails("killed", `{}`, "so far")
	s.fails("fails", `{}`, "why")
	for tool, part := range map[string]string{"missing": "no-such-program-at-all", "missing_file": "nothing", "not_executable": "plain.txt", "bad": "bad", "folder": "folder", "dash": "-x"} {
		s.fails(tool, `{}`, part)
	}
	s.says("closes", `{}`, "")
	s.says("empty", `{}`, "")
	s.ok("many", `{}`)
	gone(t, awaitFile(t, mark))
	for _, part := range []string{"missing needs the program no-such-program-at-all", "missing_file needs the program", "not_executable needs the program"} {
		if !strings.Contains(s.Stderr(), part) {
			t.Errorf("%q was not told: %s", part, s.Stderr())
		}
	}
	s.ends()
}

func TestALimitedEnvironmentHasWhatItIsSaidToHave(t *testing.T) {
	const dump = "#!/usr/bin/perl\nprint join \"\\n\", sort keys %ENV;\n"
	needs(t, "perl")
	own := []string{"MCP_CALL_TMPDIR", "PATH", "CONCH_BIN", "CONCH_TALK", "CONCH_UPDATES", "CONCH_ASKER", "CONCH_ASK_ROOTS", "MCP_ROOTS_COUNT", "MCP_ROOTS_JSON", "MCP_ROOTS_PATHS", "TRACEPARENT", "TRACESTATE", "BAGGAGE"}
	// Bash gives this to all it starts.
	unasked := []string{"_"}
	minimal := []string{"HOME", "LANG", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
	env := []string{"SECRET=1", "secret=1", "path=1", "HOME=/h", "LANG=C.UTF-8", "TERM=dumb", "TZ=UTC", "USER=u", "SHELL=/bin/bash", "AWS_KEY=k", "ARG_FOREIGN=1", "ODD=a\nb=c", "BASH_FUNC_f%%=() { :; }"}
	const inherits = "everything"
	tests := []struct {
		name, entry, config string
		want                []string
	}{
		{"inherit", `"environment":"inherit",`, `{"environment":"minimal"}`, []string{inherits}},
		{"nothing said", ``, `{}`, []string{inherits}},
		{"minimal", `"environment":"minimal",`, `{}`, minimal},
		{"minimal for the server", ``, `{"environment":"minimal"}`, minimal},
		{"a list", `"environment":["SECRET","NONE"],`, `{"environment":"inherit"}`, []string{"SECRET"}},
		{"a list for the server", ``, `{"environment":["AWS_KEY"]}`, []string{"AWS_KEY"}},
		{"an empty list", `"environment":[],`, `{}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := listed(t, map[string]string{"dump": dump}, `{"name":"x",`+tt.entry+`"exec":["./dump"],"inputSchema":{"type":"object"}}`, tt.config)
			write(t, path, "shopt -s nocasematch\nexport -f tool_x 2>/dev/null\nfrom_script() { :; }; export -f from_script; export FROM_SCRIPT=1\n")
			s := serveWith(t, env, path)
			got := strings.Split(s.ok("x", `{"a":"b"}`), "\n")
			if slices.Equal(tt.want, []string{inherits}) {
				for _, name := range []string{"SECRET", "secret", "path", "FROM_SCRIPT", "ARG_A", "BASH_FUNC_from_script%%"} {
					if !slices.Contains(got, name) {
						t.Errorf("%s is not there: %q", name, got)
					}
				}
				if slices.Contains(got, "ARG_FOREIGN") {
					t.Error("it has an argument that nobody has given")
				}
				s.ends()
				return
			}
			for _, name := range append([]string{"ARG_A", "PATH", "MCP_CALL_TMPDIR"}, tt.want...) {
				if !slices.Contains(got, name) {
					t.Errorf("%s is not there: %q", name, got)
				}
			}
			for _, name := range got {
				if !slices.Contains(slices.Concat(own, unasked, tt.want, []string{"ARG_A"}), name) {
					t.Errorf("%s is there", name)
				}
			}
			s.ends()
		})
	}
}

func TestTagsSayWhatEnvironmentAProgramHas(t *testing.T) {
	needs(t, "perl", "awk")
	const show = "print join ' ', map { $ENV{$_} // 'none' } qw(SECRET HOME GIVEN OPTIONAL FILE);\n"
	dir := files(t, map[string]string{
		"vars": "FILE=f\n",
		"min":  "#!/usr/bin/env perl\n# @describe d\n# @env GIVEN=yes\n# @env OPTIONAL\n# @meta dotenv vars\n# @meta environment minimal\n" + show,
		"list": "#!/usr/bin/env perl\n# @describe d\n# @meta environment SECRET OTHER\n" + show,
		"all":  "#!/usr/bin/awk -f\n# @describe d\n# @meta environment inherit\nBEGIN { print ENVIRON[\"SECRET\"], ENVIRON[\"HOME\"] }\n",
	})
	s := serveWith(t, []string{"SECRET=s", "HOME=/h", "OPTIONAL=o"}, dir)
	s.says("min", `{}`, "none /h yes o f")
	s.says("list", `{}`, "s none none none none")
	s.says("all", `{}`, "s /h")
	s.ends()

	// What a program does not say, the server's configuration may.
	dir = files(t, map[string]string{
		"config.json": `{"environment":["HOME"]}`, "silent": "#!/usr/bin/env perl\n# @describe d\n# @env OPTIONAL\n" + show,
		"all": "#!/usr/bin/env perl\n# @describe d\n# @meta environment inherit\n" + show,
	})
	s = serveWith(t, []string{"SECRET=s", "HOME=/h", "OPTIONAL=o"}, dir)
	s.says("silent", `{}`, "none /h none o none")
	s.says("all", `{}`, "s /h none o none")
	s.ends()
}

func TestProgramsInManyLanguagesSayWhatTheyAreInTheirComments(t *testing.T) {
	needs(t, "python3", "node", "perl", "awk")
	dir := files(t, map[string]string{
		"py.py":      "#!/usr/bin/env python3\n\"\"\"\n@describe not this\n\"\"\"\n# @describe In Python\n# @option --n=2 <INT> A number\n# @param x of others\nimport json, sys\nprint(json.load(sys.stdin)['n'] + 1)\n",
		"js.mjs":     "#!/usr/bin/env node\n// @ts-check\n// @describe In JavaScript\n// @option --list* <NUM>\n// @flag --up\nimport fs from 'node:fs';\nconst a = JSON.parse(fs.readFileSync(0));\nconsole.log(JSON.stringify(a));\n",
		"perl-tool":  "#!/usr/bin/perl -w\n# @describe In Perl\n# @option --word! $$\n# @option --quiet[=a|b]\nprint \"$ENV{ARG_WORD} $ENV{ARG_QUIET}\\n\";\n",
		"two.awk":    "#!/usr/bin/awk -f\n# @describe In awk\n# @option -D --define-* <V>\n{ print }\n",
		"notexec.py": "import sys\n# @describe Nobody can run this\n",
		"plain.js":   "// nothing about tools\n",
		"lib.lua":    "-- @describe In Lua, and not executable\nprint(1)\n",
	})
	s := serveWith(t, []string{"WORD=w"}, dir)
	s.names("js", "perl_tool", "py", "two")
	s.says("py", `{}`, "3")
	s.says("py", `{"n":5}`, "6")
	s.says("js", `{"list":[1,2.5],"up":true}`, `{"list":[1,2.5],"up":true}`)
	s.says("perl_tool", `{}`, "w a")
	s.says("perl_tool", `{"word":"v","quiet":"b"}`, "v b")
	s.says("two", `{"define":{"k":"v"}}`, `{"define":{"k":"v"}}`)
	s.fails("py", `{"n":"x"}`, "n")
	for _, name := range []string{"lib.lua", "notexec.py"} {
		if !strings.Contains(s.Stderr(), name) {
			t.Errorf("nothing is told of %s: %s", name, s.Stderr())
		}
	}
	s.ends()
}

func TestAProgramWithoutAFirstLineIsNotRunByAShell(t *testing.T) {
	dir := files(t, map[string]string{"ok.sh": "# @describe d\nmain() { echo ok; }\n", "x.js": "// @describe d\n/bin/echo shell\n"})
	if err := os.Chmod(filepath.Join(dir, "x.js"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	s.names("ok")
	if !strings.Contains(s.Stderr(), "x.js") || !strings.Contains(s.Stderr(), "#!") {
		t.Errorf("nothing is told of it: %s", s.Stderr())
	}
	s.ends()
}

func TestProgramsTalkThroughConch(t *testing.T) {
	needs(t, "python3")
	path := listed(t, map[string]string{"ask.py": `#!/usr/bin/env python3
import os, subprocess, sys
conch = os.environ["CONCH_BIN"]
print(subprocess.run([conch, "tool", "elicit", "string", "--key", "name", "Your name?"], stdout=subprocess.PIPE, text=True).stdout.strip())
subprocess.run([conch, "tool", "progress", "1", "half", "2"], check=True)
subprocess.run([conch, "tool", "args-get", ".a"], check=True)
subprocess.run([conch, "tool", "emit", "text", "emitted"], check=True)
`}, `{"name":"ask","exec":["./ask.py"],"environment":"minimal","inputSchema":{"type":"object"}}`, "")
	cases := filepath.Join(t.TempDir(), "x.test.yaml")
	write(t, cases, "- name: asks\n  tool: ask\n  args: { a: given }\n  answers: { elicit: [{ key: name, content: { value: Ada } }] }\n  expect: { contains: [Ada, given, emitted], progress: [{ progress: 1, message: half }] }\n")
	if out, status := conch(t, nil, "test", "--cases", cases, path); status != 0 {
		help, _ := conch(t, nil, "tool", "--help")
		t.Errorf("status %d: %s\n%s", status, out, help)
	}
}

func TestADeclarationOfTheScriptDoesNotEvaluateWhatAProgramGets(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	path := listed(t, map[string]string{}, `{"name":"x","exec":["printenv","ARG_A","ARG_B"],"inputSchema":{"type":"object"}}`, "")
	write(t, path, "declare -i ARG_A=1\ndeclare -n ARG_B=PATH; declare -r ARG_C=mine\n")
	s := serve(t, path)
	evil := "a[$(touch " + touched + ")]"
	s.says("x", object("a", evil, "b", "/nowhere", "c", "theirs"), evil+"\n/nowhere")
	s.ends()
	if _, err := os.Stat(touched); err == nil {
		t.Error("a text was run")
	}
}
