package jq_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/jq"
)

func run(in string, args ...string) (out, complaint string, status int) {
	var stdout, stderr bytes.Buffer
	status = jq.Main("jq", args, jq.Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr})
	return stdout.String(), stderr.String(), status
}

func TestFilters(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	values, filter := file("values.json", `{"a":1} {"a":2}`), file("filter.jq", ".a # a comment\n")
	marked := file("marked.json", "\ufeff{\"a\":3}")
	file("module.jq", "def twice: 2 * .;")
	missing := filepath.Join(dir, "missing")
	for _, test := range []struct {
		in        string
		args      []string
		out, says string
		status    int
	}{
		{`{"b":1.50,"a":[]}`, []string{"."}, "{\n  \"a\": [],\n  \"b\": 1.50\n}\n", "", 0},
		{`{"a":10000000000000000000000000000001,"b":0.10}`, []string{"-c", ".a, .b, .a + 1"}, "10000000000000000000000000000001\n0.10\n10000000000000000000000000000002\n", "", 0},
		{`"<é\u0001\u2028"`, []string{"."}, "\"<é\\u0001\u2028\"\n", "", 0},
		{`{"a":"x y"} {"a":1}`, []string{"-rc", ".a"}, "x y\n1\n", "", 0},
		{`1 2`, []string{"-j", "."}, "12", "", 0},
		{`{"a":1}`, []string{"--tab", "."}, "{\n\t\"a\": 1\n}\n", "", 0},
		{`{"a":1}`, []string{"--indent", "0", "."}, "{\"a\":1}\n", "", 0},
		{`1 2`, []string{"-sc", "."}, "[1,2]\n", "", 0},
		{"a\nb", []string{"-R", "."}, "\"a\"\n\"b\"\n", "", 0},
		{"a\nb\n", []string{"-Rs", "."}, "\"a\\nb\\n\"\n", "", 0},
		{`1 2`, []string{"-nc", "[inputs]"}, "[1,2]\n", "", 0},
		{`1 2`, []string{"-n", "1, input"}, "1\n1\n", "", 0},
		{"", []string{"."}, "", "", 0},
		{"", []string{"-nc", "--arg", "a", "x", "--argjson", "b", `{"c":1.0}`, "[$a, $b, $ARGS.named]"}, `["x",{"c":1.0},{"a":"x","b":{"c":1.0}}]` + "\n", "", 0},
		{"", []string{"-nc", "--arg", "a", "first", "--arg", "a", "second", "$a"}, "\"first\"\n", "", 0},
		{"", []string{"-nc", "$ARGS.positional", "--args", "a", "-c", "--jsonargs", "1"}, `["a",1]` + "\n", "", 0},
		{"", []string{"-c", ".a, input_filename", values}, "1\n" + quoted(values) + "\n2\n" + quoted(values) + "\n", "", 0},
		{"", []string{"-nc", "--slurpfile", "v", values, "--rawfile", "r", values, "[$v, $r]"}, `[[{"a":1},{"a":2}],"{\"a\":1} {\"a\":2}"]` + "\n", "", 0},
		{`{"a":3}`, []string{"-f", filter}, "3\n", "", 0},
		{"", []string{"-f", filter, values}, "1\n2\n", "", 0},
		{`{"-r":1}`, []string{"--", `.["-r"]`}, "1\n", "", 0},
		{"1", []string{`env | type, ($ENV | type)`}, "\"object\"\n\"object\"\n", "", 0},
		{"1", []string{"-e", ". == 2"}, "false\n", "", 1},
		{"1 2", []string{"-e", ". == 2"}, "false\ntrue\n", "", 0},
		{"1", []string{"-e", "empty"}, "", "", 4},
		{"1", []string{".a"}, "", `jq: expected an object but got: number (1)`, 5},
		{"1 2", []string{`if . == 1 then error("bad") else . end`}, "2\n", "jq: error: bad", 5},
		{"1", []string{`"x\n" | halt_error(7)`}, "", "x", 7},
		{"1 2", []string{`., halt`}, "1\n", "", 0},
		{"1", []string{`debug | stderr`}, "1\n", `["DEBUG:",1]` + "\n1", 0},
		{"1", []string{".a |"}, "", `jq: the filter ".a |" ends too early`, 3},
		{"1", []string{".a ] .b"}, "", `jq: the filter ".a ] .b": "]" is not expected after ".a "`, 3},
		{"1", []string{"nothing(1)"}, "", "jq: function not defined: nothing/1", 3},
		{"{", []string{"."}, "", "jq: standard input: the JSON ends too early", 2},
		{"1 x", []string{"."}, "1\n", "jq: standard input: no JSON after 2 bytes: invalid character 'x' looking for beginning of value", 2},
		{"", []string{".", missing}, "", "jq: open " + missing + ": no such file or directory", 2},
		{"", []string{".a", missing, values}, "1\n2\n", "jq: open " + missing + ": no such file or directory", 2},
		{"", []string{"-sc", "map(.a)", values, missing}, "[1,2]\n", "jq: open " + missing + ": no such file or directory", 2},
		{"", []string{"-n", "--slurpfile", "v", missing, "$v"}, "", "jq: --slurpfile v: open " + missing + ": no such file or directory; see jq --help", 2},
		{"", []string{"-c", ".", marked, marked}, "{\"a\":3}\n{\"a\":3}\n", "", 0},
		{`"é😀" 1`, []string{"-a", "."}, `"\u00e9\ud83d\ude00"` + "\n1\n", "", 0},
		{`"é"`, []string{"-ar", "."}, `"\u00e9"` + "\n", "", 0},
		{`"é" [1]`, []string{"-c", "--raw-output0", "."}, "é\x00[1]\x00", "", 0},
		{`"a\u0000"`, []string{"--raw-output0", "."}, "", "jq: print a value: --raw-output0: the text has a NUL in it", 2},
		{`{"a":[1,{"b":2}],"c":[]} 3`, []string{"-c", "--stream", "."}, `[["a",0],1]
[["a",1,"b"],2]
[["a",1,"b"]]
[["a",1]]
[["c"],[]]
[["c"]]
[[],3]
`, "", 0},
		{`{"a":[1,2]}`, []string{"-nc", "--stream", "fromstream(1 | truncate_stream(inputs))"}, "[1,2]\n", "", 0},
		{`[1]`, []string{"-sc", "--stream", "."}, "[[[0],1],[[0]]]\n", "", 0},
		{"3", []string{"-L", dir, `import "module" as m; m::twice`}, "6\n", "", 0},
		{"3", []string{"-L" + dir, `include "module"; twice`}, "6\n", "", 0},
		{"3", []string{`include "module"; twice`}, "", `jq: module not found: "module"`, 3},
		{"", []string{"-V", "--nothing"}, "jq-1.7.1-conch\n", "", 0},
		{`{"a":1}`, []string{"-c", "--unbuffered", "-C", "[keys_unsorted, toarray, leaf_paths]"}, `[["a"],[{"a":1}],["a"]]` + "\n", "", 0},
		{`["abca", 1]`, []string{"-c", `map(ltrimstr("a"), rtrimstr("a"), ltrimstr(1))`}, `["bca","abc","abca",1,1,1]` + "\n", "", 0},
		{"", []string{}, "", "jq: there is no filter; see jq --help", 2},
		{"", []string{"-x", "."}, "", "jq: there is no flag -x; see jq --help", 2},
		{"", []string{"--yaml", "."}, "", "jq: there is no flag --yaml; see jq --help", 2},
		{"", []string{"--arg", "a"}, "", "jq: --arg takes 2 arguments; see jq --help", 2},
		{"", []string{"-L"}, "", "jq: --library-path takes an argument; see jq --help", 2},
		{"", []string{"--indent", "9", "."}, "", "jq: --indent takes a number from 0 to 7; see jq --help", 2},
		{"", []string{"-n", "--argjson", "a", "{} 1", "."}, "", "jq: --argjson a: there is more than one JSON value; see jq --help", 2},
		{"", []string{"-n", "--argjson", "a", " ", "."}, "", "jq: --argjson a: there is no JSON; see jq --help", 2},
	} {
		out, says, status := run(test.in, test.args...)
		if out != test.out || strings.TrimSuffix(says, "\n") != test.says || status != test.status {
			t.Errorf("%q of %q: %d, %q, %q; want %d, %q, %q", test.args, test.in, status, out, says, test.status, test.out, test.says)
		}
	}
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func TestHelp(t *testing.T) {
	for _, flag := range []string{"-h", "--help"} {
		if out, says, status := run("", flag, "--nothing"); out != strings.ReplaceAll(jq.Help, "conch jq", "jq") || says != "" || status != 0 {
			t.Errorf("%s: %d, %q", flag, status, says)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, valid := range map[string]bool{
		"1": true, " {\"a\":[null]}\n": true, "": false, "1 2": false, "\"\xff\"": false, "{a:1}": false, "NaN": false,
	} {
		if jq.Valid([]byte(text)) != valid {
			t.Errorf("%q: %t", text, !valid)
		}
	}
	for got, want := range map[string]string{
		jq.String("\"\\\n\x7f\x01<é\xff"):           `"\"\\\n\u007f\u0001<é` + "\uFFFD" + `"`,
		jq.Array(nil):                               `[]`,
		jq.Array([]string{"a", ""}):                 `["a",""]`,
		jq.Object(nil):                              `{}`,
		jq.Object([]string{"b", "1", "a", "x\t\""}): `{"b":"1","a":"x\t\""}`,
	} {
		if got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		path  string
		want  string
	}{
		{`[1, 2, 3]`, 100, "", `{"result":[1,2,3],"truncated":false}`},
		{`[1,2,3]`, 7, "", `{"result":[1,2,3],"truncated":false}`},
		{`[1,2,3]`, 6, "", `{"result":[1,2],"truncated":true,"kept":2,"total":3}`},
		{`["aaaa",2]`, 5, "", `{"result":[],"truncated":true,"kept":0,"total":2,"_warning":"individual items exceed max_bytes"}`},
		{`[1]`, 0, "", `{"result":[],"truncated":true,"kept":0,"total":1,"_warning":"individual items exceed max_bytes"}`},
		{`{"z":1.0,"results":[{"a":[1]},2],"b":"<"}`, 42, "", `{"result":{"z":1.0,"results":[{"a":[1]},2],"b":"<"},"truncated":false}`},
		{`{"z":1.0,"results":[{"a":[1]},2],"b":"<"}`, 40, "", `{"result":{"z":1.0,"results":[{"a":[1]}],"b":"<"},"truncated":true,"kept":1,"total":2}`},
		{`{"z":1.0,"results":[{"a":[1]},2]}`, 10, "", `{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (22 bytes) even with empty array at .results"}}`},
		{`{"results":{"a":1}}`, 5, "", `{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (19 bytes) and cannot be safely truncated (not an array)"}}`},
		{`"long text"`, 5, "", `{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (11 bytes) and cannot be safely truncated (not an array)"}}`},
		{`{"a":{"b":[1,2]},"c":[3]}`, 24, ".a.b", `{"result":{"a":{"b":[1]},"c":[3]},"truncated":true,"kept":1,"total":2}`},
		{`{"a":[]}`, 1, ".a", `{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (8 bytes) even with empty array at .a"}}`},
		{`{"a":[1]}`, 99, ".a", `{"result":{"a":[1]},"truncated":false,"kept":1,"total":1}`},
		{`{"a":[1],"a":[2,3]}`, 99, ".a", `{"result":{"a":[1],"a":[2,3]},"truncated":false,"kept":2,"total":2}`},
		{`{"a":1}`, 99, ".a", `{"result":null,"truncated":false,"error":{"type":"invalid_array_path","message":"Path is not an array: .a"}}`},
		{`{"a":null}`, 99, ".a", `{"result":null,"truncated":false,"error":{"type":"path_not_found","message":"Path not found: .a"}}`},
		{`[1]`, 99, ".a", `{"result":null,"truncated":false,"error":{"type":"path_not_found","message":"Path not found: .a"}}`},
		{`{"a":1}`, 99, ".a.b", `{"result":null,"truncated":false,"error":{"type":"path_not_found","message":"Path not found: .a.b"}}`},
		{`{}`, 99, ".a[0]", `{"result":null,"truncated":false,"error":{"type":"invalid_path_syntax","message":"Invalid path syntax: .a[0] (must be .key or .key.nested)"}}`},
		{` `, 99, "", `{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Empty input: expected exactly one JSON value","raw":" "}}`},
		{`1 2`, 99, "", `{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Multiple JSON values found (2): expected exactly one","raw":"1 2"}}`},
		{`{x`, 99, "", `{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Invalid JSON: parse error","raw":"{x"}}`},
	} {
		var got bytes.Buffer
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		if err := e.Encode(jq.Truncate([]byte(test.text), test.limit, test.path)); err != nil || got.String() != test.want+"\n" {
			t.Errorf("%s in %d at %q: %s, %v\nwant %s", test.text, test.limit, test.path, got.String(), err, test.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	for _, text := range []string{`[1,[2],{"a":3}]`, `{"results":[1,2,3]}`, `{"a":{"b":[1,2]}}`, `{"a":[],"a":[1]}`, `1 2`, "\xff", ``} {
		f.Add([]byte(text), 9, ".a.b")
		f.Add([]byte(text), 9, "")
	}
	f.Fuzz(func(t *testing.T, text []byte, limit int, path string) {
		got := jq.Truncate(text, limit, path)
		switch {
		case (got.Result == nil) == (got.Error == nil):
			t.Errorf("neither result nor error, or both: %+v", got)
		case got.Result == nil:
		case !jq.Valid(got.Result):
			t.Errorf("%q is no JSON", got.Result)
		case len(got.Result) > limit && string(got.Result) != "[]":
			t.Errorf("%d bytes of at most %d: %q", len(got.Result), limit, got.Result)
		}
	})
}

// FuzzFilter compiles filters and runs none: what they do is gojq's affair, and
// may take for ever.
func FuzzFilter(f *testing.F) {
	for _, filter := range []string{".", ".a[0]?", `"\(.)"`, ".[] |= 1", "reduce .[] as $x (0; . + $x)", ".a |", "]", "\xff", `"\(`, "# é"} {
		f.Add(filter)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		out, says, status := run("", "--", filter)
		if out != "" || status != 0 && status != 3 || (status == 0) != (says == "") {
			t.Errorf("%q: %d, %q, %q", filter, status, out, says)
		}
	})
}

// FuzzInputs looks for inputs that come out as no JSON, or are passed over in
// silence.
func FuzzInputs(f *testing.F) {
	for _, in := range []string{"", "1 2", `{"a":[1.0,"x"]}`, "{", "a\nb", "\xff", `"\ud800"`, "1e999"} {
		f.Add(in, "-c")
		f.Add(in, "-Rsc")
		f.Add(in, "--stream")
	}
	f.Fuzz(func(t *testing.T, in, flags string) {
		args := []string{flags, "."}
		switch flags {
		case "-c", "-Rc", "-sc", "-Rsc":
		case "--stream":
			args = []string{"-c", flags, "."}
		default:
			t.Skip("no such flags")
		}
		out, says, status := run(in, args...)
		for line := range strings.Lines(out) {
			if !jq.Valid([]byte(line)) {
				t.Errorf("%q: %q", in, line)
			}
		}
		if status == 0 && says != "" || status == 0 && out == "" && strings.TrimSpace(in) != "" {
			t.Errorf("%q: %d, %q, %q", in, status, out, says)
		}
	})
}
