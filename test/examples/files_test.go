package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const secret = "what nobody may see"

// tree is a folder "root" with a bit of everything, and a secret beside it.
func tree(t *testing.T) (root string) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "root")
	write(t, filepath.Join(top, "secret"), secret)
	write(t, filepath.Join(top, "rooted", "secret"), secret)
	write(t, filepath.Join(root, "a.txt"), "one\ntwo\nthree\n")
	write(t, filepath.Join(root, "sub", "b.txt"), "b\n")
	write(t, filepath.Join(root, "empty"), "")
	write(t, filepath.Join(root, "-n"), "a dash\n")
	write(t, filepath.Join(root, "%2e%2e%2fsecret"), "a strange name\n")
	write(t, filepath.Join(root, "line\nbreak\x01\"\\"), "odd\n")
	write(t, filepath.Join(root, "$(touch canary)"), "a command\n")
	write(t, filepath.Join(root, "latin1"), "caf\xe9\n")
	write(t, filepath.Join(root, "image.png"), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	write(t, filepath.Join(root, "big"), strings.Repeat("äöü 678\n", 40000))
	write(t, filepath.Join(root, "one-line"), strings.Repeat("x", 300000))
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	links(t, top, root)
	return root
}

func links(t *testing.T, top, root string) {
	t.Helper()
	for name, target := range map[string]string{
		"good":         "sub/b.txt",
		"good-folder":  "sub",
		"good-far":     filepath.Join(root, "sub", "..", "a.txt"),
		"out":          "../secret",
		"out-absolute": filepath.Join(top, "secret"),
		"out-folder":   "..",
		"device":       "/dev/zero",
		"loop":         "loop",
		"dangling":     "nothing",
		"chain1":       "../secret",
	} {
		link(t, target, filepath.Join(root, name))
	}
	for i := 2; i <= 9; i++ {
		link(t, fmt.Sprintf("chain%d", i-1), filepath.Join(root, fmt.Sprintf("chain%d", i)))
	}
}

func TestFilesShowsWhatIsBelowItsRoot(t *testing.T) {
	t.Setenv("FILE_ROOT", tree(t))
	table := []asked{
		{"a file", "read_file", `{"path":"a.txt"}`, false, []string{"one\ntwo\nthree"}},
		{"a file in a folder", "read_file", `{"path":"sub/b.txt"}`, false, []string{"b"}},
		{"up and down again", "read_file", `{"path":"sub/../a.txt"}`, false, []string{"one"}},
		{"an empty file", "read_file", `{"path":"empty"}`, false, nil},
		{"a name like an option", "read_file", `{"path":"-n"}`, false, []string{"a dash"}},
		{"a name that is not decoded", "read_file", `{"path":"%2e%2e%2fsecret"}`, false, []string{"a strange name"}},
		{"a name like a command", "read_file", `{"path":"$(touch canary)"}`, false, []string{"a command"}},
		{"no UTF-8", "read_file", `{"path":"latin1"}`, false, []string{"caf\uFFFD"}},
		{"a link", "read_file", `{"path":"good"}`, false, []string{"b"}},
		{"a link to a folder", "read_file", `{"path":"good-folder/b.txt"}`, false, []string{"b"}},
		{"an absolute link", "read_file", `{"path":"good-far"}`, false, []string{"one"}},
		{"a page", "read_file", `{"path":"a.txt","offset":4,"limit":6}`, false, []string{"two\n\n[bytes 4 to 7 of 14; the next page is at offset 8]"}},
		{"the last page", "read_file", `{"path":"a.txt","offset":8}`, false, []string{"three"}},
		{"a large file", "read_file", `{"path":"big"}`, false, []string{"ü 678\n\n[bytes 0 to 65526 of 440000; the next page is at offset 65527]"}},
		{"a long line", "read_file", `{"path":"one-line"}`, false, []string{"the next page is at offset 65536]"}},
		{"a file's state", "stat_file", `{"path":"a.txt"}`, false, []string{`"type":"file","size":14,"modified":"2`}},
		{"a folder's state", "stat_file", `{"path":"sub"}`, false, []string{`"type":"folder","modified":"2`}},
		{"a FIFO's state", "stat_file", `{"path":"fifo"}`, false, []string{`"type":"FIFO"`}},
		{"a folder", "list_files", `{"path":"sub"}`, false, []string{`{"entries":[{"name":"b.txt","type":"file"}],"truncated":false}`}},
		{"some names", "list_files", `{"pattern":"?.txt"}`, false, []string{`{"entries":[{"name":"a.txt","type":"file"}],"truncated":false}`}},
		{"an odd name", "list_files", `{"pattern":"line*"}`, false, []string{`"name":"line\nbreak\u0001\"\\"`}},
		{"names like commands", "list_files", `{"pattern":"$(touch canary)"}`, true, []string{"does not match"}},
		{"links", "list_files", `{"pattern":"out*"}`, false, []string{`{"name":"out","type":"link"}`}},
	}
	theExample(t, "files").ask(table)
	theExample(t, "files").session(table)
}

func TestFilesShowsNothingElse(t *testing.T) {
	root := tree(t)
	t.Setenv("FILE_ROOT", root)
	const gone = "below the root"
	table := []asked{
		{"the folder above", "read_file", `{"path":"../secret"}`, true, []string{gone}},
		{"above by a folder", "read_file", `{"path":"sub/../../secret"}`, true, []string{gone}},
		{"a folder with the same beginning", "read_file", `{"path":"../rooted/secret"}`, true, []string{gone}},
		{"nothing, above", "read_file", `{"path":"../no-secret"}`, true, []string{gone}},
		{"a link out", "read_file", `{"path":"out"}`, true, []string{gone}},
		{"an absolute link out", "read_file", `{"path":"out-absolute"}`, true, []string{gone}},
		{"a file behind a link out", "read_file", `{"path":"out-folder/secret"}`, true, []string{gone}},
		{"nine links", "read_file", `{"path":"chain9"}`, true, []string{gone}},
		{"nine links' state", "stat_file", `{"path":"chain9"}`, true, []string{gone}},
		{"a link to itself", "read_file", `{"path":"loop"}`, true, []string{gone}},
		{"a link to nothing", "read_file", `{"path":"dangling"}`, true, []string{gone}},
		{"a link to a device", "read_file", `{"path":"device"}`, true, []string{gone}},
		{"an absolute path", "read_file", `{"path":"/etc/passwd"}`, true, []string{"does not match"}},
		{"a file of a folder that is not there", "read_file", `{"path":"nothing/a.txt"}`, true, []string{gone}},
		{"a tilde", "read_file", `{"path":"~/x"}`, true, []string{gone}},
		{"NUL", "read_file", `{"path":"a.txt\u0000b"}`, true, nil},
		{"a newline", "read_file", `{"path":"line\nbreak\u0001\"\\"}`, true, []string{"does not match"}},
		{"a folder", "read_file", `{"path":"sub"}`, true, []string{"sub is a folder"}},
		{"a FIFO", "read_file", `{"path":"fifo"}`, true, []string{"fifo is a FIFO"}},
		{"a binary file", "read_file", `{"path":"image.png"}`, true, []string{"binary", "16 bytes"}},
		{"a file as a folder", "read_file", `{"path":"a.txt/"}`, true, []string{gone}},
		{"behind the end", "read_file", `{"path":"a.txt","offset":14}`, true, []string{"a.txt has 14 bytes"}},
		{"more than a call may read", "read_file", `{"path":"a.txt","limit":65537}`, true, []string{"above maximum 65536"}},
		{"a number that Bash cannot read", "read_file", `{"path":"a.txt","offset":2e0}`, true, []string{"digits alone"}},
		{"a list of the folder above", "list_files", `{"path":".."}`, true, []string{gone}},
		{"a list behind a link", "list_files", `{"path":"out-folder"}`, true, []string{gone}},
		{"a list of a file", "list_files", `{"path":"a.txt"}`, true, []string{"no folder"}},
		{"a pattern with a slash", "list_files", `{"pattern":"../*"}`, true, []string{"does not match"}},
		{"a pattern that is slow to match", "list_files", `{"pattern":"*a*a*a*a*b"}`, true, []string{"does not match"}},
	}
	theExample(t, "files").session(table)
	theExample(t, "files").unguarded("read_file", "list_files").session([]asked{
		{"an absolute path past the script", "read_file", `{"path":"/../secret"}`, true, []string{gone}},
		{"a newline past the script", "read_file", `{"path":"x\n/../../secret"}`, true, []string{gone}},
		{"a command past the script", "list_files", `{"pattern":"$(touch canary)"}`, false, []string{"touch canary"}},
		{"a number past the script", "read_file", `{"path":"a.txt","offset":"a[$(touch canary)]"}`, true, []string{"digits alone"}},
	})
	if exists(filepath.Join(root, "canary")) {
		t.Error("an argument was run")
	}
}

// While one name is a file and a link out of the root in turns, no call may
// show what is outside.
func TestFilesIsNotOutrun(t *testing.T) {
	root := tree(t)
	t.Setenv("FILE_ROOT", root)
	name, spare := filepath.Join(root, "turn"), filepath.Join(root, "spare")
	write(t, name, "inside\n")
	stop, stopped := make(chan struct{}), make(chan error)
	go func() { stopped <- takeTurns(name, spare, stop) }()
	var table []asked
	for i := range 100 {
		table = append(table, asked{about: fmt.Sprint(i), tool: "read_file", arguments: `{"path":"turn"}`})
	}
	answers := append(theExample(t, "files").overStdio(table), theExample(t, "files").overHTTP(table)...)
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, got := range answers {
		if strings.Contains(got.text, secret) {
			t.Fatal("the secret was shown")
		}
		if got.text == "inside" {
			shown++
		}
	}
	t.Logf("%d of %d calls were answered with the file", shown, len(answers))
}

func takeTurns(name, spare string, stop <-chan struct{}) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		case <-time.After(100 * time.Microsecond):
		}
		var err error
		if i%2 == 0 {
			err = os.Symlink("../secret", spare)
		} else {
			err = os.WriteFile(spare, []byte("inside\n"), 0o644)
		}
		if err != nil {
			return err
		}
		if err := os.Rename(spare, name); err != nil {
			return err
		}
	}
}
