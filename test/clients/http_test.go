package clients_test

import (
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// One endpoint has clients of every kind and revision.
func TestEveryClientSpeaksOverHTTP(t *testing.T) {
	node := installedNode(t)
	server := harness.ServeHTTP(t, fixture("server.sh"))
	for name, w := range everyRevision() {
		w.URL = server.URL()
		t.Run(name, func(t *testing.T) { check(t, node, "client.mjs", w) })
	}
	t.Run("of the older era", func(t *testing.T) {
		check(t, node, "sdk.mjs", wish{URL: server.URL(), Revision: "2025-11-25"})
	})
	for _, era := range []string{"legacy", "modern"} {
		inspectAll(t, era, func(t *testing.T, args []string) ([]byte, string, int) {
			return inspect(t, append([]string{server.URL(), "--transport", "http"}, args...))
		})
	}
	server.Terminate()
}

func TestTheClientOfBothErasFindsWhatIsServedOverHTTP(t *testing.T) {
	cases := map[string]struct {
		flags []string
		wish  wish
	}{
		"auto with an old server":             {[]string{"--config", fixture("old.json")}, wish{Negotiation: "auto", Revision: "2025-06-18", Brief: true}},
		"a pin to what is not served":         {[]string{"--config", fixture("old.json")}, wish{Negotiation: pinned(modernRevision), Refused: true}},
		"an old client with a new server":     {[]string{"--config", fixture("new.json")}, wish{Versions: []string{"2025-11-25"}, Refused: true}},
		"an old client where none is wanted":  {[]string{"--legacy=false"}, wish{Versions: []string{"2025-11-25"}, Refused: true}},
		"auto where old clients are unwanted": {[]string{"--legacy=false"}, wish{Negotiation: "auto", Revision: modernRevision, Brief: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := harness.ServeHTTP(t, append(c.flags, fixture("server.sh"))...)
			c.wish.URL = server.URL()
			check(t, installedNode(t), "client.mjs", c.wish)
			server.Terminate()
		})
	}
}

// Clients that know stdio alone have a bridge.
func TestClientsSpeakOverTheBridge(t *testing.T) {
	node := installedNode(t)
	server := harness.ServeHTTP(t, fixture("server.sh"))
	bridge := wish{
		Command:  node,
		Args:     []string{filepath.Join("node_modules", "mcp-remote", "dist", "proxy.js"), server.URL(), "--transport", "http-only"},
		Env:      map[string]string{"MCP_REMOTE_CONFIG_DIR": t.TempDir()},
		Revision: "2025-11-25",
	}
	for _, script := range []string{"sdk.mjs", "client.mjs"} {
		t.Run(script, func(t *testing.T) { check(t, node, script, bridge) })
	}
	server.Terminate()
}

func TestClientsSpeakThroughProxies(t *testing.T) {
	node := installedNode(t)
	server := harness.ServeHTTP(t, "--keep-alive", "200ms", fixture("server.sh"))
	for _, proxy := range harness.Proxies {
		t.Run(proxy.Name, func(t *testing.T) {
			url := proxy.Before(t, server)
			for _, w := range []wish{
				{Negotiation: pinned(modernRevision), Revision: modernRevision},
				{Versions: []string{"2025-11-25"}, Revision: "2025-11-25"},
			} {
				w.URL = url
				t.Run(w.Revision, func(t *testing.T) { check(t, node, "client.mjs", w) })
			}
			t.Run("of the older era", func(t *testing.T) {
				check(t, node, "sdk.mjs", wish{URL: url, Revision: "2025-11-25"})
			})
		})
	}
	server.Terminate()
}
