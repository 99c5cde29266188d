package shell

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
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

// A report is read to its end, or to that of the shell or of the context.
func TestAReportIsWaitedForAsLongAsThereMayBeOne(t *testing.T) {
	const whole = "ready\x005\x00PWD=/\x00\x00end\x00"
	never := make(chan struct{})
	over := make(chan struct{})
	close(over)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name, text string
		ctx        context.Context
		done       chan struct{}
		good       bool
	}{
		{"whole, the shell lives", whole, t.Context(), never, true},
		{"whole, the shell has ended", whole, t.Context(), over, true},
		{"half, the shell has ended", whole[:9], t.Context(), over, false},
		{"none, the shell has ended", "", t.Context(), over, false},
		{"half, the context has ended", whole[:9], cancelled, never, false},
		{"none, the context has ended", "", cancelled, never, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "root-1.report")
			r, err := newReport(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.hold.WriteString(tt.text); err != nil {
				t.Fatal(err)
			}
			if s, err := r.read(tt.ctx, tt.done); (err == nil) != tt.good || (s != nil) != tt.good {
				t.Errorf("read: %+v, %v", s, err)
			}
			r.close()
			if _, err := os.Lstat(path); err == nil {
				t.Error("the FIFO is left")
			}
		})
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
