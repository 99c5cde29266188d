package cli

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// newTestJournal returns a journal that writes to one file, and a function for
// what is in there.
func newTestJournal(t *testing.T) (*journal, func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	t.Setenv("MCP_LOG_FILE", path)
	t.Setenv("MCP_EXTRA_LOG_FILE", "")
	t.Setenv("MCP_LOG_STDERR", "0")
	return newJournal(), func() string {
		text, err := os.ReadFile(path)
		must(t, err)
		return string(text)
	}
}

var journalLine = regexp.MustCompile(`^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] (.*)\n$`)

// withoutTime takes the time off a line, which must be the only one.
func withoutTime(t *testing.T, text string) string {
	t.Helper()
	parts := journalLine.FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("%q is no line of a journal", text)
	}
	return parts[1]
}

func TestALineOfTheJournalHasTimeLevelAndText(t *testing.T) {
	j, written := newTestJournal(t)
	before := time.Now().Truncate(time.Second)
	j.write("RESPONSE", "an answer")
	after := time.Now()
	line := written()
	if got := withoutTime(t, line); got != "[RESPONSE] an answer" {
		t.Errorf("it says %q", got)
	}
	at, err := time.ParseInLocation(time.DateTime, line[1:20], time.Local)
	if err != nil || at.Before(before) || at.After(after) {
		t.Errorf("the time of %q is %v, %v", line, at, err)
	}
}

// Text comes from clients, and a line break could pretend to be the next line.
func TestNothingAClientSaysBeginsALineOfTheJournal(t *testing.T) {
	forged := "x\n[2026-01-01 00:00:00] [INFO] forged\r\n"
	want := `x\n[2026-01-01 00:00:00] [INFO] forged\r\n`
	tests := []struct {
		name string
		say  func(j *journal)
		want string
	}{
		{"in the text", func(j *journal) { j.write("INFO", forged) }, "[INFO] " + want},
		{"in a message", func(j *journal) { slog.New(j).Warn(forged) }, "[WARN] " + want},
		{"in a value", func(j *journal) { slog.New(j).Error("no", "err", errors.New(forged)) }, "[ERROR] no err=" + want},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, written := newTestJournal(t)
			tt.say(j)
			if got := withoutTime(t, written()); got != tt.want {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAJournalIsALoggerFromInfoOn(t *testing.T) {
	j, written := newTestJournal(t)
	log := slog.New(j)
	log.Debug("not this")
	log.With("tool", "x").With("n", 1).Info("this", "err", "no")
	if got := withoutTime(t, written()); got != "[INFO] this err=no tool=x n=1" {
		t.Errorf("it says %q", got)
	}
}

func TestWhatAJournalIsGivenByOneIsNotInTheOthersLines(t *testing.T) {
	j, written := newTestJournal(t)
	log := slog.New(j)
	log.With("tool", "x")
	log.Info("plain")
	if got := withoutTime(t, written()); got != "[INFO] plain" {
		t.Errorf("it says %q", got)
	}
}

func TestAJournalGoesWhereTheVariablesSay(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name, file, extra, stderr string
		files                     []string
		toStderr                  bool
	}{
		{"nowhere", "", "", "", nil, false},
		{"not to the null device", os.DevNull, os.DevNull, "", nil, false},
		{"to a file", at("a"), "", "0", []string{at("a")}, false},
		{"to both files", at("b"), at("c"), "", []string{at("b"), at("c")}, false},
		{"to the other file alone", os.DevNull, at("d"), "", []string{at("d")}, false},
		{"to standard error", "", "", "1", nil, true},
		{"not to standard error for another word", "", "", "true", nil, false},
		{"to all of them", at("e"), at("f"), "1", []string{at("e"), at("f")}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("MCP_LOG_FILE", tt.file)
			t.Setenv("MCP_EXTRA_LOG_FILE", tt.extra)
			t.Setenv("MCP_LOG_STDERR", tt.stderr)
			stderr := captureStderr(t, func() { newJournal().write("INFO", "said") })
			if (stderr != "") != tt.toStderr {
				t.Errorf("standard error has %q", stderr)
			}
			for _, path := range tt.files {
				text, err := os.ReadFile(path)
				if err != nil || withoutTime(t, string(text)) != "[INFO] said" {
					t.Errorf("%s has %q, %v", path, text, err)
				}
				must(t, os.Remove(path))
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("there are %v too, %v", entries, err)
			}
		})
	}
}

// captureStderr returns what f prints on standard error, which must be little.
func captureStderr(t *testing.T, f func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(path)
	must(t, err)
	defer file.Close()
	old := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = old }()
	f()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func TestAJournalFollowsAFileThatIsMovedAway(t *testing.T) {
	j, written := newTestJournal(t)
	j.write("INFO", "one")
	moved := j.files[0] + ".1"
	must(t, os.Rename(j.files[0], moved))
	j.write("INFO", "two")
	if got := withoutTime(t, written()); got != "[INFO] two" {
		t.Errorf("the new file says %q", got)
	}
	if text, err := os.ReadFile(moved); err != nil || withoutTime(t, string(text)) != "[INFO] one" {
		t.Errorf("the old file says %q, %v", text, err)
	}
}

func TestAFileThatCannotBeWrittenToLeavesTheOtherAlone(t *testing.T) {
	_, written := newTestJournal(t)
	good := os.Getenv("MCP_LOG_FILE")
	t.Setenv("MCP_LOG_FILE", filepath.Join(t.TempDir(), "missing", "log"))
	t.Setenv("MCP_EXTRA_LOG_FILE", good)
	newJournal().write("INFO", "said")
	if got := withoutTime(t, written()); got != "[INFO] said" {
		t.Errorf("it says %q", got)
	}
}

func TestLinesOfManyAtOnceStayWhole(t *testing.T) {
	j, written := newTestJournal(t)
	text := strings.Repeat("x", 500)
	var all sync.WaitGroup
	for range 8 {
		log := slog.New(j).With("a", "b")
		all.Go(func() {
			for range 20 {
				log.Info(text)
			}
		})
	}
	all.Wait()
	n := 0
	for line := range strings.Lines(written()) {
		n++
		if got := withoutTime(t, line); got != "[INFO] "+text+" a=b" {
			t.Fatalf("it says %q", got)
		}
	}
	if n != 160 {
		t.Errorf("there are %d lines", n)
	}
}

func TestAKeptJournalIsForItsOwnerAndStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "log")
	t.Setenv("MCP_LOG_FILE", path)
	t.Setenv("MCP_LOG_STDERR", "1")
	j := newKeptJournal()
	stderr := captureStderr(t, func() { j.write("INFO", "one") })
	if stderr != "[INFO] one\n" {
		t.Errorf("standard error has %q", stderr)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	must(t, os.Truncate(path, fullLog))
	captureStderr(t, func() { j.write("INFO", "two") })
	text, err := os.ReadFile(path)
	must(t, err)
	if got := withoutTime(t, string(text)); got != "[INFO] two" {
		t.Errorf("the new file says %q", got)
	}
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != fullLog {
		t.Errorf("the old file: %v, %v", info, err)
	}
}
