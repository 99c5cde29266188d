package doctor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/doctor"
	"github.com/conch-mcp/conch/internal/process"
)

func prober(t *testing.T, timeout time.Duration) doctor.Prober {
	t.Helper()
	l, err := process.NewLifeline(filepath.Join(t.TempDir(), "control"), []string{os.Args[0], roleSentinel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return doctor.Prober{Lifeline: l, Timeout: timeout, Version: "0"}
}

func here(t *testing.T) doctor.Surroundings {
	t.Helper()
	dir := t.TempDir()
	return doctor.Surroundings{
		Machine: clients.Machine{OS: "linux", Home: dir, Dir: dir, Getenv: os.Getenv},
		Environ: os.Environ(), Conch: filepath.Join(dir, "conch"), Control: dir,
	}
}

// told is what was found, a line for each check.
func told(checks []doctor.Check) string {
	var all strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&all, "%s %s: %s", c.Mark, c.Subject, c.Finding)
		for _, line := range c.Said {
			fmt.Fprintf(&all, " | %s", line)
		}
		all.WriteString("\n")
	}
	return all.String()
}

func TestWhatBecomesOfServers(t *testing.T) {
	p, s := prober(t, time.Minute), here(t)
	server := func(kind string) clients.Entry {
		return clients.Entry{Command: os.Args[0], Args: []string{roleServer, kind}}
	}
	bash := func(script string) clients.Entry { return clients.Entry{Command: "bash", Args: []string{"-c", script}} }
	for _, test := range []struct {
		name  string
		entry clients.Entry
		want  string // all that is told, as a pattern
	}{
		{"plain", server("plain"), `ok plain: serves 10 tools \(tool0, tool1, .*, tool7 and 2 more\), as plain 7, after [0-9.]+m?s\n`},
		{"bare", server("bare"), `fail bare: answers, as bare 7, and offers no tools\n`},
		{"prompts", server("prompts"), `ok prompts: serves no tools, but resources or prompts \(1\), as prompts 7, after .*\n`},
		{"loud", server("loud"), `ok loud: serves 10 tools .*\n`},
		{"lingering", server("lingering"), `ok lingering: serves 10 tools .*\nnote lingering: did not end when its input did, and was made to\n`},
		{"noise", bash(`echo '{"a": 1}'; echo; printf '%0200d\n' 0; exit 4`),
			`fail noise: prints on standard output .* \| \{"a": 1\} \| 0{120}…\nfail noise: ended before it had answered \(exit status 4\), and said nothing on standard error\n`},
		{"closed", bash(`exec >&-; cat >/dev/null`), `fail closed: closed its standard output before it had answered, and went on, and said nothing on standard error\n`},
		{"refused", bash(`while read -r line; do id=${line#*'"id":'} && printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"go away"}}\n' "${id%%,*}"; done`),
			`fail refused: refused: go away\n`},
		{"held", bash(`sleep 1000 & echo bye >&2; exit 5`), `fail held: ended before it had answered \(exit status 5\); the last it said on standard error is below \| bye\n`},
		{"binary", bash(`printf '\xff\xfe\n' >&2; exit 1`), "fail binary: ended before it had answered .* \\| \uFFFD\n"},
		{"conch", bash(`echo 'bash-mcp-sdk: conch was not found: CONCH_BIN is not set' >&2; exit 1`), `fail conch: ended .*\n`},
	} {
		checks := p.Try(t.Context(), s, doctor.Source{Client: clients.Any()}, clients.Server{Name: test.name, Entry: test.entry})
		if got := told(checks); !regexp.MustCompile(`^(?s:` + strings.ReplaceAll(test.want, ".*", "[^\n]*") + `)$`).MatchString(got) {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
		if test.name == "conch" && !strings.Contains(checks[0].Remedy, "CONCH_BIN") {
			t.Errorf("to do: %s", checks[0].Remedy)
		}
	}
}

func TestAServerHasTheEnvironmentOfItsClient(t *testing.T) {
	p, s := prober(t, time.Minute), here(t)
	s.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home, "TOKEN=secret"}
	desktop, err := clients.Of("claude-desktop")
	if err != nil {
		t.Fatal(err)
	}
	for client, want := range map[string]string{
		"": "secret", desktop.Name: "none, on /usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin, in " + s.Home,
	} {
		from := doctor.Source{Client: clients.Any()}
		if client != "" {
			from.Client = desktop
		}
		checks := p.Try(t.Context(), s, from, clients.Server{Name: "env", Entry: clients.Entry{
			Command: "bash", Args: []string{"-c", `echo "${TOKEN:-none, on $PATH, in $PWD}, $ADDED" >&2; exit 1`},
			Env: []clients.Variable{{Name: "ADDED", Value: "added"}},
		}})
		if len(checks) != 1 || !slices.Equal(checks[0].Said, []string{want + ", added"}) {
			t.Errorf("%q: %s", client, told(checks))
		}
	}
}

func TestASlowServerIsGivenUp(t *testing.T) {
	p := prober(t, 50*time.Millisecond)
	checks := p.Try(t.Context(), here(t), doctor.Source{Client: clients.Any()}, clients.Server{
		Name: "slow", Entry: clients.Entry{Command: "sleep", Args: []string{"1000"}},
	})
	if got := told(checks); got != "fail slow: did not answer within 50ms, and said nothing on standard error\n" || checks[0].Remedy == "" {
		t.Errorf("%s", got)
	}
}

func TestNothingIsSaidOnceNobodyListens(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checks := prober(t, time.Minute).Try(ctx, here(t), doctor.Source{Client: clients.Any()}, clients.Server{
		Name: "slow", Entry: clients.Entry{Command: "sleep", Args: []string{"1000"}},
	})
	if len(checks) != 0 {
		t.Errorf("%s", told(checks))
	}
}
