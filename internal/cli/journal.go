package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// journal is the log of a script that was written for another framework: lines of
// "[date time] [LEVEL] message" appended to the files that its variables name.
// Each line opens them anew, so that they can be moved away.
type journal struct {
	files    []string
	toStderr bool
	kept     bool // the files are made with their directories, for nobody else to read, and kept small
	attrs    string

	mu *sync.Mutex // held while a line is written
}

// newJournal takes the places from the environment, into which the drop-in file
// of bash-mcp-sdk has put the script's variables.
func newJournal() *journal { return journalOf("MCP_LOG_FILE", "MCP_EXTRA_LOG_FILE") }

// newKeptJournal does the same for mcp-server-bash-sdk.
func newKeptJournal() *journal {
	j := journalOf("MCP_LOG_FILE")
	j.kept = true
	return j
}

func journalOf(variables ...string) *journal {
	j := &journal{toStderr: os.Getenv("MCP_LOG_STDERR") == "1", mu: new(sync.Mutex)}
	for _, name := range variables {
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
	said := fmt.Appendf(nil, "[%s] %s%s\n", level, oneLine.Replace(text), j.attrs)
	line := fmt.Appendf(nil, "[%s] %s", time.Now().Format(time.DateTime), said)
	if !j.kept {
		said = line
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, path := range j.files {
		if f, err := j.open(path); err == nil {
			_, _ = f.Write(line)
			f.Close()
		}
	}
	if j.toStderr {
		_, _ = os.Stderr.Write(said)
	}
}

// fullLog is the size from which on a log that is kept small makes way for a new
// one. The one before that goes.
const fullLog = 10 << 20

func (j *journal) open(path string) (*os.File, error) {
	const append = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if !j.kept {
		return os.OpenFile(path, append, 0o666)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() >= fullLog {
		_ = os.Rename(path, path+".1")
	}
	f, err := os.OpenFile(path, append, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		f, err = os.OpenFile(path, append, 0o600)
	}
	return f, err
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
