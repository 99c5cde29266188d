package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/conch-mcp/conch/internal/clients"
)

func TestWhichScriptsStartThemselves(t *testing.T) {
	for text, want := range map[string]bool{
		"run_mcp_server \"$@\"\n":                          true,
		"#!/bin/bash\nsource x\nrun_mcp_server":            true,
		"  *) run_mcp_server \"$@\" ;;\n":                  true,
		"source x && run_mcp_server || exit\n":             true,
		"":                                                 false,
		"tool_greet() { echo hi; }\n":                      false,
		"# run_mcp_server \"$@\"\n":                        false,
		"echo hi # then run_mcp_server\n":                  false,
		"run_mcp_server() { :; }\n":                        false,
		"run_mcp_servers\n":                                false,
		"\x7fELF\x00\nrun_mcp_server\n":                    false,
		"run_mcp_server() { :; }\nrun_mcp_server \"$@\"\n": true,
	} {
		if startsItself(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
}

func TestWhatServersAreCalled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recipes")
	for _, folder := range []string{"tools", "more.tools"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ config, script, want string }{
		{"", "server.sh", "recipes"},
		{"", "main", "recipes"},
		{"", "find.recipes.sh", "find.recipes"},
		{"", "tools", "recipes"},
		{"", "more.tools", "more.tools"},
		{`{"serverInfo":{"name":"My recipes"}}`, "server.sh", "My recipes"},
		{`{"serverInfo":{"name":""}}`, "find.sh", "find"},
		{`{"serverInfo":{"name":1}}`, "find.sh", "find"},
		{`{`, "find.sh", "find"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(test.config), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := titleOf(filepath.Join(dir, test.script)); got != test.want {
			t.Errorf("%s, %s: got %q, want %q", test.config, test.script, got, test.want)
		}
	}
}

func TestPathsThatAreWritten(t *testing.T) {
	windowed, _ := clients.Of("cursor")
	plain, _ := clients.Of("codex")
	for _, test := range []struct {
		path, want string
		flags      installFlags
		client     clients.Client
	}{
		{"/opt/bin:/usr/bin:.::bin:/opt/bin", "/opt/bin:/usr/bin", installFlags{}, windowed},
		{"/opt/bin:/usr/bin", "", installFlags{}, plain},
		{"/opt/bin:/usr/bin", "/opt/bin:/usr/bin", installFlags{path: true, pathGiven: true}, plain},
		{"/opt/bin", "", installFlags{pathGiven: true}, windowed},
		{"/usr/bin:/bin:/sbin", "", installFlags{}, windowed},
		{"/opt/bin", "/mine", installFlags{env: []string{"PATH=/mine"}}, windowed},
		{"/opt/bin:.", "/opt/bin:.", installFlags{env: []string{"PATH"}}, plain},
	} {
		t.Setenv("PATH", test.path)
		entry, err := test.flags.complete(clients.Entry{}, test.client)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range entry.Env {
			got += v.Value
		}
		if got != test.want {
			t.Errorf("%q for %s, %+v: got %q, want %q", test.path, test.client.Name, test.flags, got, test.want)
		}
	}
}

func TestVariablesThatAreAskedFor(t *testing.T) {
	t.Setenv("PRESENT", "here, and =")
	f := installFlags{env: []string{"A=b=c", "PRESENT", "EMPTY=", "A=d", "CONCH_BIN=/mine"}, pathGiven: true}
	entry, err := f.complete(clients.Entry{Env: itsConch("/conch")}, clients.Any())
	want := []clients.Variable{{Name: "PRESENT", Value: "here, and ="}, {Name: "EMPTY", Typed: true}, {Name: "A", Value: "d", Typed: true}, {Name: "CONCH_BIN", Value: "/mine", Typed: true}}
	if err != nil || !slices.Equal(entry.Env, want) {
		t.Errorf("%+v, %v", entry.Env, err)
	}
	for _, given := range []string{"", "=", "a b=c", "1A=b", "CONCH_TEST_ABSENT"} {
		if _, err := (installFlags{env: []string{given}}).complete(clients.Entry{}, clients.Any()); err == nil {
			t.Errorf("--env %q is taken", given)
		}
	}
}
