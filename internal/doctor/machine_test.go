package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/doctor"
)

// around is a machine whose PATH is the directories of dir that are named.
func around(t *testing.T, dir string, path []string, env ...string) doctor.Surroundings {
	t.Helper()
	var dirs []string
	for _, name := range path {
		dirs = append(dirs, filepath.Join(dir, name))
	}
	env = append([]string{"PATH=" + strings.Join(dirs, ":"), "TMPDIR=" + dir}, env...)
	return doctor.Surroundings{
		Machine: clients.Machine{OS: "linux", Home: filepath.Join(dir, "home"), Dir: dir, Getenv: func(name string) string {
			value := ""
			for _, v := range env {
				if found, ok := strings.CutPrefix(v, name+"="); ok {
					value = found
				}
			}
			return value
		}},
		Environ: env, Conch: filepath.Join(dir, "conch/conch"), Version: "1.2.3", Control: dir,
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// programs is a directory with programs of every kind.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"conch/conch": "", "other/conch": "", "new/bash": "printf 5.2.15", "old/bash": "printf 3.1.17", "two/bash": "printf 2.05b",
		"broken/bash": "exit 3", "silent/bash": ":", "strange/bash": "printf next", "jq/jq": "",
	} {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n", 0o755)
	}
	return dir
}

func TestTheMachine(t *testing.T) {
	dir := programs(t)
	missing := filepath.Join(dir, "missing")
	for _, test := range []struct {
		path    []string
		env     string
		control string
		subject string
		mark    doctor.Mark
		finding string // in which DIR is the directory
	}{
		{[]string{"new", "conch"}, "", dir, "conch", doctor.OK, "1.2.3, DIR/conch/conch"},
		{[]string{"new"}, "", dir, "conch", doctor.Note, "1.2.3, DIR/conch/conch, which is not on PATH: scripts that begin with #!/usr/bin/env conch do not find it"},
		{[]string{"other", "conch"}, "", dir, "conch", doctor.Warn, "1.2.3, DIR/conch/conch, but the first on PATH is another: DIR/other/conch"},
		{[]string{"new"}, "", dir, "bash", doctor.OK, "5.2.15, DIR/new/bash"},
		{[]string{"conch"}, "", dir, "bash", doctor.Fail, "there is none on PATH (DIR/conch)"},
		{[]string{"old", "new"}, "", dir, "bash", doctor.Fail, "3.1.17, DIR/old/bash, is too old"},
		{[]string{"two"}, "", dir, "bash", doctor.Fail, "2.05b, DIR/two/bash, is too old"},
		{[]string{"strange"}, "", dir, "bash", doctor.OK, "next, DIR/strange/bash"},
		{[]string{"broken"}, "", dir, "bash", doctor.Fail, "DIR/broken/bash does not run: exit status 3"},
		{[]string{"silent"}, "", dir, "bash", doctor.Fail, "DIR/silent/bash does not run: it has no BASH_VERSION, so it is no Bash"},
		{[]string{"new"}, "BASH_ENV=/rc", dir, "BASH_ENV", doctor.Note, "is /rc: Bash runs that before each script"},
		{[]string{"jq"}, "", dir, "jq", doctor.OK, "DIR/jq/jq"},
		{[]string{"new"}, "", dir, "jq", doctor.OK, "none on PATH; scripts that run jq get conch's, which is conch jq"},
		{[]string{"new"}, "", missing, "control files", doctor.Fail, "go to DIR/missing, which cannot be written: no such file or directory"},
		{[]string{"new"}, "TMPDIR=" + missing, dir, "TMPDIR", doctor.Fail, "calls have their directories in DIR/missing, which cannot be written: no such file or directory"},
		{[]string{"new"}, "", dir, "TMPDIR", doctor.OK, "calls have their directories in DIR"},
	} {
		s := around(t, dir, test.path, test.env)
		s.Control = test.control
		found := false
		for _, c := range doctor.Machine(t.Context(), s).Checks {
			if c.Subject != test.subject {
				continue
			}
			found = true
			if finding := strings.ReplaceAll(c.Finding, dir, "DIR"); c.Mark != test.mark || finding != test.finding {
				t.Errorf("%q %s: %s %s; want %s %s", test.path, test.env, c.Mark, finding, test.mark, test.finding)
			}
			if c.Mark == doctor.Fail && c.Remedy == "" {
				t.Errorf("%s fails, and there is nothing to do about it: %s", c.Subject, c.Finding)
			}
		}
		if !found {
			t.Errorf("%q %s: nothing is said of %s", test.path, test.env, test.subject)
		}
	}
}

func TestClientsThatCannotBeReadOrAreNotThere(t *testing.T) {
	dir := programs(t)
	s := around(t, dir, []string{"new", "conch"})
	home := s.Home
	write(t, filepath.Join(home, ".cursor/mcp.json"), "{\n  \"mcpServers\": {,}\n}", 0o644)
	write(t, filepath.Join(home, ".codex/config.toml"), "[mcp_servers.a]\ncommand = 'conch'\nargs = ['serve', '/missing.sh']\n[mcp_servers.b]\ncommand = 'missing'\n", 0o644)
	write(t, filepath.Join(home, ".gemini/settings.json/file"), "", 0o644)
	write(t, filepath.Join(home, ".config/zed/other"), "", 0o644)
	write(t, filepath.Join(dir, ".vscode/mcp.json"), `{"servers": {}}`, 0o644)
	var got []string
	for _, c := range doctor.Clients(s).Checks {
		got = append(got, string(c.Mark)+" "+c.Subject+": "+strings.ReplaceAll(c.Finding, dir, "DIR"))
	}
	want := []string{
		"ok claude-code: not found: there is no ~/.claude.json",
		"ok claude-desktop: not found: there is no ~/.config/Claude",
		"fail cursor: ~/.cursor/mcp.json, line 2, column 18: invalid character ',' at start of value",
		"ok vscode: not found: there is no ~/.config/Code",
		"ok vscode: DIR/.vscode/mcp.json: 0 servers",
		"ok codex: ~/.codex/config.toml: 2 servers, conch's: a",
		"fail codex a: there is no script /missing.sh",
		"fail gemini: ~/.gemini/settings.json cannot be read: it is not a regular file",
		"ok zed: found, and no servers: there is no ~/.config/zed/settings.json",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFailedCountsAllSections(t *testing.T) {
	check := func(marks ...doctor.Mark) (s doctor.Section) {
		for _, m := range marks {
			s.Checks = append(s.Checks, doctor.Check{Mark: m})
		}
		return s
	}
	if got := doctor.Failed([]doctor.Section{check(doctor.Fail, doctor.OK), check(), check(doctor.Warn, doctor.Fail, doctor.Note)}); got != 2 {
		t.Errorf("%d", got)
	}
}
