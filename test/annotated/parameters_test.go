package annotated_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// show is a function body that tells what a command has: its variables, sorted, and
// its words.
const show = `{
  ( set -o posix; set ) | grep '^argc_[a-z]' | sort
  printf 'words:'; [[ $# == 0 ]] || printf ' <%s>' "$@"; echo
}
`

func TestEveryFormOfParameterIsWhatArgcHasOfIt(t *testing.T) {
	tests := []struct{ name, tags, arguments, want string }{
		{"a text", "# @option --name", `{"name":"a b"}`, "argc_name='a b'\nwords:"},
		{"none", "# @option --name", `{}`, "words:"},
		{"an empty one", "# @option --name", `{"name":""}`, "argc_name=\nwords:"},
		{"required", "# @option --name!", `{"name":"x"}`, "argc_name=x\nwords:"},
		{"dashes", "# @option --dry-run.to:x", `{"dry_run_to_x":"x"}`, "argc_dry_run_to_x=x\nwords:"},
		{"only a short name", "# @option -n <INT>", `{"n":3}`, "argc_n=3\nwords:"},
		{"several", "# @option --name*", `{"name":["a","b c",""]}`, "argc_name=([0]=\"a\" [1]=\"b c\" [2]=\"\")\nwords:"},
		{"no several", "# @option --name*", `{"name":[]}`, "words:"},
		{"at least one", "# @option --name+", `{"name":["a"]}`, "argc_name=([0]=\"a\")\nwords:"},
		{"with a separator", "# @option --name*,", `{"name":["a,b","c"]}`, "argc_name=([0]=\"a,b\" [1]=\"c\")\nwords:"},
		{"a default", "# @option --name=x", `{}`, "argc_name=x\nwords:"},
		{"a default in quotes", `# @option --name="x y"`, `{}`, "argc_name='x y'\nwords:"},
		{"another than the default", "# @option --name=x", `{"name":"y"}`, "argc_name=y\nwords:"},
		{"a default that is a number", "# @option --name=2 <INT>", `{}`, "argc_name=2\nwords:"},
		{"a computed default", "# @option --name=`_give`", `{}`, "argc_name='given  it'\nwords:"},
		{"none is computed", "# @option --name=`_give`", `{"name":"x"}`, "argc_name=x\nwords:"},
		{"choices", "# @option --name[a|b]", `{"name":"b"}`, "argc_name=b\nwords:"},
		{"choices with a default", "# @option --name[=a|b]", `{}`, "argc_name=a\nwords:"},
		{"computed choices", "# @option --name[`_list`]", `{"name":"two words"}`, "argc_name='two words'\nwords:"},
		{"computed choices of several", "# @option --name*[`_list`]", `{"name":["a","b"]}`, "argc_name=([0]=\"a\" [1]=\"b\")\nwords:"},
		{"computed choices, and others", "# @option --name[?`_list`]", `{"name":"other"}`, "argc_name=other\nwords:"},
		{"a flag", "# @flag --all", `{"all":true}`, "argc_all=1\nwords:"},
		{"a flag that is not set", "# @flag --all", `{"all":false}`, "words:"},
		{"a flag that counts", "# @flag -v --verbose*", `{"verbose":3}`, "argc_verbose=3\nwords:"},
		{"none to count", "# @flag -v --verbose*", `{"verbose":0}`, "words:"},
		{"two values", "# @option --pair <A> <B>", `{"pair":["x","y z"]}`, "argc_pair=([0]=\"x\" [1]=\"y z\")\nwords:"},
		{"pairs of values", "# @option --pair* <A> <B>", `{"pair":[["a","b"],["c","d"]]}`, "argc_pair=([0]=\"a\" [1]=\"b\" [2]=\"c\" [3]=\"d\")\nwords:"},
		{"one or more", "# @option --pair <A> <B+>", `{"pair":["a","b","c"]}`, "argc_pair=([0]=\"a\" [1]=\"b\" [2]=\"c\")\nwords:"},
		{"a list", "# @option --list <A+>", `{"list":["a","b"]}`, "argc_list=([0]=\"a\" [1]=\"b\")\nwords:"},
		{"keys and values", "# @option -D --define-*", `{"define":{"k":"v w"}}`, "argc_define=([k]=\"v w\" )\nwords:"},
		{"integers as they are", "# @option --n <INT>", `{"n":9007199254740993}`, "argc_n=9007199254740993\nwords:"},
		{"integers for arithmetic", "# @option --n <INT>", `{"n":2e3}`, "argc_n=2000\nwords:"},
		{"numbers as they are", "# @option --n <NUM>", `{"n":1.50}`, "argc_n=1.50\nwords:"},
		{"JSON", "# @option --doc <JSON>", `{"doc":{ "a" : [1, null] }}`, "argc_doc='{\"a\":[1,null]}'\nwords:"},
		{"no JSON is null", "# @option --doc <JSON>", `{"doc":null}`, "argc_doc=null\nwords:"},
		{"a place", "# @arg one\n# @arg two", `{"one":"a","two":"b c"}`, "argc_one=a\nargc_two='b c'\nwords: <a> <b c>"},
		{"an empty place", "# @arg one\n# @arg two", `{"two":"b"}`, "argc_two=b\nwords: <> <b>"},
		{"no place", "# @arg one\n# @arg two", `{"one":"a"}`, "argc_one=a\nwords: <a>"},
		{"a place with a computed default", "# @arg one\n# @arg two=`_give`\n# @arg three", `{"three":"c"}`, "argc_three=c\nargc_two='given  it'\nwords: <> <given  it> <c>"},
		{"many places", "# @arg one\n# @arg rest*", `{"one":"-a","rest":["-b","--"]}`, "argc_one=-a\nargc_rest=([0]=\"-b\" [1]=\"--\")\nwords: <-a> <-b> <-->"},
		{"all that follows", "# @arg rest~", `{"rest":["a","b"]}`, "argc_rest=([0]=\"a\" [1]=\"b\")\nwords: <a> <b>"},
		{"a place and options", "# @option --o\n# @arg one\n# @flag -f", `{"one":"a","o":"b","f":true}`, "argc_f=1\nargc_o=b\nargc_one=a\nwords: <a>"},
		{"a schema", "# @option --name\n# @schema name {\"type\":\"string\",\"maxLength\":3}", `{"name":"abc"}`, "argc_name=abc\nwords:"},
	}
	var text strings.Builder
	text.WriteString("_give() { echo 'given  it'; }\n_list() { printf '%s\\n' a b 'two words'; }\n")
	for i, tt := range tests {
		fmt.Fprintf(&text, "# @cmd %s\n%s\nc%d() %s", tt.name, tt.tags, i, show)
	}
	text.WriteString(`eval "$(argc --argc-eval "$0" "$@")"` + "\n")
	for _, way := range []struct{ name, target string }{
		{"a script", script(t, text.String())},
		{"a folder", files(t, map[string]string{"all.sh": text.String()})},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := serve(t, way.target)
			for i, tt := range tests {
				if got := s.ok(fmt.Sprintf("c%d", i), tt.arguments); got != tt.want {
					t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
				}
			}
			s.ends()
		})
	}
}

func TestArgumentsThatTagsDoNotAllowAreRefused(t *testing.T) {
	s := serve(t, script(t, `
_list() { printf '%s\n' a b; }
_Upper() { echo X; }
# @cmd
# @option --name!
# @option --count <INT>
# @option --kind[a|b]
# @option --at-least+
# @option --day <DATE>
# @option --listed[`+"`_list`"+`]
# @option --pair <A> <B>
# @flag --all
c() { echo ran; }
shopt -s nocasematch
`))
	base := `"name":"x","at_least":["y"]`
	s.says("c", `{`+base+`,"listed":"a","day":"2026-07-28","kind":"a","pair":["a","b"]}`, "ran")
	for _, tt := range []struct{ member, part string }{
		{`"count":"x"`, "count"}, {`"count":1.5`, "count"}, {`"kind":"c"`, "kind"}, {`"kind":"A"`, "kind"}, {`"other":1`, "other"},
		{`"listed":"c"`, `listed="c" (allowed: a, b)`}, {`"listed":"A"`, "listed"}, {`"listed":"a\nb"`, "listed"}, {`"listed":""`, "listed"}, {`"listed":"*"`, "listed"},
		{`"all":1`, "all"}, {`"pair":["a"]`, "pair"}, {`"pair":["a","b","c"]`, "pair"},
	} {
		s.fails("c", `{`+base+`,`+tt.member+`}`, tt.part)
	}
	s.fails("c", `{"name":"x"}`, "at_least")
	s.fails("c", `{"name":"x","at_least":[]}`, "at_least")
	s.fails("c", `{"at_least":["x"]}`, "name")
	s.ends()
}

func TestTheEnvironmentGivesWhatACallDoesNot(t *testing.T) {
	text := `# @cmd
# @option --token! $$
# @option --kind[a|b] $KIND
# @option --names*, $NAMES
# @option --size=1 $SIZE <INT>
# @flag --all $ALL
# @flag --loud* $LOUD
# @arg place $PLACE
c() ` + show
	path := script(t, text)
	s := serveWith(t, []string{"TOKEN=t 1", "KIND=b", "NAMES=x,y z", "SIZE=7", "ALL=true", "LOUD=3", "PLACE=p"}, path)
	s.says("c", `{}`, "argc_all=1\nargc_kind=b\nargc_loud=3\nargc_names=([0]=\"x\" [1]=\"y z\")\nargc_place=p\nargc_size=7\nargc_token='t 1'\nwords: <p>")
	s.says("c", `{"token":"mine","all":false,"loud":0,"names":["n"],"place":"q","size":2,"kind":"a"}`, "argc_kind=a\nargc_names=([0]=\"n\")\nargc_place=q\nargc_size=2\nargc_token=mine\nwords: <q>")
	_, entries := s.tools()
	if strings.Contains(string(entries["c"]), "required") {
		t.Errorf("what the environment gives is required: %s", entries["c"])
	}
	s.ends()

	s = serve(t, path)
	s.fails("c", `{}`, "token")
	s.says("c", `{"token":"x"}`, "argc_size=1\nargc_token=x\nwords:")
	_, entries = s.tools()
	if !strings.Contains(string(entries["c"]), `"required":["token"]`) {
		t.Errorf("nothing is required: %s", entries["c"])
	}
	s.ends()

	// A file gives what the environment does not, also of a variable that is needed.
	dir := files(t, map[string]string{"x.sh": "# @meta dotenv\n# @env TOKEN!\n# @cmd\n# @option --token! $$\n# @option --kind[`kinds`] $KIND\nc() " + show + "\nkinds() { echo b; }\n", ".env": "TOKEN=from a file\n"})
	s = serve(t, filepath.Join(dir, "x.sh"))
	s.says("c", `{}`, "argc_token='from a file'\nwords:")
	s.ends()
	s = serveWith(t, []string{"TOKEN=t", "KIND=c"}, filepath.Join(dir, "x.sh"))
	s.fails("c", `{}`, "the environment variable KIND, for kind=\"c\" (allowed: b)")
	s.says("c", `{"kind":"b"}`, "argc_kind=b\nargc_token=t\nwords:")
	s.ends()

	s = serveWith(t, []string{"TOKEN=t", "SIZE=large"}, path)
	s.fails("c", `{}`, "SIZE", "large")
	s.ok("c", `{"size":3}`)
	s.ends()
}

func TestHostileTextsArriveAsTheyWereSent(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	evil := "x]=$(touch " + touched + ")"
	texts := []string{
		"", "-n", "--", "-e", "*", "~", "a\nb\n\n", "\n", "$(touch " + touched + ")", "`touch " + touched + "`", "a[$(touch " + touched + ")]", evil,
		"\x01", "\x1f", "\x7f", "\x01\x1f\x7f\x01", "\\n\\\\", "%s%n", "'", `"`, "ä\u2028😀", "a\tb\r\n", " lead", "trail ", "=", "x=y", "@", "]", "!", strings.Repeat("ü\n", 10_000),
	}
	dir := files(t, map[string]string{"server.sh": `
# @cmd
# @option --text
# @option --list*
# @option -D --define-*
# @arg place
# @arg rest*
c() {
  printf '%s\0' "$argc_text" "${argc_list[@]}" "$1" "${@:2}" "${argc_define[@]}" "${!argc_define[@]}" >"$MCP_CALL_TMPDIR/it"
  cat "$MCP_CALL_TMPDIR/it" >"$OUT"
}
`})
	out := filepath.Join(t.TempDir(), "out")
	for _, target := range []string{filepath.Join(dir, "server.sh"), dir} {
		s := serveWith(t, []string{"OUT=" + out}, target, "--max-line=64MiB")
		for _, text := range texts {
			key := text
			if key == "" {
				key = "k" // Bash has no empty key
			}
			s.ok("c", object("text", text, "list", []string{text, text}, "define", map[string]string{key: text}, "place", text, "rest", []string{text, "end"}))
			got, err := os.ReadFile(out)
			if want := strings.Join([]string{text, text, text, text, text, "end", text, key, ""}, "\x00"); err != nil || string(got) != want {
				t.Errorf("%.60q arrives as %.300q", text, got)
			}
		}
		s.fails("c", `{"text":"a\u0000b"}`, "NUL")
		s.fails("c", `{"define":{"a\u0000b":"c"}}`, "NUL")
		s.ends()
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a text was run")
	}
}

func TestWhatIsListedIsWhatTheTagsSay(t *testing.T) {
	s := serve(t, files(t, map[string]string{"out.json": `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, "server.sh": `
# @describe Counts things.
# It does so well.
# @meta version 1.2.3
# @meta title The counter
# @env LLM_OUTPUT=/dev/stdout

# @cmd Count the things
#   - one by one
#
# @alias cnt
# @meta title Count
# @meta readonly
# @meta destructive false
# @meta idempotent
# @meta open-world false
# @meta output-schema out.json
# @option --max=10 <INT>   How many at most,
# and no more
# @option --kind[=a|b] <KIND> Which
count() { echo '{"n":2}'; }

# @cmd Nobody's
_private() { :; }

# @cmd A group
group() { :; }

# @cmd In it
group::inner_() { echo inner; }
`})+"/server.sh")
	info := s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	var about struct {
		ServerInfo   struct{ Name, Title, Version string }
		Instructions string
	}
	if err := json.Unmarshal(info.Result, &about); err != nil || about.ServerInfo.Version != "1.2.3" || about.ServerInfo.Title != "The counter" || about.Instructions != "Counts things.\nIt does so well." || about.ServerInfo.Name != "tools" {
		t.Errorf("the server says of itself %s", info.Result)
	}
	names, entries := s.tools()
	if strings.Join(names, " ") != "count group_inner" {
		t.Errorf("the tools are %q", names)
	}
	want := `{"name":"count","title":"Count","description":"Count the things\n  - one by one","inputSchema":{"type":"object","properties":{"max":{"type":"integer","description":"How many at most,\nand no more","default":10},"kind":{"type":"string","enum":["a","b"],"description":"Which","default":"a"}},"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	if !sameJSON(t, string(entries["count"]), want) {
		t.Errorf("the entry is %s", entries["count"])
	}
	result := s.request("tools/call", `{"name":"count","arguments":{}}`)
	if !strings.Contains(string(result.Result), `"structuredContent":{"n":2}`) {
		t.Errorf("there is no structured content: %s", result.Result)
	}
	s.says("group_inner", `{}`, "inner")
	s.ends()
}

func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var texts [2]string
	for i, text := range []string{a, b} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		sorted, _ := json.Marshal(value)
		texts[i] = string(sorted)
	}
	return texts[0] == texts[1]
}
