package shell

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadReportTellsWhatAScriptLeftBehind(t *testing.T) {
	const text = "ready\x005.2.15(1)-release\x00PWD=/a b\nc\x00TMPDIR=\x00MCP_LOG_FILE=a=b\x00declare -f tool_a\ndeclare -fx tool_b\ndeclare -ft _c\n\x00end\x00"
	s, err := readReport(iotest.OneByteReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if s.Bash != "5.2.15(1)-release" || !maps.Equal(s.Variables, map[string]string{"PWD": "/a b\nc", "TMPDIR": "", "MCP_LOG_FILE": "a=b"}) {
		t.Errorf("got %+v", s)
	}
	if names := slices.Sorted(maps.Keys(s.Functions)); !slices.Equal(names, []string{"_c", "tool_a", "tool_b"}) {
		t.Errorf("the functions are %q", names)
	}
	if s, err := readReport(strings.NewReader("ready\x005\x00\x00end\x00")); err != nil || len(s.Functions) > 0 {
		t.Errorf("without functions: %+v, %v", s, err)
	}
}

func TestReadReportTellsHowAScriptFailed(t *testing.T) {
	_, err := readReport(strings.NewReader("failed\x003\x0012\x00"))
	var f *failure
	if !errors.As(err, &f) || f.status != 3 || f.line != 12 {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"", "ready", "ready\x00", "ready\x005\x00PWD=/\x00", "ready\x005\x00end", "other\x00"} {
		if _, err := readReport(strings.NewReader(text)); err == nil || errors.As(err, &f) {
			t.Errorf("%q gives %v", text, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	for _, text := range []string{"", "ready\x005.2\x00PWD=/\x00declare -f a\n\x00end\x00", "failed\x001\x002\x00", "failed\x00", "ready\x00\x00\x00end\x00", "ready\x005\x00declare \x00=\x00end\x00more"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readReport(strings.NewReader(string(text)))
		if err != nil {
			if s != nil {
				t.Errorf("half a report with %v: %+v", err, s)
			}
			return
		}
		if s.Variables == nil || s.Functions == nil || !strings.HasPrefix(string(text), "ready\x00") || !strings.Contains(string(text), "\x00end\x00") {
			t.Errorf("%q gives %+v", text, s)
		}
		for name := range s.Functions {
			if name == "" || strings.ContainsAny(name, " \n\x00") {
				t.Errorf("a function %q", name)
			}
		}
	})
}
