package calls_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// directories are tools that do what they can to keep their directory. Each
// begins by telling its path.
const directories = echo + `
say() { echo "$MCP_CALL_TMPDIR" >>"$arg_at"; }
tool_look() { say; stat -c '%F %a %U' "$MCP_CALL_TMPDIR"; ls -A "$MCP_CALL_TMPDIR"; id -un; printenv MCP_CALL_TMPDIR; }
tool_fill() { say; mkdir -p "$MCP_CALL_TMPDIR/a/b"; touch "$MCP_CALL_TMPDIR/a/b/c" "$MCP_CALL_TMPDIR/.hidden" "$MCP_CALL_TMPDIR/with
newline"; }
tool_fail() { tool_fill; return 1; }
tool_die() { tool_fill; kill -9 "$BASHPID"; }
tool_lock() { tool_fill; chmod 000 "$MCP_CALL_TMPDIR/a/b"; chmod 555 "$MCP_CALL_TMPDIR/a"; chmod 000 "$MCP_CALL_TMPDIR"; }
tool_link() { say; touch "$MCP_CALL_TMPDIR/x"; ln -s "$arg_target" "$MCP_CALL_TMPDIR/inside"; rm -rf "$MCP_CALL_TMPDIR"; ln -s "$arg_target" "$MCP_CALL_TMPDIR"; }
tool_inside() { say; ln -s "$arg_target" "$MCP_CALL_TMPDIR/link"; mkdir "$MCP_CALL_TMPDIR/d"; ln -s "$arg_target" "$MCP_CALL_TMPDIR/d/link"; chmod 000 "$MCP_CALL_TMPDIR/d"; }
tool_remove() { say; rm -rf "$MCP_CALL_TMPDIR"; }
tool_replace() { say; rm -rf "$MCP_CALL_TMPDIR"; echo file >"$MCP_CALL_TMPDIR"; }
tool_move() { say; mv "$MCP_CALL_TMPDIR" "$MCP_CALL_TMPDIR.moved"; }
tool_nest() { say; cd "$MCP_CALL_TMPDIR" || return; for ((i = 0; i < 300; i++)); do mkdir d && cd d || return; done; }
tool_many() { say; (cd "$MCP_CALL_TMPDIR" && touch {1..2000}); }
tool_hold() { tool_fill; trap '' TERM; echo ready >"$arg_at.ready"; while :; do touch "$MCP_CALL_TMPDIR/$RANDOM" 2>/dev/null; sleep 0.02; done; }
tool_child() { tool_fill; (trap '' TERM; while :; do mkdir -p "$MCP_CALL_TMPDIR/$RANDOM/$RANDOM" 2>/dev/null; done) & sleep 0.2; }
`

// users are those that conch can be run as here.
func users() map[string]*syscall.Credential {
	list := map[string]*syscall.Credential{"this user": nil}
	if os.Getuid() == 0 {
		list["an ordinary user"] = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return list
}

func TestACallsDirectoryIsGoneAfterTheCallWhateverHappened(t *testing.T) {
	for user, credential := range users() {
		for _, c := range []struct {
			tool, how string
		}{
			{"look", ""}, {"fill", ""}, {"fail", ""}, {"die", ""}, {"lock", ""}, {"link", ""}, {"inside", ""}, {"remove", ""},
			{"replace", ""}, {"move", ""}, {"nest", ""}, {"many", ""}, {"child", ""}, {"hold", "cancelled"}, {"hold", "timed out"},
		} {
			t.Run(user+"/"+c.tool+" "+c.how, func(t *testing.T) {
				t.Parallel()
				l := launch{user: credential}
				if c.how == "timed out" {
					l.flags = []string{"--timeout", limit.String()}
				}
				s := serveAs(t, l, directories)
				target := t.TempDir()
				touch(t, filepath.Join(target, "untouched"))
				open(t, target)
				m := newMark(t)
				open(t, filepath.Dir(m.path))
				id := s.post(c.tool, fmt.Sprintf(`{"at":%q,"target":%q}`, m.path, target))
				if c.how == "cancelled" {
					harness.Eventually(t, harness.Deadline, "the tool", func() bool { _, err := os.Stat(m.path + ".ready"); return err == nil })
					s.cancel(id)
				} else {
					s.await(id)
				}
				path := m.lines(1)[0]
				if filepath.Dir(filepath.Dir(path)) != s.Tmp {
					t.Errorf("the directory is %s, TMPDIR is %s", path, s.Tmp)
				}
				harness.Eventually(t, harness.Deadline, "the removal of "+path, func() bool { return len(callDirs(s)) == 0 })
				s.serves()
				s.ends()
				if _, err := os.Stat(filepath.Join(target, "untouched")); err != nil {
					t.Errorf("the target of a link was touched: %v", err)
				}
			})
		}
	}
}

func TestACallsDirectoryIsPrivateEmptyAndItsOwn(t *testing.T) {
	for user, credential := range users() {
		for _, mask := range []string{"000", "022", "077"} {
			t.Run(user+" "+mask, func(t *testing.T) {
				t.Parallel()
				s := serveAs(t, launch{user: credential, wrap: []string{"sh", "-c", `umask ` + mask + `; exec "$0" "$@"`}}, directories)
				m := newMark(t)
				open(t, filepath.Dir(m.path))
				seen := map[string]bool{}
				for range 20 {
					s.ok("fill", m.args())
					got := s.ok("look", m.args())
					paths := m.lines(2)
					path := paths[len(paths)-1]
					name := "root"
					if credential != nil {
						name = "nobody"
					}
					if want := "directory 700 " + name + "\n" + name + "\n" + path; os.Getuid() == 0 && got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				for _, path := range m.lines(40) {
					if seen[path] {
						t.Errorf("two calls had %s", path)
					}
					seen[path] = true
				}
				s.ends()
			})
		}
	}
}

func TestWithoutAPlaceForItsDirectoryACallIsAnErrorAndTheServerGoesOn(t *testing.T) {
	const says = "Cannot run look: its call directory could not be created."
	for user, credential := range users() {
		for _, c := range []struct {
			name  string
			spoil func(dir string) error
			mend  func(dir string) error
		}{
			{"missing", os.RemoveAll, func(dir string) error { return os.Mkdir(dir, 0o777) }},
			{"a file", func(dir string) error { _ = os.RemoveAll(dir); return os.WriteFile(dir, nil, 0o600) },
				func(dir string) error { _ = os.Remove(dir); return os.Mkdir(dir, 0o777) }},
			{"unwritable", func(dir string) error { return os.Chmod(dir, 0o555) }, func(dir string) error { return os.Chmod(dir, 0o777) }},
		} {
			if c.name == "unwritable" && credential == nil && os.Getuid() == 0 {
				continue // Nothing is unwritable to root.
			}
			t.Run(user+" "+c.name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "tmp")
				if err := os.Mkdir(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				open(t, dir)
				if err := c.spoil(dir); err != nil {
					t.Fatal(err)
				}
				s := serveAs(t, launch{user: credential}, "TMPDIR='"+dir+"'"+directories)
				m := newMark(t)
				open(t, filepath.Dir(m.path))
				for range 3 {
					s.fails("look", m.args(), says)
				}
				if m.text() != "" {
					t.Error("the tool has run")
				}
				if err := c.mend(dir); err != nil {
					t.Fatal(err)
				}
				open(t, dir)
				s.ok("look", m.args())
				s.serves()
				s.ends()
			})
		}
	}
}

func TestAScriptThatSetsTMPDIRMovesTheCallsDirectories(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "cd '"+dir+"' && mkdir sub && TMPDIR=sub"+directories)
	m := newMark(t)
	s.ok("fill", m.args())
	if path := m.lines(1)[0]; filepath.Dir(filepath.Dir(path)) != filepath.Join(dir, "sub") {
		t.Errorf("the directory is %s", path)
	}
	s.ends()
	if entries, _ := os.ReadDir(filepath.Join(dir, "sub")); len(entries) > 0 {
		t.Errorf("still there: %v", entries)
	}
}
