package functions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACommandIsTriedAgain(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		const flaky = `n=0; flaky() { n=$((n + 1)); ((n >= 3)) || builtin return 5; echo "run $n"; }; `
		r := s.run(t, flaky+`mcp_with_retry 5 0.001 -- flaky; echo "$?"`)
		if r.stdout != "run 3\n0\n" || strings.Count(r.stderr, "log: retry attempt") != 2 ||
			!strings.Contains(r.stderr, "attempt 2 of 5 ended with status 5, the next one is in 0.00") {
			t.Errorf("%q, %q", r.stdout, r.stderr)
		}
		for call, want := range map[string]string{
			"3 0.001 true":                "0 after 0",
			"3 0.001 -- bash -c 'exit 1'": "1 after 0",
			"3 0.001 -- bash -c 'exit 2'": "2 after 0",
			"2 0 -- bash -c 'exit 3'":     "3 after 1",
			"3 0.001 -- bash -c 'exit 7'": "7 after 2",
		} {
			r := s.run(t, "set -e; mcp_with_retry "+call+` || echo -n "$?"`)
			status, times, _ := strings.Cut(want, " after ")
			if got := strings.Count(r.stderr, "log:"); strings.TrimPrefix(status, "0") != r.stdout || times != string(rune('0'+got)) {
				t.Errorf("%s: %q after %d; want %s", call, r.stdout, got, want)
			}
		}
		for _, call := range []string{"", "0 1 true", "x 1 true", "3 x true", "3 1", "3 1 --", "3 1.2.3 true", "99999999999 1 true"} {
			s.run(t, "mcp_with_retry "+call).check(t, call, "", "mcp_with_retry takes a number of attempts, a delay in seconds and a command\n", 1)
		}
	})
}

func TestLinesBecomeProgress(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		for _, test := range []struct{ name, options, command, stderr string }{
			{"percent", `--pattern '([0-9.]+)%' --extract match1`, `echo 'at 12.5%'; echo other; printf '20%%\r30%%\r'`,
				"progress: 12.5 at 12.5%\nlog: mcp_run_with_progress other\nprogress: 20 20%\nprogress: 30 30%\nother\n"},
			{"part", `--pattern 'frame=([0-9]+)' --extract match1 --total 40`, `echo frame=10; echo frame=08; echo frame=99`,
				"progress: 25 frame=10\nprogress: 20 frame=08\nprogress: 100 frame=99\n"},
			{"ratio", `--pattern '\[([0-9]+)/([0-9]+)\]' --extract ratio`, `echo '[1/3] one'; echo '[2/0]'; echo '[3/3]'`,
				"progress: 33 [1/3] one\nprogress: 100 [3/3]\n"},
			{"json", `--pattern '^\{' --quiet`, `echo '{"progress":1,"message":"a b"}'; echo noise; echo '{"progress":"2","x":[1]}'; echo '{"progress":3,"message":"\u00e9"}'; echo '{"progress":"x"}'; echo '{"x":1}'; echo '{'`,
				"progress: 1 a b\nprogress: 2 Working...\nprogress: 3 é\nnoise\n"},
			{"dry run", `--pattern '(.*)%' --extract match1 --dry-run`, `echo '5%'`, `{"progress":5,"message":"5%"}` + "\n"},
		} {
			r := s.run(t, `mcp_run_with_progress `+test.options+` -- bash -c "$1"; echo "$?"`, "exec 3>&1; echo out; { "+test.command+"; } >&2; exit 9")
			r.check(t, test.name, "out\n9\n", test.stderr, 0)
		}
	})
}

func TestTheStreamsOfACommandWithProgressGoToFiles(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		dir := t.TempDir()
		r := s.run(t, `set -e; mcp_run_with_progress --pattern '(.*)%' --extract match1 --quiet --stdout "$1/out" --stderr-file "$1/err" -- bash -c 'echo out; echo 5% >&2; echo err >&2'`, dir)
		r.check(t, "to files", "", "progress: 5 5%\n", 0)
		for name, want := range map[string]string{"out": "out\n", "err": "err\n"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	})
}

func TestProgressIsReadFromAFile(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		// The command goes on once the first line has become progress.
		dir := t.TempDir()
		r := s.run(t, `
mcp_progress() { echo "progress: $1 $2" >&2; : >"$seen"; }
seen=$1/seen
mcp_run_with_progress --pattern '^at=([0-9]+)' --extract match1 --interval 0.01 --progress-file "$1/progress" -- \
  bash -c 'echo at=1 >"$0/progress"; until [[ -e $0/seen ]]; do sleep 0.01; done; printf at= >>"$0/progress"; printf "2\nat=3" >>"$0/progress"; echo out; exit 4' "$1"
echo "$?"`, dir)
		r.check(t, "file", "out\n4\n", "progress: 1 at=1\nprogress: 2 at=2\nprogress: 3 at=3\n", 0)
	})
}

func TestOptionsOfProgressThatMakeNoSense(t *testing.T) {
	s := shells(t)["plain"]
	for options, want := range map[string]string{
		"-- true":                             "--pattern is required",
		"--pattern x":                         "there is no command",
		"--pattern '(' -- true":               "--pattern is no regular expression of POSIX (a brace is written [{]): (",
		"--pattern x --extract y -- true":     "unknown extract mode 'y'; there are json, match1 and ratio",
		"--pattern x --total 0 -- true":       "--total must be positive integer",
		"--pattern x --total abc -- true":     "--total must be positive integer",
		"--pattern x --interval 0.0 -- true":  "--interval must be a positive number",
		"--pattern x --interval fast -- true": "--interval must be a positive number",
		"--patern x -- true":                  "there is no option --patern",
	} {
		s.run(t, "mcp_run_with_progress "+options).check(t, options, "", "mcp_run_with_progress: "+want+"\n", 1)
	}
}
