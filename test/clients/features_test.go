package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// The fixture of the official suite offers and asks all there is.
func TestEveryClientHasEveryFeature(t *testing.T) {
	for name, u := range everyUse() {
		t.Run(name+", stdio", func(t *testing.T) { u.overStdio(t) })
		t.Run(name+", http", func(t *testing.T) { u.overHTTP(t) })
	}
}

// use is a script's use of the fixture.
type use struct {
	script string
	wish   wish
	config string // of the server
}

func everyUse() map[string]use {
	all := map[string]use{
		"both eras " + modernRevision: {"client.mjs", wish{Negotiation: pinned(modernRevision), Revision: modernRevision}, "{}"},
	}
	for _, revision := range legacyRevisions {
		all["both eras "+revision] = use{"client.mjs", wish{Versions: []string{revision}, Revision: revision}, "{}"}
		// That client asks for the newest alone, and takes what it gets.
		all["older era "+revision] = use{"sdk.mjs", wish{Revision: revision}, fmt.Sprintf(`{"protocolVersion":%q}`, revision)}
	}
	return all
}

func (u use) overStdio(t *testing.T) {
	// Most of the time something is waited for.
	t.Parallel()
	node, server := installedNode(t), newServer(t)
	u.wish.Env, u.wish.Command = environment(server), harness.Binary(t)
	u.wish.Features, u.wish.Directory = true, u.copyFixture(t)
	u.wish.Args = []string{"serve", filepath.Join(u.wish.Directory, "server.sh")}
	check(t, node, u.script, u.wish)
	server.Left(t)
}

func (u use) overHTTP(t *testing.T) {
	t.Parallel()
	node := installedNode(t)
	u.wish.Features, u.wish.Directory = true, u.copyFixture(t)
	server := harness.ServeHTTP(t, filepath.Join(u.wish.Directory, "server.sh"))
	u.wish.URL = server.URL()
	check(t, node, u.script, u.wish)
	server.Terminate()
}

// copyFixture copies the fixture into a directory: what uses it changes it.
func (u use) copyFixture(t *testing.T) (directory string) {
	t.Helper()
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"config.json": []byte(u.config)}
	for _, name := range []string{
		"server.sh", "tools.json", "resources.json", "prompts.json", "pixel.png", "tone.wav", "static.txt", "simple-prompt.md",
	} {
		if files[name], err = os.ReadFile(filepath.Join(harness.Root(), "test", "conformance", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(directory, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}
