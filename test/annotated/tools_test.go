package annotated_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func testTools(t testing.TB) string {
	t.Helper()
	return filepath.Join(harness.Root(), "test", "annotated", "testdata", "tools")
}

// needs skips a test where there is no such program.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
}

func TestScriptsAsTheyArePassTheirCases(t *testing.T) {
	needs(t, "node", "python3", "patch", "curl")
	tools := testTools(t)
	out, status := conch(t, nil, "test", "--cases", tools+".test.yaml", tools)
	if status != 0 || !regexp.MustCompile(`(?m)^\d\d+ passed, 0 failed$`).MatchString(out) {
		t.Fatalf("status %d:\n%s", status, out)
	}
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("a text of an argument was run")
	}
}

func TestEveryScriptOfTheFolderIsATool(t *testing.T) {
	s := serve(t, testTools(t))
	s.names("demo_js", "demo_py", "demo_sh", "execute_command", "execute_sql", "fetch_url_via_curl", "fs_cat", "fs_ls", "fs_mkdir", "fs_patch", "fs_rm", "fs_write",
		"get_current_time", "get_current_weather", "search_files", "search_wikipedia", "send_mail", "send_note", "add", "list", "remove", "whole")
	s.ends()
}

func TestAScriptFetchesFromALoopbackServer(t *testing.T) {
	needs(t, "curl")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.Error(w, "gone", http.StatusGone)
			return
		}
		fmt.Fprintf(w, "<div>You asked for <span>%s</span></div>\n", r.URL.Path)
	}))
	defer web.Close()
	s := serveWith(t, []string{"WEATHER_URL=" + web.URL + "/weather", "no_proxy=127.0.0.1"}, testTools(t))
	s.says("fetch_url_via_curl", object("url", web.URL+"/a/page"), "You asked for /a/page")
	s.fails("fetch_url_via_curl", object("url", web.URL+"/gone"), "410")
	s.says("get_current_weather", object("location", "New York"), "<div>You asked for <span>/weather/New+York</span></div>")
	s.ends()
}

func TestMailIsSentThroughAProgramOnPath(t *testing.T) {
	bin := files(t, map[string]string{"sendmail-for-tests": "#!/usr/bin/env bash\nprintf 'to %s\\n' \"$@\"; cat\n"})
	s := serveWith(t, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, testTools(t))
	s.says("send_mail", object("recipient", []string{"a@example.org", "b@example.org"}, "subject", "A $(subject)", "body", "One\n.\nTwo"),
		"to a@example.org\nto b@example.org\nFrom: robot@example.org\nTo: a@example.org\nTo: b@example.org\nSubject: A $(subject)\n\nOne\n.\nTwo")
	if stderr := s.Stderr(); strings.Contains(stderr, "sendmail") {
		t.Errorf("it is told that something lacks: %s", stderr)
	}
	s.ends()
}

func TestOneOfTheScriptsIsServedAlone(t *testing.T) {
	path := filepath.Join(testTools(t), "todo.sh")
	s := serveWith(t, []string{"TODO_FILE=" + filepath.Join(t.TempDir(), "todo")}, path)
	s.names("add", "list", "remove")
	s.says("add", object("desc", "feed the cat"), "Added.")
	s.says("list", `{}`, "1 feed the cat")
	s.says("list", object("count", true), "1")
	s.ends()
}
