package vendoring_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/vendoring"
)

var zeros = strings.Repeat("0", 64)

// lockText is a lock of one format with some JSON for its paths.
func lockText(paths string) string {
	return `{"lockfileVersion":1,"conch":"v1","formats":{"plain":{"protocol":1,"sha256":"` + zeros + `","paths":` + paths + `}}}`
}

var brokenLocks = []struct{ name, text, want string }{
	{"nothing", "", "line 1 is no JSON"},
	{"no UTF-8", "{\"\xff\":1}", "not UTF-8"},
	{"a merge conflict", "{\n<<<<<<< ours\n", "line 2 is no JSON"},
	{"a cut end", "{\n\"conch\":", "line 2 is no JSON"},
	{"something behind", lockText(`["a"]`) + "{}", "line 1 is no JSON"},
	{"no object", "[]", "not a JSON object"},
	{"null", "null", `lockfileVersion is ""`},
	{"no version", `{"conch":"v1"}`, `lockfileVersion is ""`},
	{"a newer version", `{"lockfileVersion":2}`, `lockfileVersion is "2", and this conch knows 1`},
	{"no number", `{"lockfileVersion":"1"}`, `"lockfileVersion" cannot be a string`},
	{"an unknown member", `{"lockfileVersion":1,"extra":1}`, `unknown field "extra"`},
	{"no conch", `{"lockfileVersion":1}`, `"conch" is no version`},
	{"escapes for a terminal", `{"lockfileVersion":1,"conch":"\u001b[2J"}`, `"conch" is no version`},
	{"no formats", `{"lockfileVersion":1,"conch":"v1","formats":{}}`, `"formats" is empty`},
	{"a format's name", `{"lockfileVersion":1,"conch":"v1","formats":{"A/B":{}}}`, `"A/B" is no name of a format`},
	{"no protocol", `{"lockfileVersion":1,"conch":"v1","formats":{"plain":{}}}`, `"protocol" is no number`},
	{"half a protocol", `{"lockfileVersion":1,"conch":"v1","formats":{"plain":{"protocol":1.5}}}`, `cannot be a number`},
	{"no digest", `{"lockfileVersion":1,"conch":"v1","formats":{"plain":{"protocol":1,"sha256":"0"}}}`, `"sha256" is no digest`},
	{"no paths", lockText("[]"), `"paths" is empty`},
	{"paths that are none", lockText(`[1]`), "cannot be a number"},
	{"one path", lockText(`"a"`), "cannot be a string"},
	{"a path twice", lockText(`["a","a"]`), `"a" is there twice`},
	{"paths out of order", lockText(`["b","a"]`), `"a" is there twice or out of order`},
	{"an absolute path", lockText(`["/etc/profile"]`), `"/etc/profile" is no plain path`},
	{"a path that leads out", lockText(`["../a"]`), `"../a" is no plain path`},
	{"a path that turns", lockText(`["a/../b"]`), `"a/../b" is no plain path`},
	{"the directory itself", lockText(`["."]`), `"." is no plain path`},
	{"an empty path", lockText(`[""]`), "empty"},
	{"a control character", lockText(`["a\u0000"]`), "control characters"},
	{"below the lock", lockText(`[".conch.lock/a"]`), "no place for a vendored file"},
	{"the lock itself", lockText(`[".conch.lock"]`), "no place for a vendored file"},
}

func TestALockThatIsNoneIsRefused(t *testing.T) {
	for _, c := range brokenLocks {
		t.Run(c.name, func(t *testing.T) {
			_, err := vendoring.ParseLock([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestABrokenLockIsNotReplaced(t *testing.T) {
	p := newProject(t)
	p.write(".conch.lock", "<<<<<<<", 0o644)
	for _, format := range []string{"", "plain"} {
		if _, err := p.dir.Plan(first, format, nil); err == nil || !strings.Contains(err.Error(), "read .conch.lock: line 1 is no JSON; mend it, or remove it") {
			t.Errorf("plan with format %q: %v", format, err)
		}
		if _, err := p.dir.Check(first, format, nil); err == nil {
			t.Errorf("check with format %q passes", format)
		}
	}
}

func TestWithoutALockThereIsNothingToRepeatOrCheck(t *testing.T) {
	p := newProject(t)
	const want = "there is no .conch.lock here; conch vendor FORMAT"
	if _, err := p.dir.Plan(first, "", nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("plan: %v", err)
	}
	for _, format := range []string{"", "plain"} {
		if _, err := p.dir.Check(first, format, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check of %q: %v", format, err)
		}
	}
}

func TestALockInADirectoryAboveIsPointedTo(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, ".conch.lock"), []byte(lockText(`["a"]`)), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, err := vendoring.Open(below)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	want := "there is no .conch.lock here; there is one in " + top + ", run conch vendor there"
	if _, err := dir.Plan(first, "", nil); err == nil || err.Error() != want {
		t.Errorf("plan: %v", err)
	}
	if _, err := dir.Check(first, "plain", nil); err == nil || err.Error() != want {
		t.Errorf("check: %v", err)
	}
	if plan, err := dir.Plan(first, "plain", nil); err != nil || len(plan.Differences) != 2 {
		t.Errorf("a project in a project: %+v, %v", plan, err)
	}
}

func TestAFormatThatThisConchHasNotIsSaidToBeOfAnother(t *testing.T) {
	p := newProject(t)
	p.write(".conch.lock", strings.Replace(lockText(`["a"]`), "plain", "future", 1), 0o644)
	const want = `.conch.lock, of conch v1: there is no format "future"`
	if _, err := p.dir.Plan(first, "", nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("plan: %v", err)
	}
	if _, err := p.dir.Check(first, "", nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("check: %v", err)
	}
	if _, err := p.dir.Check(first, "plain", nil); err == nil || !strings.Contains(err.Error(), "records nothing of plain") {
		t.Errorf("check of another format: %v", err)
	}
}

func FuzzParseLock(f *testing.F) {
	for _, c := range brokenLocks {
		f.Add([]byte(c.text))
	}
	for _, paths := range []string{`["a"]`, `["a","b/c.sh"]`, `["\u2028\ufffd"]`, `["a<b>&c"]`, `["..a","a\\b"]`} {
		f.Add([]byte(lockText(paths)))
	}
	f.Add([]byte(`{"LOCKFILEVERSION":1,"conch":"v1","conch":"v2","formats":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, err := vendoring.ParseLock(text)
		if err != nil {
			if told := err.Error(); !utf8.ValidString(told) || strings.ContainsAny(told, "\n\x1b\x00") || len(told) > 1000 {
				t.Errorf("the error is %q", told)
			}
			return
		}
		requireSafe(t, lock)
		again, err := vendoring.ParseLock(lock.Encode())
		if err != nil || !reflect.DeepEqual(lock, again) {
			t.Errorf("%+v has become %+v, %v", lock, again, err)
		}
	})
}

// requireSafe looks at what is told to people and at where files are written.
func requireSafe(t *testing.T, lock vendoring.Lock) {
	t.Helper()
	told := []string{lock.Conch}
	for name, entry := range lock.Formats {
		told = append(append(told, name), entry.Paths...)
		for _, path := range entry.Paths {
			if !filepath.IsLocal(path) || filepath.Join("/x", path) != "/x/"+path {
				t.Errorf("the path is %q", path)
			}
		}
	}
	for _, text := range told {
		if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\x1b\x00") {
			t.Errorf("%q is no text to tell", text)
		}
	}
}
