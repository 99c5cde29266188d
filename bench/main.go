// Bench measures conch beside what its calls are made of: bash's own fork, a
// spawned bash, and any peer server named in $PEER.
//
// All figures of a run are taken in turns, round by round, so that a machine
// whose speed drifts does not favour one of them. Compare ratios, not numbers.
//
//	go run ./bench
//	PEER='path/to/server.sh' PEER_TOOL=greet PEER_ARGS='{"name":"World"}' go run ./bench
//	PEER_URL=http://127.0.0.1:3001/mcp go run ./bench
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Of one round.
var (
	rounds    = flag.Int("rounds", 12, "rounds; each takes every figure once")
	forks     = flag.Int("forks", 300, "forks of bash in a round")
	calls     = flag.Int("calls", 300, "sequential calls in a round")
	load      = flag.Int("load", 1000, "calls in a round at each concurrency")
	peerCalls = flag.Int("peer-calls", 10, "calls of the peer in a round")
	conchPath = flag.String("conch", "bin/conch", "the conch to measure")
)

var concurrencies = []int{1, 8, 64}

// budget is what the design allows.
const (
	maxLatency    = 2.2 // a sequential call, in forks of bash
	minThroughput = 0.4 // calls a second at concurrency 8, in those of two fork loops
	maxResident   = 40  // MB in conch with 8 workers
	maxStart      = 60 * time.Millisecond
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "conch-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script, err := writeServer(dir)
	if err != nil {
		return err
	}
	m, err := measure(dir, script)
	if err != nil {
		return err
	}
	m.report()
	return nil
}

// writeServer makes a server whose only tool does nothing but print its
// argument, without a process of its own.
func writeServer(dir string) (string, error) {
	for name, text := range map[string]string{
		"server.sh":   "tool_greet() { echo \"Hello, $arg_name\"; }\n",
		"tools.json":  `{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}}]}`,
		"config.json": `{}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "server.sh"), nil
}

// measurements are the figures of every round.
type measurements struct {
	fork, forkPair, spawn samples // seconds a fork; seconds a fork in two loops at once; seconds a bash -c :
	start                 samples // seconds from start to first reply
	p50, p99              samples // of a round's sequential calls
	rate                  map[int]samples
	resident              float64 // MB
	others                []*measured
	peer                  *measured // also one of the others, if there is one
	endpoints             []*endpoint
	session               float64 // KB for one over HTTP that nobody uses
}

func measure(dir, script string) (*measurements, error) {
	m := &measurements{rate: map[int]samples{}}
	serve := []string{*conchPath, "serve", "--concurrency", "8", "--log-level", "error", script}
	server, err := startServer(serve, "greet", `{"name":"World"}`)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	defer m.stopOthers()
	if err := m.startOthers(dir); err != nil {
		return nil, err
	}
	if m.endpoints, err = startEndpoints(script); err != nil {
		return nil, err
	}
	for round := range *rounds + 1 {
		if err := m.round(server, serve, round > 0); err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round, *rounds)
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K")
	if m.session, err = sessionKB(script); err != nil {
		return nil, err
	}
	m.resident, err = residentMB(server.cmd.Process.Pid)
	return m, err
}

// startOthers starts what is measured beside: servers with the drop-in file, and
// the peer in $PEER.
func (m *measurements) startOthers(dir string) (err error) {
	if m.others, err = startDropIns(dir); err != nil {
		return err
	}
	command := os.Getenv("PEER")
	if command == "" {
		return nil
	}
	peer, err := startServer([]string{"sh", "-c", "exec " + command}, cmp.Or(os.Getenv("PEER_TOOL"), "greet"), cmp.Or(os.Getenv("PEER_ARGS"), `{"name":"World"}`))
	if err != nil {
		return fmt.Errorf("start the peer: %w", err)
	}
	m.peer = &measured{name: "peer", client: peer, calls: *peerCalls}
	m.others = append(m.others, m.peer)
	return nil
}

func (m *measurements) stopOthers() {
	for _, o := range m.others {
		o.client.stop()
	}
	for _, e := range m.endpoints {
		e.stop()
	}
}

// round takes every figure once. The first round warms up and does not count.
func (m *measurements) round(server *client, serve []string, counts bool) error {
	figures := []struct {
		into *samples
		take func() (float64, error)
	}{
		{&m.fork, func() (float64, error) { return forkLoop(*forks, 1) }},
		{&m.forkPair, func() (float64, error) { return forkLoop(*forks, 2) }},
		{&m.spawn, func() (float64, error) { return spawnLoop(*forks / 10) }},
		{&m.start, func() (float64, error) { return startToReply(serve) }},
	}
	for _, f := range figures {
		v, err := f.take()
		if err != nil {
			return err
		}
		f.into.add(v, counts)
	}
	p50, p99, err := server.sequential(*calls)
	if err != nil {
		return err
	}
	m.p50.add(p50, counts)
	m.p99.add(p99, counts)
	for _, n := range concurrencies {
		rate, err := server.throughput(*load, n)
		if err != nil {
			return err
		}
		s := m.rate[n]
		s.add(rate, counts)
		m.rate[n] = s
	}
	for _, o := range m.others {
		if err := o.round(counts); err != nil {
			return fmt.Errorf("measure %s: %w", o.name, err)
		}
	}
	for _, e := range m.endpoints {
		if err := e.round(counts); err != nil {
			return fmt.Errorf("measure %s: %w", e.name, err)
		}
	}
	return nil
}

// samples are one figure's values, one a round.
type samples []float64

func (s *samples) add(v float64, counts bool) {
	if counts {
		*s = append(*s, v)
	}
}

func (s samples) median() float64 { return quantile(s, 0.5) }

func quantile(s []float64, q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	s = slices.Sorted(slices.Values(s))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

// ratio is the median of a figure in terms of another, round by round.
func (s samples) ratio(to samples) float64 {
	var r samples
	for i := range s {
		r = append(r, s[i]/to[i])
	}
	return r.median()
}

func (m *measurements) report() {
	fmt.Printf("%s, %d CPUs, %s; medians of %d rounds\n\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), bashVersion(), *rounds)
	row := func(what, figure, beside, budget string) {
		fmt.Printf("%-50s %12s  %-18s %s\n", what, figure, beside, budget)
	}
	ms := func(s samples) string { return fmt.Sprintf("%.3f ms", 1000*s.median()) }
	forksOf := func(s samples) string { return fmt.Sprintf("%.2f × ( : )", s.ratio(m.fork)) }
	row("bash ( : )", ms(m.fork), "", "")
	row("bash -c :, spawned", ms(m.spawn), forksOf(m.spawn), "")
	row("conch, a sequential call, p50", ms(m.p50), forksOf(m.p50), fmt.Sprintf("budget %.1f: %s", maxLatency, verdict(m.p50.ratio(m.fork) <= maxLatency)))
	row("conch, a sequential call, p99", ms(m.p99), forksOf(m.p99), "")
	for _, o := range m.others {
		comparison := ""
		if o == m.peer {
			comparison = fmt.Sprintf("conch is %.0f times as fast", o.p50.ratio(m.p50))
		}
		row(o.name+", a sequential call, p50", ms(o.p50), forksOf(o.p50), comparison)
		row(o.name+", a sequential call, p99", ms(o.p99), forksOf(o.p99), "")
	}
	fmt.Println()
	pair := make(samples, len(m.forkPair))
	for i, v := range m.forkPair {
		pair[i] = 1 / v
	}
	row("bash ( : ) in two loops at once", fmt.Sprintf("%.0f /s", pair.median()), "", "")
	for _, n := range concurrencies {
		budget := ""
		if n == 8 {
			budget = fmt.Sprintf("budget %.1f: %s", minThroughput, verdict(m.rate[n].ratio(pair) >= minThroughput))
		}
		row(fmt.Sprintf("conch, calls at concurrency %d", n), fmt.Sprintf("%.0f /s", m.rate[n].median()), fmt.Sprintf("%.2f × two loops", m.rate[n].ratio(pair)), budget)
	}
	for _, what := range asked {
		fmt.Println()
		for _, e := range m.endpoints {
			for _, n := range concurrencies {
				rate := e.rates[what][n]
				beside := ""
				if e != m.endpoints[0] {
					beside = fmt.Sprintf("conch is %.0f times as fast", m.endpoints[0].rates[what][n].ratio(rate))
				}
				row(fmt.Sprintf("%s, %s at concurrency %d", e.name, what, n), fmt.Sprintf("%.0f /s", rate.median()), beside, "")
			}
		}
	}
	fmt.Println()
	row("conch, for an idle session over HTTP", fmt.Sprintf("%.0f KB", m.session), "", "")
	row("conch, resident with 8 workers", fmt.Sprintf("%.1f MB", m.resident), "", fmt.Sprintf("budget %d MB: %s", maxResident, verdict(m.resident <= maxResident)))
	row("conch, start to first reply", ms(m.start), "", fmt.Sprintf("budget %v: %s", maxStart, verdict(m.start.median() <= maxStart.Seconds())))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

func bashVersion() string {
	out, err := exec.Command("bash", "-c", `printf 'bash %s' "$BASH_VERSION"`).Output()
	if err != nil {
		return "bash"
	}
	return string(out)
}

var errEnded = errors.New("the server ended")
