package scaffold

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/tags"
)

func TestFind(t *testing.T) {
	for _, want := range Templates() {
		got, err := Find(want.Name)
		if err != nil || got.Name != want.Name {
			t.Errorf("%s: %q, %v", want.Name, got.Name, err)
		}
	}
	_, err := Find("maximal")
	if err == nil || err.Error() != `there is no template "maximal"; there is minimal, api, git, files, folder` {
		t.Errorf("%v", err)
	}
}

// files are those of a template for a server called disks, by their paths.
func files(t *testing.T, template Template) map[string]file {
	t.Helper()
	all, err := template.files("disks")
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]file{}
	for _, f := range all {
		byPath[f.path] = f
	}
	return byPath
}

func TestEveryTemplateIsComplete(t *testing.T) {
	for _, template := range Templates() {
		all := files(t, template)
		if !bytes.HasPrefix(all["README.md"].text, []byte("# disks\n")) {
			t.Errorf("%s: the README begins with %.40q", template.Name, all["README.md"].text)
		}
		served, tested := 0, 0
		for at, f := range all {
			if at == template.Server || path.Dir(at) == template.Server {
				served++
			}
			if strings.HasSuffix(at, ".test.yaml") {
				tested++
				if _, err := casefile.Parse(at, f.text, "/scratch"); err != nil {
					t.Errorf("%s: %v", template.Name, err)
				}
			}
			if bytes.Contains(f.text, []byte("{{")) {
				t.Errorf("%s: a placeholder is left in %s", template.Name, at)
			}
		}
		if served == 0 || tested == 0 {
			t.Errorf("%s: %d files are served and %d are cases", template.Name, served, tested)
		}
	}
}

// What a script has to say about its tools is in its tags, and there are no faults in
// them.
func TestEveryScriptHasTools(t *testing.T) {
	want := map[string]string{
		"minimal/server.sh":           "greet",
		"api/server.sh":               "search_repositories",
		"git/server.sh":               "git_log git_show git_diff git_grep",
		"files/server.sh":             "list_files read_file search_files",
		"folder/tools/greet.sh":       "greet",
		"folder/tools/disk_space.sh":  "disk_space",
		"folder/tools/count_words.py": "count_words",
	}
	var scripts []string
	for _, template := range Templates() {
		for at, f := range files(t, template) {
			if f.mode() != 0o755 {
				continue
			}
			at = path.Join(template.Name, at)
			scripts = append(scripts, at)
			script, err := tags.Parse(at, f.text)
			if err != nil {
				t.Errorf("%s: %v", at, err)
				continue
			}
			var names []string
			for _, c := range script.Commands {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != want[at] {
				t.Errorf("%s has the tools %q, want %q", at, got, want[at])
			}
		}
	}
	if len(scripts) != len(want) {
		t.Errorf("the scripts are %q", scripts)
	}
}

func TestNameOf(t *testing.T) {
	here := t.TempDir()
	t.Chdir(filepath.Dir(here))
	for dir, want := range map[string]string{
		"disks": "disks", "./disks/": "disks", "a/b/My-server_2": "My-server_2", "/srv/7": "7",
		".": filepath.Base(filepath.Dir(here)), strings.Repeat("a", 50): strings.Repeat("a", 50),
	} {
		if got, err := NameOf(dir); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", dir, got, err, want)
		}
	}
	for dir, want := range map[string]string{
		"":                      "the name is empty",
		"/":                     "cannot be the name of a server",
		"my disks":              `"my disks" cannot be the name of a server: it may have letters`,
		"a/.disks":              `".disks" cannot be the name`,
		"-x":                    "begins with a letter or digit",
		"café":                  "letters from a to z",
		"a.b":                   "letters from a to z",
		"a\n":                   `"a\n" cannot be`,
		strings.Repeat("a", 51): "too long for the name of a server, which may have 50 characters",
	} {
		if name, err := NameOf(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", dir, name, err, want)
		}
	}
}
