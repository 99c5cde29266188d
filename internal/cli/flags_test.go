package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestASizeIsANumberOfBytesWithOrWithoutAUnit(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1 for none
	}{
		{"0", 0}, {"1", 1}, {"1024", 1 << 10}, {"5B", 5}, {"1KiB", 1 << 10}, {"16MiB", 16 << 20}, {"2GiB", 2 << 30}, {"5 MiB", 5 << 20}, {"007", 7},
		{"9223372036854775807", math.MaxInt64}, {"8589934591GiB", 8589934591 << 30},
		{"", -1}, {"KiB", -1}, {"MiB", -1}, {"B", -1}, {"-1", -1}, {"-1KiB", -1}, {"1.5MiB", -1}, {"1KB", -1}, {"1k", -1}, {"1kib", -1}, {"1MiBx", -1}, {"0x10", -1}, {"1e3", -1}, {"1 2", -1},
		{"9223372036854775808", -1}, {"8589934592GiB", -1}, {"9007199254740992KiB", -1}, {"inf", -1}, {"1KiBMiB", -1},
	}
	for _, tt := range tests {
		s := size(77)
		err := s.Set(tt.text)
		if tt.want >= 0 && (err != nil || int64(s) != tt.want) || tt.want < 0 && (err == nil || s != 77) {
			t.Errorf("%q gives %d, %v; want %d", tt.text, s, err, tt.want)
		}
	}
}

func TestASizeIsWrittenInItsLargestUnitAndReadBack(t *testing.T) {
	for n, want := range map[size]string{0: "0B", 1: "1B", 1023: "1023B", 1 << 10: "1KiB", 1536: "1536B", 3 << 10: "3KiB", 16 << 20: "16MiB", 1 << 30: "1GiB", 1<<30 + 1<<20: "1025MiB", math.MaxInt64: "9223372036854775807B"} {
		if got := n.String(); got != want {
			t.Errorf("%d is written %s, want %s", int64(n), got, want)
		}
		var back size
		if err := back.Set(n.String()); err != nil || back != n {
			t.Errorf("%s is read as %d, %v", n.String(), int64(back), err)
		}
	}
	if s := size(0); s.Type() != "size" {
		t.Errorf("its type is %s", s.Type())
	}
}

func TestParsePairMakesAnArgument(t *testing.T) {
	tests := []struct{ pair, name, value string }{
		{"a=b", "a", `"b"`}, {"a=", "a", `""`}, {"a=b=c", "a", `"b=c"`}, {"a= b ", "a", `" b "`}, {"a=1", "a", `"1"`}, {"a=\"", "a", `"\""`}, {"a=b:=c", "a", `"b:=c"`}, {"é=ü", "é", `"ü"`},
		{"a:=1", "a", `1`}, {"a:=\"b\"", "a", `"b"`}, {"a:=[1,2]", "a", `[1,2]`}, {"a:={\"b\":\"=\"}", "a", `{"b":"="}`}, {"a:=null", "a", `null`}, {"a:=9007199254740993", "a", `9007199254740993`}, {"a:=1e400", "a", `1e400`},
		{"a::=1", "a:", `1`}, {"a:b=c", "a:b", `"c"`}, {"a b=c", "a b", `"c"`},
	}
	for _, tt := range tests {
		name, value, err := parsePair(tt.pair)
		if err != nil || name != tt.name || string(value) != tt.value {
			t.Errorf("%q gives %q, %s, %v; want %q, %s", tt.pair, name, value, err, tt.name, tt.value)
		}
	}
	for _, pair := range []string{"", "a", "=", "=b", ":=1", "a:", "a:=", "a:=b", "a:={", "a:=1 2", "a:='x'"} {
		if name, value, err := parsePair(pair); err == nil {
			t.Errorf("%q is taken as %q, %s", pair, name, value)
		}
	}
}

func TestArgumentsComeFromOneObjectOrFromPairs(t *testing.T) {
	const absent = "--args was not given"
	tests := []struct {
		object string
		pairs  []string
		want   string // "" for none
	}{
		{absent, nil, `{}`}, {absent, []string{"a=1", "b:=[2]"}, `{"a":"1","b":[2]}`}, {absent, []string{"n:=1e400"}, `{"n":1e400}`},
		{`{"a": 1.50}`, nil, `{"a": 1.50}`}, {`{}`, nil, `{}`},
		{`{}`, []string{"a=1"}, ""}, {`[]`, nil, ""}, {`5`, nil, ""}, {`{`, nil, ""}, {`{} {}`, nil, ""}, {`null`, nil, ""}, {``, nil, ""},
		{absent, []string{"a"}, ""}, {absent, []string{"a=1", "a:=2"}, ""},
	}
	for _, tt := range tests {
		object := &tt.object
		if tt.object == absent {
			object = nil
		}
		got, err := parseArguments(object, tt.pairs)
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%q and %q give %s, %v; want %s", tt.object, tt.pairs, got, err, tt.want)
		}
	}
}

func TestAFirstArgumentThatIsAPathMeansServe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"server.sh", "tools", "help"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	tests := []struct {
		args  string
		serve bool
	}{
		{"", false}, {"server.sh", true}, {"./server.sh", true}, {dir + "/server.sh", true}, {"server.sh --timeout 5s", true}, {"server.sh -- call", true},
		{"./tools", true}, {"tools server.sh", false}, {"./not-there.sh", true}, {"not-there.sh", false},
		{"serve server.sh", false}, {"call server.sh x", false}, {"version", false}, {"help", false}, {"help serve", false}, {"completion bash", false}, {"./help", true},
		{"--help", false}, {"-h", false}, {"--version server.sh", false}, {"__complete serve x", false},
	}
	for _, tt := range tests {
		args := strings.Fields(tt.args)
		want := args
		if tt.serve {
			want = append([]string{"serve"}, args...)
		}
		if got := withServe(newRoot(), args); !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", args, got, want)
		}
	}
}

func TestParametersAreListedInTheOrderOfTheSchema(t *testing.T) {
	for properties, want := range map[string]string{
		`{"z":{},"a":{"type":"string"},"m":true}`: "[z] a [m]", `{}`: "-", `null`: "-", `[]`: "-", ``: "-", `{"a\u001b":{}}`: "[a\uFFFD]",
	} {
		if got := parameters(json.RawMessage(properties), []string{"a"}); got != want {
			t.Errorf("%s is shown as %q, want %q", properties, got, want)
		}
	}
}
