// Package clients_test lets real MCP clients, installed from npm, talk to the
// conch binary. The checks are in the .mjs files beside this one.
package clients_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// scriptDeadline bounds one script with all its checks.
const scriptDeadline = 2 * time.Minute

var legacyRevisions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const modernRevision = "2026-07-28"

// wish is what a script is told: how to start a server or where it is, and what
// to expect.
type wish struct {
	URL       string            `json:"url,omitempty"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Directory string            `json:"directory"`

	Negotiation any      `json:"negotiation,omitempty"`
	Versions    []string `json:"versions,omitempty"`
	Revision    string   `json:"revision,omitempty"`
	Refused     bool     `json:"refused,omitempty"`
	Brief       bool     `json:"brief,omitempty"`
	DropIn      bool     `json:"dropIn,omitempty"`
	Features    bool     `json:"features,omitempty"` // of the server in Directory
}

func pinned(revision string) any { return map[string]string{"pin": revision} }

func TestTheClientOfBothErasSpeaks(t *testing.T) {
	for name, w := range everyRevision() {
		t.Run(name, func(t *testing.T) { runScript(t, "client.mjs", w) })
	}
}

// everyRevision is what a client of both eras can want.
func everyRevision() map[string]wish {
	cases := map[string]wish{
		"pinned to " + modernRevision: {Negotiation: pinned(modernRevision), Revision: modernRevision},
		"on auto":                     {Negotiation: "auto", Revision: modernRevision},
	}
	for _, revision := range legacyRevisions {
		cases["knowing only "+revision] = wish{Versions: []string{revision}, Revision: revision}
	}
	return cases
}

func TestTheClientOfBothErasFindsWhatTheConfigurationServes(t *testing.T) {
	cases := map[string]struct {
		config string
		wish   wish
	}{
		"auto with an old server":             {"old.json", wish{Negotiation: "auto", Revision: "2025-06-18", Brief: true}},
		"a pin to what is not served":         {"old.json", wish{Negotiation: pinned(modernRevision), Refused: true}},
		"an old client with an old server":    {"old.json", wish{Versions: []string{"2025-03-26"}, Revision: "2025-03-26", Brief: true}},
		"an older client than the server":     {"old.json", wish{Versions: []string{"2024-11-05"}, Refused: true}},
		"auto with a new server":              {"new.json", wish{Negotiation: "auto", Revision: modernRevision, Brief: true}},
		"an old client with a new server":     {"new.json", wish{Versions: []string{"2025-11-25"}, Refused: true}},
		"a pin to the one thing it does know": {"new.json", wish{Negotiation: pinned(modernRevision), Revision: modernRevision, Brief: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.wish.Args = []string{"--config", fixture(c.config)}
			runScript(t, "client.mjs", c.wish)
		})
	}
}

func TestTheClientOfTheOlderEraSpeaks(t *testing.T) {
	runScript(t, "sdk.mjs", wish{Revision: "2025-11-25"})
}

// A script that sources the drop-in file is the client's process itself.
func TestEveryClientSpeaksWithTheDropInFile(t *testing.T) {
	for name, w := range everyRevision() {
		t.Run(name, func(t *testing.T) {
			w.DropIn = true
			runScript(t, "client.mjs", w)
		})
	}
	t.Run("of the older era", func(t *testing.T) {
		runScript(t, "sdk.mjs", wish{DropIn: true, Revision: "2025-11-25"})
	})
}

func fixture(name string) string {
	return filepath.Join(harness.Root(), "test", "clients", "testdata", name)
}

// runScript runs a script; each of its checks is a subtest. Then nothing of
// the server may be left.
func runScript(t *testing.T, script string, w wish) {
	node := installedNode(t)
	server := newServer(t)
	w.Env = environment(server)
	if w.DropIn {
		w.Command = fixture("dropin.sh")
		w.Env["CONCH_BIN"] = harness.Binary(t)
	} else {
		w.Command = harness.Binary(t)
		w.Args = append(append([]string{"serve"}, w.Args...), fixture("server.sh"))
	}
	check(t, node, script, w)
	server.Left(t)
}

// check has a script check what it can of a server.
func check(t *testing.T, node, script string, w wish) {
	if w.Directory == "" {
		w.Directory = t.TempDir()
	}
	argument, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := run(t, node, nil, script, string(argument))
	report(t, stdout)
	if err != nil || t.Failed() {
		t.Errorf("%s: %v; standard error:\n%s", script, err, stderr)
	}
}

// run runs node in this directory.
func run(t *testing.T, node string, env []string, args ...string) (stdout, stderr []byte, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), node, args...)
	timer := time.AfterFunc(scriptDeadline, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Dir = filepath.Dir(fixture(""))
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A server that outlives node holds its standard error.
	cmd.WaitDelay = harness.Deadline
	err = cmd.Run()
	return out.Bytes(), errs.Bytes(), err
}

// report turns what lib/report.mjs printed into subtests.
func report(t *testing.T, stdout []byte) {
	t.Helper()
	checks, finished := 0, false
	lines := bufio.NewScanner(bytes.NewReader(stdout))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record struct {
			Check, Failure string
			Finished       bool
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Errorf("not a line of a report: %q", lines.Text())
			continue
		}
		if record.Finished {
			finished = true
			continue
		}
		checks++
		t.Run(record.Check, func(t *testing.T) {
			if record.Failure != "" {
				t.Error(record.Failure)
			}
		})
	}
	if checks == 0 || !finished {
		t.Errorf("the script was cut short after %d checks", checks)
	}
}
