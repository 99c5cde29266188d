package call

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const script = `
tool_say() { printf '%s' "$arg_text"; return "${arg_status:-0}"; }
tool_much() { head -c "$arg_bytes" /dev/zero | tr '\0' x; }
tool_endless() { while :; do echo yes; done; }
tool_sleep() { echo begun; : >"$arg_mark"; sleep 1000; }
tool_stubborn() { trap '' TERM; echo begun; : >"$arg_mark"; while :; do sleep 1000; done; }
tool_leave() { sleep 1000 & echo left; }
tool_dir() { : >"$MCP_CALL_TMPDIR/file"; printf '%s' "$MCP_CALL_TMPDIR"; }
tool_die() { kill -9 "$BASHPID"; }
`

func TestRunTellsHowACallEnded(t *testing.T) {
	r := newRunner(t, script, t.TempDir(), Limits{MaxOutput: 100000})
	tests := []struct {
		name, tool, arguments string
		end                   End
		status                int
		output                string
	}{
		{"well", "say", `{"text":"hi\n"}`, Returned, 0, "hi\n"},
		{"with a status", "say", `{"text":"","status":42}`, Returned, 42, ""},
		{"killed", "die", `{}`, Returned, 137, ""},
		{"with a child left", "leave", `{}`, Returned, 0, "left\n"},
		{"with as much as it may print", "much", `{"bytes":100000}`, Returned, 0, strings.Repeat("x", 100000)},
		{"with one byte more", "much", `{"bytes":100001}`, Overflowed, -1, strings.Repeat("x", 100000)},
		{"printing for ever", "endless", `{}`, Overflowed, -1, strings.Repeat("yes\n", 25000)},
		{"with a tool that is not there", "none", `{}`, Returned, 127, "*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := r.Run(t.Context(), Call{Function: "tool_" + tt.tool, Arguments: json.RawMessage(tt.arguments)})
			if err != nil {
				t.Fatal(err)
			}
			if o.End != tt.end || tt.status >= 0 && o.Status != tt.status || tt.output != "*" && string(o.Output) != tt.output {
				t.Errorf("end %d, status %d, %d bytes: %.60q", o.End, o.Status, len(o.Output), o.Output)
			}
		})
	}
}

func TestACallIsStoppedWhenItsContextEnds(t *testing.T) {
	r := newRunner(t, script, t.TempDir(), Limits{})
	for _, tool := range []string{"sleep", "stubborn"} {
		t.Run(tool, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				eventually(t, "the tool begins", func() bool { _, err := os.Stat(mark); return err == nil })
			}()
			o, err := r.Run(ctx, Call{Function: "tool_" + tool, Arguments: json.RawMessage(`{"mark":"` + mark + `"}`)})
			if err != nil || o.End != Cancelled || string(o.Output) != "begun\n" {
				t.Errorf("%v, end %d, output %q", err, o.End, o.Output)
			}
		})
	}
}

func TestACallIsStoppedAtItsTimeLimit(t *testing.T) {
	t.Run("that it exceeds", func(t *testing.T) {
		r := newRunner(t, script, t.TempDir(), Limits{Timeout: 300 * time.Millisecond})
		o, err := r.Run(t.Context(), Call{Function: "tool_sleep", Arguments: json.RawMessage(`{"mark":"/dev/null"}`)})
		if err != nil || o.End != TimedOut {
			t.Errorf("%v, end %d, output %q", err, o.End, o.Output)
		}
	})
	t.Run("and not before", func(t *testing.T) {
		r := newRunner(t, script, t.TempDir(), Limits{Timeout: patience})
		if o, err := r.Run(t.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"quick"}`)}); err != nil || o.End != Returned || string(o.Output) != "quick" {
			t.Errorf("%v, end %d, output %q", err, o.End, o.Output)
		}
	})
}

func TestTheDirectoryOfACallGoesWithIt(t *testing.T) {
	tmp := t.TempDir()
	r := newRunner(t, script, tmp, Limits{})
	seen := map[string]bool{}
	for range 5 {
		o, err := r.Run(t.Context(), Call{Function: "tool_dir", Arguments: json.RawMessage(`{}`)})
		must(t, err)
		path := string(o.Output)
		if _, err := os.Lstat(path); err == nil || seen[path] || !strings.HasPrefix(path, tmp+"/") {
			t.Errorf("the directory was %q", path)
		}
		seen[path] = true
	}
}

func TestWithoutADirectoryAToolDoesNotRun(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "tmp")
	r := newRunner(t, script, tmp, Limits{})
	// More than there are workers: each must be given back.
	for range 6 {
		if _, err := r.Run(t.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"x"}`)}); !errors.Is(err, ErrDirectory) {
			t.Fatalf("Run: %v", err)
		}
	}
	must(t, os.Mkdir(tmp, 0o700))
	if o, err := r.Run(t.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil || string(o.Output) != "x" {
		t.Errorf("then: %v, output %q", err, o.Output)
	}
}

func TestArgumentsNoShellCanHoldCostNoWorker(t *testing.T) {
	r := newRunner(t, script, t.TempDir(), Limits{})
	for range 6 {
		if _, err := r.Run(t.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"\u0000"}`)}); err == nil {
			t.Fatal("a NUL is taken")
		}
	}
	if o, err := r.Run(t.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil || string(o.Output) != "x" {
		t.Errorf("then: %v, output %q", err, o.Output)
	}
}

func BenchmarkCall(b *testing.B) {
	for _, size := range []struct{ name, arguments string }{
		{"small", `{"text":"hello"}`},
		{"100KB", `{"text":"` + strings.Repeat("x", 100<<10) + `"}`},
	} {
		b.Run(size.name, func(b *testing.B) {
			r := newRunner(b, script, b.TempDir(), Limits{MaxOutput: 10 << 20})
			for b.Loop() {
				if o, err := r.Run(b.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(size.arguments)}); err != nil || o.End != Returned {
					b.Fatalf("%v, end %d", err, o.End)
				}
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		r := newRunner(b, script, b.TempDir(), Limits{MaxOutput: 10 << 20})
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if o, err := r.Run(b.Context(), Call{Function: "tool_say", Arguments: json.RawMessage(`{"text":"hello"}`)}); err != nil || o.End != Returned {
					b.Errorf("%v, end %d", err, o.End)
				}
			}
		})
	})
}

// Its name does not fit into the job itself then.
func TestADirectoryIsExportedWhateverItsName(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "odd\x7fname")
	must(t, os.Mkdir(tmp, 0o700))
	r := newRunner(t, `tool_child() { sh -c 'printf "%s" "$MCP_CALL_TMPDIR"'; }`, tmp, Limits{})
	o, err := r.Run(t.Context(), Call{Function: "tool_child", Arguments: json.RawMessage(`{}`)})
	if err != nil || !strings.HasPrefix(string(o.Output), tmp+"/") {
		t.Errorf("%v, a child has %q", err, o.Output)
	}
}
