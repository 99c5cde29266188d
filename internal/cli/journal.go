package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// journal is the log of a script written for bash-mcp-sdk: lines of
// "[date time] [LEVEL] message" appended to the files that its variables name.
// Each line opens them anew, so that they can be moved away.
type journal struct {
	files    []string
	toStderr bool
	attrs    string

	mu *sync.Mutex // held while a line is written
}

// newJournal takes the places from the environment, into which the drop-in file
// has put the script's variables.
func newJournal() *journal {
	j := &journal{toStderr: os.Getenv("MCP_LOG_STDERR") == "1", mu: new(sync.Mutex)}
	for _, name := range []string{"MCP_LOG_FILE", "MCP_EXTRA_LOG_FILE"} {
		if path := os.Getenv(name); path != "" && path != os.DevNull {
			j.files = append(j.files, path)
		}
	}
	return j
}

// oneLine keeps what a client sends from looking like a line of the log.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// write adds a line. A file that cannot be written to is no reason to stop.
func (j *journal) write(level, text string) {
	if len(j.files) == 0 && !j.toStderr {
		return
	}
	line := fmt.Appendf(nil, "[%s] [%s] %s%s\n", time.Now().Format(time.DateTime), level, oneLine.Replace(text), j.attrs)
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, path := range j.files {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err == nil {
			_, _ = f.Write(line)
			f.Close()
		}
	}
	if j.toStderr {
		_, _ = os.Stderr.Write(line)
	}
}

// Enabled implements [slog.Handler].
func (j *journal) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements [slog.Handler].
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	text.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(attrText(a))
		return true
	})
	j.write(r.Level.String(), text.String())
	return nil
}

func attrText(a slog.Attr) string { return fmt.Sprintf(" %s=%v", a.Key, a.Value) }

// WithAttrs implements [slog.Handler].
func (j *journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *j
	for _, a := range attrs {
		with.attrs += attrText(a)
	}
	return &with
}

// WithGroup implements [slog.Handler]. Nothing here makes groups.
func (j *journal) WithGroup(string) slog.Handler { return j }
