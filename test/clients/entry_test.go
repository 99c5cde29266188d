package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

var (
	shownFile  = regexp.MustCompile("(?s)\n```(?:bash|json) (recipes/\\S+)\n(.*?)\n```\n")
	shownEntry = regexp.MustCompile("(?s)\n```sh\n(cat <<END\n\\{\n  \"mcpServers\".*?)\n```\n")
)

// The entry for clients that docs/writing-servers.md has a newcomer print, read
// by a client from a file.
func TestTheInspectorTakesTheEntryOfTheDocumentation(t *testing.T) {
	dir := t.TempDir()
	page := writingServers(t)
	layRecipes(t, dir, page)
	config := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(config, printEntry(t, dir, page), 0o600); err != nil {
		t.Fatal(err)
	}
	server := newServer(t)
	args := []string{
		"--config", config, "--server", "recipes",
		"--method", "tools/call", "--tool-name", "find_recipe", "--tool-arg", "ingredient=butter",
	}
	for name, value := range environment(server) {
		args = append(args, "-e", name+"="+value)
	}
	stdout, stderr, status := inspect(t, args)
	if status != 0 || !strings.Contains(string(stdout), `"omelette.txt"`) {
		t.Errorf("status %d: %s\n%s", status, stdout, stderr)
	}
	server.Left(t)
	if log, err := os.ReadFile(filepath.Join(dir, "recipes.log")); err != nil || !strings.Contains(string(log), "msg=serving") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func writingServers(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "writing-servers.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// layRecipes writes the server that the page shows.
func layRecipes(t *testing.T, dir, page string) {
	t.Helper()
	pages := filepath.Join(dir, "recipes", "pages")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{filepath.Join(pages, "omelette.txt"): "Eggs, butter, chives."}
	for _, shown := range shownFile.FindAllStringSubmatch(page, -1) {
		files[filepath.Join(dir, shown[1])] = shown[2]
	}
	if len(files) != 2 {
		t.Fatalf("the page does not show one script: %q", files)
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// printEntry does what the page says to print the entry.
func printEntry(t *testing.T, dir, page string) []byte {
	t.Helper()
	shown := shownEntry.FindStringSubmatch(page)
	if shown == nil {
		t.Fatal("the page does not print an entry for clients")
	}
	bin := t.TempDir()
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "conch")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", shown[1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	entry, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return entry
}
