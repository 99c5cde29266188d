// Package new_test holds what conch new makes to its word: each template's server has
// its tools, its own cases pass, and what is said to type can be typed.
package new_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.PlainMain(m)) }

// made is what each template is to be.
var made = map[string]struct {
	server string
	tools  []string
}{
	"minimal": {"server.sh", []string{"greet"}},
	"api":     {"server.sh", []string{"search_repositories"}},
	"git":     {"server.sh", []string{"git_log", "git_show", "git_diff", "git_grep"}},
	"files":   {"server.sh", []string{"list_files", "read_file", "search_files"}},
	"folder":  {"tools", []string{"count_words", "disk_space", "greet"}},
}

// A workplace is an empty directory of somebody who has conch on their PATH.
type workplace struct {
	t   testing.TB
	dir string
	env []string
}

func newWorkplace(t testing.TB) workplace {
	t.Helper()
	top := t.TempDir()
	w := workplace{t: t, dir: filepath.Join(top, "work")}
	home, bin, tmp, run := filepath.Join(top, "home"), filepath.Join(top, "bin"), filepath.Join(top, "tmp"), filepath.Join(top, "run")
	for _, dir := range []string{w.dir, home, bin, tmp, run} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "conch")); err != nil {
		t.Fatal(err)
	}
	// What somebody has set for servers of theirs is not for these.
	w.env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return regexp.MustCompile(`^(API_|GIT_|CONCH_|MCP|.*(proxy|PROXY)=)`).MatchString(entry)
	})
	w.env = append(w.env, "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+run)
	t.Cleanup(func() {
		harness.Eventually(t, harness.Deadline, "nothing is left", func() bool { return isEmpty(t, tmp) && isEmpty(t, run) })
	})
	return w
}

func isEmpty(t testing.TB, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) == 0
}

// run has Bash run commands below the workplace, and returns what they print and
// whether the last one failed.
func (w workplace) run(dir, commands string) (said string, failed bool) {
	w.t.Helper()
	cmd := exec.Command("bash", "-c", commands)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, dir), w.env
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		w.t.Fatal(err)
	}
	return string(out), err != nil
}

// do is run for commands that must not fail.
func (w workplace) do(dir, commands string) string {
	w.t.Helper()
	said, failed := w.run(dir, commands)
	if failed {
		w.t.Fatalf("%s failed:\n%s", commands, said)
	}
	return said
}

// tools are those of a server, as conch tools shows them.
func (w workplace) tools(server string) (names []string) {
	w.t.Helper()
	// What is said of them stands behind a blank line.
	table, _, _ := strings.Cut(w.do("", "conch tools "+server), "\n\n")
	for line := range strings.Lines(table) {
		names = append(names, strings.Fields(line)[0])
	}
	return names[1:]
}

// Somebody who reads what conch new prints has a server that answers.
func TestWhatIsSaidToTypeCanBeTyped(t *testing.T) {
	for template, want := range made {
		t.Run(template, func(t *testing.T) {
			w := newWorkplace(t)
			said := w.do("", "conch new --template "+template+" mine")
			_, next, _ := strings.Cut(said, "\nnext:\n")
			commands := strings.Split(strings.TrimSpace(next), "\n")
			if len(commands) != 3 {
				t.Fatalf("conch new says %q", said)
			}
			for _, command := range commands {
				w.do("", command)
			}
			report := w.do("", "conch test mine")
			if !regexp.MustCompile(`(?m)^[1-9][0-9]* passed, 0 failed$`).MatchString(report) {
				t.Errorf("the cases: %s", report)
			}
			if tools := w.tools("mine/" + want.server); !slices.Equal(tools, want.tools) {
				t.Errorf("the tools are %q, want %q", tools, want.tools)
			}
		})
	}
}

func TestTheServerHasTheNameThatWasGiven(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for template, want := range made {
		w := newWorkplace(t)
		w.do("", "conch new --template "+template+" mine")
		if said := w.do("mine", "conch serve --log-level error "+want.server+" <<<'"+request+"'"); !strings.Contains(said, `"serverInfo":{"name":"mine",`) {
			t.Errorf("%s: it says %s", template, said)
		}
		if said := w.do("mine", "conch install --print "+want.server); !strings.Contains(said, `"mine": {`) {
			t.Errorf("%s: the entry is %s", template, said)
		}
	}
}

var firstBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// What the README says first is run; what follows is about clients and keys, which
// are not here.
func TestTheReadmeIsRight(t *testing.T) {
	for template := range made {
		t.Run(template, func(t *testing.T) {
			w := newWorkplace(t)
			w.do("", `
				set -e
				mkdir -p ~/notes ~/src/project
				cd ~/src/project
				git init -q
				git -c user.name=Ada -c user.email=ada@example.com commit -q --allow-empty -m Begin`)
			w.do("", "conch new --template "+template+" mine")
			readme := w.do("mine", "cat README.md")
			block := firstBlock.FindStringSubmatch(readme)
			if block == nil {
				t.Fatal("there are no commands in the README")
			}
			for command := range strings.Lines(block[1]) {
				w.do("mine", command)
			}
			for _, tool := range made[template].tools {
				if !strings.Contains(readme, "| `"+tool+"` |") {
					t.Errorf("the README does not tell of %s", tool)
				}
			}
		})
	}
}

// Who has their editor read scripts with shellcheck begins without a warning.
func TestShellcheckFindsNothing(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	for template := range made {
		w := newWorkplace(t)
		w.do("", "conch new --template "+template+" mine")
		if said := w.do("mine", "find . -name '*.sh' -exec shellcheck {} +"); said != "" {
			t.Errorf("%s: %s", template, said)
		}
	}
}
