// Package cli_test tells the stories of the conch command: one file below
// testdata/script each, below testdata/tests for conch test, below testdata/new for
// conch new and below testdata/check for conch check, run by testscript.
//
// Besides the commands of testscript itself there are those of commands_test.go.
// Every story starts in a directory that holds server.sh, tools.json and
// config.json of testdata/server, or of testdata/author for conch test, and ends
// with nothing left of any server.
package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func TestStories(t *testing.T) { tell(t, "script", "server") }

func TestStoriesOfTesting(t *testing.T) { tell(t, "tests", "author") }

func TestStoriesOfBeginning(t *testing.T) { tell(t, "new", "server") }

func TestStoriesOfChecking(t *testing.T) { tell(t, "check", "server") }

// tell tells the stories of a folder, which begin with a server.
func tell(t *testing.T, stories, server string) {
	binary := harness.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", stories),
		Setup:               func(env *testscript.Env) error { return setup(env, binary, server) },
		Cmds:                commands,
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     true,
	})
}

func setup(env *testscript.Env, binary, source string) error {
	bin := filepath.Join(env.WorkDir, "bin")
	server := &harness.Server{
		Tmp: filepath.Join(env.WorkDir, "temporary"), Run: filepath.Join(env.WorkDir, "run"),
		Cmd: &exec.Cmd{Process: &os.Process{}},
	}
	for _, dir := range []string{bin, server.Tmp, server.Run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(binary, filepath.Join(bin, "conch")); err != nil {
		return err
	}
	if err := copyServer(source, env.WorkDir); err != nil {
		return err
	}
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("TMPDIR", server.Tmp)
	env.Setenv("XDG_RUNTIME_DIR", server.Run)
	// A race-enabled conch would sleep for a second at its end.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Defer(func() { nothingLeft(env.T(), server) })
	return nil
}

// copyServer puts a server of testdata where a story begins, unless the story
// brings files of those names.
func copyServer(server, dir string) error {
	source := filepath.Join("testdata", server)
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		to := filepath.Join(dir, entry.Name())
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(source, entry.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func nothingLeft(t testscript.T, server *harness.Server) {
	for end := time.Now().Add(harness.Deadline); len(server.Session()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(fmt.Sprintf("processes are left: %v", server.Session()))
		}
	}
	if files := server.Files(); len(files) > 0 {
		t.Fatal(fmt.Sprintf("files are left: %q", files))
	}
}

// condition knows "root": whether file permissions bind this user.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}
