package batstest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

const (
	// runs is how many interleavings are tried.
	runs = 200
	// runsAtOnce is how many at a time: most of a run is waiting.
	runsAtOnce = 8
)

// In each run a client sends what a plan drawn from a seed says, and ends the
// server as it says. CONCH_TEST_SEED=N plays the plan of that seed alone, and
// CONCH_TEST_RUNS=N another number of plans.
func TestRandomInterleavingsLoseDoubleAndLeaveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is left is looked for in /proc")
	}
	server := writeServer(t)
	seeds := make(chan uint64)
	var players sync.WaitGroup
	for range runsAtOnce {
		players.Go(func() {
			for seed := range seeds {
				t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, server, newInterleaving(seed)) })
			}
		})
	}
	for _, seed := range chosenSeeds(t) {
		seeds <- seed
	}
	close(seeds)
	players.Wait()
}

// chosenSeeds is the seed of the environment, or as many as there are to be
// runs, new each time.
func chosenSeeds(t *testing.T) []uint64 {
	t.Helper()
	if seed, ok := number(t, "CONCH_TEST_SEED"); ok {
		return []uint64{seed}
	}
	n, ok := number(t, "CONCH_TEST_RUNS")
	if !ok {
		n = runs
	}
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(rand.Uint32())
	}
	return seeds
}

func number(t *testing.T, variable string) (n uint64, ok bool) {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("$%s: %v", variable, err)
	}
	return n, true
}

// play has a client do what the plan says, and judges what has come of it.
func play(t *testing.T, server server, p *interleaving) {
	c := start(t, server, p)
	for _, s := range p.steps {
		c.note("-- ", s.what)
		s.do(c)
	}
	c.awaitEnd()
	faults := p.judgeOutput(c.got)
	faults = append(faults, p.judgeEnd(c.cmd.ProcessState)...)
	c.awaitNothingLeft()
	faults = append(faults, p.judgeRecord(c.readRecord())...)
	faults = append(faults, p.judgeWords(c.words())...)
	for _, fault := range faults {
		t.Error(fault)
	}
}
