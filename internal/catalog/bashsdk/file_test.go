package bashsdk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/catalog"
)

func TestAFileThatCannotBeUsedIsNamedWithTheReason(t *testing.T) {
	write := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { writeFile(t, path, text) }
	}
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"missing", func(*testing.T, string) {}, "there is no such file"},
		{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "it is not a regular file"},
		{"a FIFO that nobody writes to", func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) }, "it is not a regular file"},
		{"a device", func(t *testing.T, path string) { must(t, os.Symlink("/dev/null", path)) }, "it is not a regular file"},
		{"a link to nothing", func(t *testing.T, path string) { must(t, os.Symlink("nothing", path)) }, "there is no such file"},
		{"a link to itself", func(t *testing.T, path string) { must(t, os.Symlink(path, path)) }, "too many levels of symbolic links"},
		{"below a file", func(t *testing.T, path string) {
			must(t, os.Remove(filepath.Dir(path)))
			writeFile(t, filepath.Dir(path), "")
		}, "not a directory"},
		{"larger than the limit", func(t *testing.T, path string) {
			writeFile(t, path, "{}")
			must(t, os.Truncate(path, maxFile+1))
		}, "it is larger than 64 MiB"},
		{"empty", write(""), "it does not hold exactly one JSON object: line 1: unexpected end of JSON input"},
		{"white space", write("\n\n"), "it does not hold exactly one JSON object: line 3: unexpected end of JSON input"},
		{"an array", write("[]"), "it does not hold exactly one JSON object: the value is of another type"},
		{"null", write(" null"), "it does not hold exactly one JSON object: the value is of another type"},
		{"two objects", write("{}\n{}"), "it does not hold exactly one JSON object: line 2: invalid character '{' after top-level value"},
		{"a comma too many", write("{\n\"a\":1,\n}"), "it does not hold exactly one JSON object: line 3: invalid character '}' looking for beginning of object key string"},
		{"half an object", write("{\"a\":\n"), "it does not hold exactly one JSON object: line 2: unexpected end of JSON input"},
		{"invalid UTF-8", write("{\"a\":\"\xff\"}"), "it is not valid UTF-8"},
		{"a byte order mark", write("\ufeff{}"), "it begins with a byte order mark; save it without"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "file")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			tt.make(t, path)
			requireReason(t, path, "tools list", tt.want, func() error { _, err := NewToolsFile(path, false).Read(); return err })
			requireReason(t, path, "server configuration", tt.want, func() error { _, err := NewConfigFile(path, revisions, false).Read(); return err })
		})
	}
}

func requireReason(t *testing.T, path, what, want string, read func() error) {
	t.Helper()
	err := read()
	var fileErr *catalog.FileError
	if !errors.As(err, &fileErr) {
		t.Fatalf("got %v", err)
	}
	if got := err.Error(); got != "Cannot read "+what+": "+path+": "+want {
		t.Errorf("got %q, want %q at the end", got, want)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileIsParsedAgainOnlyWhenItsBytesHaveChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.json")
	f := NewToolsFile(path, false)
	writeFile(t, path, `{"tools":[{"name":"a"}]}`)
	// A change of this very moment is not trusted yet.
	var first *catalog.Tools
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		again, err := f.Read()
		must(t, err)
		if again == first {
			break
		}
		if first = again; time.Now().After(end) {
			t.Fatal("an unchanged file is parsed again and again")
		}
	}
	info, err := os.Stat(path)
	must(t, err)
	// As long as before, and with the same time stamp.
	writeFile(t, path, `{"tools":[{"name":"b"}]}`)
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if changed, err := f.Read(); err != nil || changed.Lookup("b") == nil || changed.Lookup("a") != nil {
		t.Errorf("changed it gives %+v, %v", changed, err)
	}
	writeFile(t, path, `{"tools":5}`)
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), `"tools" is not an array`) {
		t.Errorf("broken it gives %v", err)
	}
	writeFile(t, path, `{"tools":[{"name":"b"}]}`)
	if mended, err := f.Read(); err != nil || mended.Lookup("b") == nil {
		t.Errorf("mended it gives %+v, %v", mended, err)
	}
}
