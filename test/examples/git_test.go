package examples_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitHome gives git, and the server's git, nobody's configuration, and makes
// root the folder to serve.
func gitHome(t *testing.T, root string) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_ROOT": root, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": `Ada "the" Lovelace`, "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME": "Charles", "GIT_COMMITTER_EMAIL": "charles@example.org", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		t.Setenv(name, value)
	}
}

// git runs git in a directory and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes one with two commits and a change.
func repository(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, filepath.Join(dir, "a.txt"), "first line\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "Begin")
	write(t, filepath.Join(dir, "a.txt"), "second line\n")
	write(t, filepath.Join(dir, "sub", "[b].txt"), "tab\there \x01 \"quoted\" back\\slash\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "Go on: \"q\" \\ ü", "-m", "And why.")
	write(t, filepath.Join(dir, "a.txt"), "third line, not committed\n")
	write(t, filepath.Join(dir, "new\nname"), "")
}

func TestGitTellsOfRepositories(t *testing.T) {
	root := t.TempDir()
	gitHome(t, root)
	repository(t, filepath.Join(root, "project"))
	git(t, root, "init", "--quiet", "--initial-branch=main", "unborn")
	hash := git(t, filepath.Join(root, "project"), "rev-parse", "HEAD")
	first := git(t, filepath.Join(root, "project"), "rev-parse", "HEAD~1")
	table := []asked{
		{"all commits", "git_log", `{"repo":"project"}`, false, []string{
			`{"commits":[{"commit":"` + hash + `","author":"Ada \"the\" Lovelace","email":"ada@example.org","date":"2026-01-02T03:04:05`,
			`"subject":"Go on: \"q\" \\ ü"},{"commit":"` + first, `],"truncated":false}`}},
		{"one commit", "git_log", `{"repo":"project","max_count":1,"path":"a.txt","author":"LOVELACE","since":"2026-01-02"}`, false, []string{hash}},
		{"no such author", "git_log", `{"repo":"project","author":"L.*e"}`, false, []string{`{"commits":[],`}},
		{"nothing so late", "git_log", `{"repo":"project","since":"2026-01-03"}`, false, []string{`{"commits":[],`}},
		{"a path that is no pattern", "git_log", `{"repo":"project","path":"sub/[b].txt"}`, false, []string{hash}},
		{"a path with magic", "git_log", `{"repo":"project","path":":(top)a.txt"}`, false, []string{`{"commits":[],`}},
		{"a folder in the repository", "git_log", `{"repo":"project/sub","path":"[b].txt"}`, false, []string{hash}},
		{"no repository", "git_log", `{}`, true, []string{"not a git repository", "If . is no repository, name one with repo"}},
		{"no commits yet", "git_log", `{"repo":"unborn"}`, true, []string{"does not have any commits yet"}},
		{"the status", "git_status", `{"repo":"project"}`, false, []string{`{"branch":"main","changes":[{"status":" M","path":"a.txt"},{"status":"??","path":"new\nname"}],"truncated":false}`}},
		{"a commit", "git_show", `{"repo":"project","rev":"HEAD"}`, false, []string{`"message":"Go on: \"q\" \\ ü\n\nAnd why.\n"},"patch":"`, `+tab\there \u0001 \"quoted\" back\\slash`}},
		{"an ancestor", "git_show", `{"repo":"project","rev":"main~1"}`, false, []string{`"message":"Begin\n"`}},
		{"one file of a commit", "git_show", `{"repo":"project","rev":"` + hash[:8] + `","path":"a.txt"}`, false, []string{`-first line\n+second line"`}},
		{"no such commit", "git_show", `{"repo":"project","rev":"nope"}`, true, []string{"no commit nope; git_log"}},
		{"a blob", "git_show", `{"repo":"project","rev":"HEAD:a.txt"}`, true, []string{"does not match"}},
	}
	theExample(t, "git").ask(table)
	for i, got := range theExample(t, "git").session(table) {
		if !got.isError && !json.Valid([]byte(got.text)) {
			t.Errorf("%s: the answer is not JSON: %q", table[i].about, got.text)
		}
	}
}

func TestGitKeepsAnswersShort(t *testing.T) {
	root := t.TempDir()
	gitHome(t, root)
	git(t, root, "init", "--quiet")
	write(t, filepath.Join(root, "big"), strings.Repeat("a line\n", 1<<20))
	git(t, root, "add", ".")
	message := filepath.Join(t.TempDir(), "message")
	write(t, message, strings.Repeat("m", 1<<20))
	git(t, root, "commit", "--quiet", "--file", message)
	for i := range 3000 {
		write(t, filepath.Join(root, "untracked", fmt.Sprintf("a-name-of-some-length-%d", i)), "")
	}
	git(t, root, "add", "untracked")
	for _, c := range []struct{ tool, arguments string }{
		{"git_log", `{}`}, {"git_status", `{}`}, {"git_show", `{"rev":"HEAD"}`},
	} {
		got := theExample(t, "git").call(c.tool, c.arguments)
		if got.isError || len(got.text) > 400_000 || len(got.text) < 60_000 || !json.Valid([]byte(got.text)) || !strings.HasSuffix(got.text, `"truncated":true}`) {
			t.Errorf("%s: %d bytes, ending %q", c.tool, len(got.text), got.text[max(0, len(got.text)-100):])
		}
	}
}

func TestGitTakesNoOptions(t *testing.T) {
	root := t.TempDir()
	gitHome(t, root)
	repository(t, root)
	canary := filepath.Join(t.TempDir(), "canary")
	var guarded, unguarded []asked
	for _, option := range []string{
		"--output=" + canary, "-O" + canary, "--exec=touch " + canary, "--upload-pack=touch " + canary,
		"--ext-diff", "--textconv", "-c", "--no-index", "--", "-", "--end-of-options",
	} {
		for tool, format := range map[string][]string{
			"git_log":    {`{"repo":%q}`, `{"path":%q}`, `{"author":%q}`, `{"since":%q}`},
			"git_status": {`{"repo":%q}`},
			"git_show":   {`{"rev":%q}`, `{"rev":"HEAD","path":%q}`, `{"rev":"HEAD","repo":%q}`},
		} {
			for _, f := range format {
				arguments := fmt.Sprintf(f, option)
				guarded = append(guarded, asked{arguments, tool, arguments, true, []string{"does not match"}})
				unguarded = append(unguarded, asked{arguments, tool, arguments, true, []string{"begins with a dash"}})
			}
		}
	}
	unguarded = append(unguarded,
		asked{"a number", "git_log", `{"max_count":"1 --output=` + canary + `"}`, true, []string{"digits alone"}},
		asked{"a command in a number", "git_log", `{"max_count":"a[$(touch ` + canary + `)]"}`, true, []string{"digits alone"}},
		asked{"a command in a rev", "git_show", `{"rev":"$(touch ` + canary + `)"}`, true, []string{"no commit"}},
		asked{"a range", "git_show", `{"rev":"HEAD~1..HEAD"}`, true, []string{"no commit"}},
		asked{"two words", "git_show", `{"rev":"HEAD --output=` + canary + `"}`, true, []string{"no commit"}},
	)
	theExample(t, "git").session(guarded)
	theExample(t, "git").unguarded("git_log", "git_status", "git_show").session(unguarded)
	if exists(canary) {
		t.Error("an argument was taken for an option, or run")
	}
}

func TestGitStaysBelowItsRoot(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	gitHome(t, root)
	repository(t, filepath.Join(top, "rooted"))
	repository(t, filepath.Join(root, "worktree-outside"))
	git(t, filepath.Join(root, "worktree-outside"), "config", "core.worktree", filepath.Join(top, "rooted"))
	write(t, filepath.Join(root, "file", ".git"), "gitdir: "+filepath.Join(top, "rooted", ".git")+"\n")
	write(t, filepath.Join(root, "linked", "x"), "")
	link(t, "../../rooted/.git", filepath.Join(root, "linked", ".git"))
	link(t, "../rooted", filepath.Join(root, "link"))
	write(t, filepath.Join(root, "plain", "x"), "")
	git(t, top, "init", "--quiet")
	var table []asked
	for repo, says := range map[string]string{
		"../rooted": "no folder", "..": "no folder", "link": "no folder", "../nothing": "no folder", "plain/x": "no folder",
		"worktree-outside": "not wholly", "file": "not wholly", "linked": "not wholly", "plain": "not wholly", ".": "not wholly",
	} {
		for tool, more := range map[string]string{"git_log": "", "git_status": "", "git_show": `,"rev":"HEAD"`} {
			table = append(table, asked{repo, tool, fmt.Sprintf(`{"repo":%q%s}`, repo, more), true, []string{says}})
		}
	}
	table = append(table,
		asked{"an absolute path", "git_log", fmt.Sprintf(`{"repo":%q}`, filepath.Join(top, "rooted")), true, []string{"does not match"}})
	theExample(t, "git").session(table)
}
