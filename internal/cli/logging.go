package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// logFlags say where the log goes and what it holds.
type logFlags struct {
	file, level, format string
}

func (f *logFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "log-file", "", "write the log to this file (default: $MCP_LOG_FILE, or standard error)")
	flags.StringVar(&f.level, "log-level", "info", "what to log: debug, info, warn or error, and what is graver")
	flags.StringVar(&f.format, "log-format", "text", "text or json")
}

// setDefault is for commands whose user wants an answer and not the story.
func (f *logFlags) setDefault(cmd *cobra.Command, level string) {
	f.level = level
	cmd.Flags().Lookup("log-level").DefValue = level
}

func (f *logFlags) check() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return fmt.Errorf("--log-level is %q; it must be debug, info, warn or error", f.level)
	}
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("--log-format is %q; it must be text or json", f.format)
	}
	return nil
}

func (f *logFlags) handler(w io.Writer) slog.Handler {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.level))
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: visible}
	if f.format == "json" {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// visible shows what a terminal, or a reader of the log, may take for something
// else than text, such as the end of a line. What is below DEL both formats escape
// by themselves.
func visible(_ []string, a slog.Attr) slog.Attr {
	text, ok := a.Value.Any().(string)
	if err, isError := a.Value.Any().(error); isError {
		text, ok = err.Error(), true
	}
	if !ok {
		return a
	}
	var b strings.Builder
	for _, c := range text {
		if c < 0x7f || unicode.IsPrint(c) {
			b.WriteRune(c)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(c), "'"))
	}
	return slog.String(a.Key, b.String())
}

// logs is a log whose place is known only once the script has been sourced:
// the script may set MCP_LOG_FILE. Until then it goes to standard error.
type logs struct {
	flags   logFlags
	stderr  *os.File
	current atomic.Pointer[slog.Handler]
	file    *os.File
}

func newLogs(flags logFlags, stderr *os.File) *logs {
	l := &logs{flags: flags, stderr: stderr}
	h := flags.handler(stderr)
	l.current.Store(&h)
	return l
}

func (l *logs) logger() *slog.Logger { return slog.New(lateHandler{l}) }

// open sends the log to the file at path, where there is one, and to standard
// error when there is none or toStderr says so.
func (l *logs) open(path string, toStderr bool) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.file = file
	h := l.flags.handler(file)
	if toStderr {
		h = slog.NewMultiHandler(h, l.flags.handler(l.stderr))
	}
	l.current.Store(&h)
	return nil
}

func (l *logs) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// lateHandler hands records to the handler that is the current one by then.
type lateHandler struct{ logs *logs }

func (h lateHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return (*h.logs.current.Load()).Enabled(ctx, level)
}

func (h lateHandler) Handle(ctx context.Context, r slog.Record) error {
	return (*h.logs.current.Load()).Handle(ctx, r)
}

func (h lateHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return (*h.logs.current.Load()).WithAttrs(attrs)
}

func (h lateHandler) WithGroup(name string) slog.Handler {
	return (*h.logs.current.Load()).WithGroup(name)
}
