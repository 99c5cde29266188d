package invocation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestParseEnvironment(t *testing.T) {
	tests := []struct {
		words string
		want  Environment
		ok    bool
	}{
		{"inherit", Environment{Says: true}, true},
		{"minimal", Environment{Says: true, Limited: true, Names: Minimal}, true},
		{"HOME", Environment{Says: true, Limited: true, Names: []string{"HOME"}}, true},
		{"HOME _x A1 a", Environment{Says: true, Limited: true, Names: []string{"HOME", "_x", "A1", "a"}}, true},
		{"", Environment{Says: true, Limited: true}, true},
		{"inherit HOME", Environment{Says: true, Limited: true, Names: []string{"inherit", "HOME"}}, true},
		{"1A", Environment{}, false},
		{"A=1", Environment{}, false},
		{"HOME A-B", Environment{}, false},
		{"Ä", Environment{}, false},
		{"A*", Environment{}, false},
	}
	for _, tt := range tests {
		got, ok := ParseEnvironment(strings.Fields(tt.words))
		if ok != tt.ok || ok && (got.Says != tt.want.Says || got.Limited != tt.want.Limited || !slices.Equal(got.Names, tt.want.Names)) {
			t.Errorf("%q is %+v, %v; want %+v, %v", tt.words, got, ok, tt.want, tt.ok)
		}
	}
	if _, ok := ParseEnvironment([]string{""}); ok {
		t.Error("an empty name is one")
	}
}

func TestALimitedEnvironmentHasPathAndWhatConchTells(t *testing.T) {
	e, _ := ParseEnvironment([]string{"A", "B"})
	passed := e.Passed()
	for _, name := range []string{"PATH", "MCP_CALL_TMPDIR", "CONCH_BIN", "CONCH_TALK", "A", "B"} {
		if !slices.Contains(passed, name) {
			t.Errorf("%s is not passed: %q", name, passed)
		}
	}
	for _, name := range []string{"HOME", "LD_PRELOAD", "BASH_ENV"} {
		if slices.Contains(passed, name) {
			t.Errorf("%s is passed", name)
		}
	}
}

func TestTextOf(t *testing.T) {
	for value, want := range map[string]string{
		`"x"`: "x", `""`: "", `"a\nb\u0000\"\\"`: "a\nb\x00\"\\", `"\u00e4\ud83d\ude00"`: "ä😀", `"null"`: "null",
		`null`: "", `true`: "true", `false`: "false", `0`: "0", `-0`: "-0", `1.50`: "1.50", `1e400`: "1e400", `9007199254740993`: "9007199254740993",
		`{ "a" : [ 1 , "<" ] }`: `{"a":[1,"<"]}`, `[ ]`: `[]`,
	} {
		if got := TextOf(json.RawMessage(value)); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}
