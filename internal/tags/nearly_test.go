package tags

import (
	"fmt"
	"slices"
	"testing"
)

func TestWhatIsNearlyATag(t *testing.T) {
	for text, want := range map[string][]string{
		"# @cmd Go\n  # @option --n t\ngo() { :; }":   {"2:3 # @option --n t"},
		"# @cmd Go\n\t## @flag --n\n# x\ngo() { :; }": {"2:2 ## @flag --n"},
		"  # @option --n\n# @cmd Go\ngo() { :; }":     {"1:3 # @option --n"},
		"# @Cmd Go\ngo() { :; }":                      {"1:1 # @cmd Go"},
		"#@ cmd Go\ngo() { :; }":                      {"1:1 # @cmd Go"},
		"# @ option --n":                              {"1:1 # @option --n"},
		"# @command Go":                               {"1:1 # @cmd Go"},
		"# @params x":                                 {"1:1 # @arg x"},

		"# @cmd Go\n# @option --n\ngo() {\n  # @option is a tag\n  :\n}": nil,
		"# @cmd Go\ngo() {\n  cat <<END\n# @Cmd x\nEND\n}":               nil,
		"# @cmd Go\n# @@ -1 +1 @@\n# a @command, that is":                nil,
		"# @ home": nil, "# @see x": nil, "  # @Cmd": nil, "echo '\n# @Cmd'": nil,
	} {
		var got []string
		for _, near := range NearTags([]byte(text)) {
			got = append(got, fmt.Sprintf("%d:%d %s", near.Line, near.Column, near.Meant))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestPrivateCommands(t *testing.T) {
	text := "# @cmd a\n_a() { :; }\n_b() { :; }\n# @cmd c\n# @option --x\nc::_d() { :; }\n# @cmd e\ne() { :; }\n"
	want := []PrivateCommand{{1, "_a"}, {4, "c::_d"}}
	if got := PrivateCommands([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
