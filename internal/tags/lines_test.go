package tags

import (
	"errors"
	"strings"
	"testing"
)

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"# @cmd x\nf() { :; }\n":         true,
		"#@cmd":                          true,
		"##  @cmd":                       true,
		"#!/bin/bash\r\n# @cmd\r\n":      true,
		"\ufeff# @cmd":                   true,
		"":                               false,
		"# @command":                     false,
		"# @cmdx":                        false,
		"# see @cmd":                     false,
		" # @cmd":                        false,
		"x # @cmd":                       false,
		"cat <<E\n# @cmd\nE\n":           false,
		"x='\n# @cmd\n'":                 false,
		"x=\"$(cat <<E\n# @cmd\nE\n)\"":  false,
		"cat <<E\nE\n# @cmd\n":           true,
		"# it's\n# @cmd":                 true,
		"# @describe a 'quote\n# @cmd x": true,
	} {
		if got := Mentions([]byte(text), "cmd", "other"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if Mentions([]byte("# @cmd"), "describe") || !Mentions([]byte("# @describe"), "cmd", "describe") {
		t.Error("it goes by other keywords than those it is given")
	}
}

func TestComments(t *testing.T) {
	for _, tt := range []struct{ sign, text, want string }{
		{"//", "#!/usr/bin/env node\n// @describe d\n// more\nconst x = 1; // @arg no\n  // @arg no\n//@flag -x\n", "\n# @describe d\n# more\n\n\n#@flag -x\n"},
		{"--", "-- @describe d\nprint(1)\n--- @arg a\n", "# @describe d\n\n#- @arg a\n"},
		{"#", "#!/usr/bin/env python3\n# @describe d\n## @arg a\n", "#!/usr/bin/env python3\n# @describe d\n## @arg a\n"},
		{"//", "// @ts-check\n// @describe d\n// @param {string} x\n// @returns y\n", "\n# @describe d\n\n\n"},
		{"#", "# @pytest.fixture\n# @cmd\n", "\n# @cmd\n"},
		{"#", "\ufeff# @describe d", "# @describe d"},
		{"//", "// @describe d\r\nx\r\n", "# @describe d\r\n\n"},
		{"//", "", ""},
	} {
		got := string(Comments([]byte(tt.text), tt.sign))
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
		if strings.Count(got, "\n") != strings.Count(tt.text, "\n") && strings.HasSuffix(tt.text, "\n") {
			t.Errorf("%q: lines have moved: %q", tt.text, got)
		}
	}
}

func FuzzComments(f *testing.F) {
	for _, text := range []string{"// @describe d\n// more\nx\n", "//@cmd\r\n", "// '\n// @flag -x", "\ufeff// @arg a\n", "", "/", "//", "// @@\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		comments := Comments([]byte(text), "//")
		if strings.Count(string(comments), "\n") < strings.Count(text, "\n") {
			t.Errorf("%q: a line is gone: %q", text, comments)
		}
		for line := range strings.Lines(string(comments)) {
			if strings.Trim(line, "\r\n") != "" && line[0] != '#' {
				t.Errorf("%q: no comment: %q", text, line)
			}
		}
		// Whatever is wrong has a line of the text's.
		if _, err := Parse("p", comments); err != nil {
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("%q: %v", text, err)
			}
			for _, fault := range faults {
				if fault.Line < 1 || fault.Line > strings.Count(text, "\n")+1 {
					t.Errorf("%q: a fault in line %d", text, fault.Line)
				}
			}
		}
	})
}

func TestTheSignsOfADiffAreNoTag(t *testing.T) {
	s, err := Parse("x.sh", []byte("# @describe d\n# @option --x A patch\n# @@ -1 +1 @@\n# -a\n# @ b\n# @1\nmain() { :; }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Commands[0].Params[0].Describe, "A patch\n@@ -1 +1 @@\n-a\n@ b\n@1"; got != want {
		t.Errorf("the description is %q, want %q", got, want)
	}
}
