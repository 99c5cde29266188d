package calls_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const mixed = echo + `
tool_slow() { sleep 0.05; printf '%s' "$arg_v"; }
tool_fail() { printf '%s' "$arg_v"; return 3; }
tool_large() { printf '%0200000d' 0; }
tool_leave() { sleep 1000 & printf '%s' "$arg_v"; }
tool_hang() { sleep 1000; }
`

// mix is a client that makes calls of every kind and takes its answers as they
// come.
type mix struct {
	*server
	random   *rand.Rand
	expected map[int]answer // what has to come
	hanging  []int          // calls that go on until they are cancelled
	maybe    map[int]bool   // hanging, or cancelled and perhaps too late
}

const mixedCalls = 300

func TestManyMixedCallsAreEachAnsweredOnceAndNothingIsLeft(t *testing.T) {
	for _, killing := range []bool{false, true} {
		t.Run(fmt.Sprintf("workers killed %v", killing), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			if text := os.Getenv("SEED"); text != "" {
				seed, _ = strconv.ParseUint(text, 10, 64)
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("SEED=%d", seed)
				}
			})
			m := &mix{
				server: serve(t, mixed, "--concurrency", "8"), random: rand.New(rand.NewPCG(seed, 1)),
				expected: map[int]answer{}, maybe: map[int]bool{},
			}
			m.warmUp()
			before := m.descriptors()
			for range mixedCalls {
				m.one()
				if killing && m.random.IntN(15) == 0 {
					m.killAWorker()
				}
			}
			for _, id := range m.hanging {
				m.cancel(id)
			}
			m.collect(killing)
			m.serves()
			// The pool has come back to its size by now, each worker with the
			// same few descriptors.
			m.warmUp()
			harness.Eventually(t, harness.Deadline, fmt.Sprintf("no more than %d descriptors, as before", before), func() bool { return m.descriptors() <= before })
			m.ends()
		})
	}
}

// warmUp makes the pool as large as it may be.
func (m *mix) warmUp() {
	m.t.Helper()
	var ids []int
	for range 16 {
		ids = append(ids, m.post("slow", object("v", "warm")))
	}
	m.await(ids...)
}

func (m *mix) descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", m.Cmd.Process.Pid))
	return len(entries)
}

// one makes a call, and sometimes cancels one.
func (m *mix) one() {
	m.t.Helper()
	word := fmt.Sprintf("call %d", m.last+1)
	switch m.random.IntN(8) {
	case 0, 1, 2:
		m.expected[m.post("echo", object("v", word))] = answer{word, false}
	case 3:
		m.expected[m.post("slow", object("v", word))] = answer{word, false}
	case 4:
		m.expected[m.post("fail", object("v", word))] = answer{"Error executing fail: " + word, true}
	case 5:
		m.expected[m.post("large", `{}`)] = answer{strings.Repeat("0", 200000), false}
	case 6:
		m.expected[m.post("leave", object("v", word))] = answer{word, false}
	case 7:
		m.hanging = append(m.hanging, m.post("hang", `{}`))
		m.maybe[m.last] = true
	}
	// Hanging calls take the turns of others: never more than four.
	if len(m.hanging) > 4 {
		m.cancel(m.hanging[0])
		m.hanging = m.hanging[1:]
	}
	if m.random.IntN(10) == 0 {
		// Most likely one that waits for its turn.
		if _, ok := m.expected[m.last]; ok {
			m.maybe[m.last] = true
			m.cancel(m.last)
		}
	}
}

// killAWorker kills one that may have nothing to do, or a call.
func (m *mix) killAWorker() {
	var workers []harness.Stat
	for _, above := range harness.Children(m.Cmd.Process.Pid) {
		// The plain shell above the root shell, and no process that a call has
		// left behind.
		if !strings.Contains(harness.CommandLine(above.PID), "runtime.bash") || above.Session != above.PID {
			continue
		}
		for _, root := range harness.Children(above.PID) {
			workers = append(workers, harness.Children(root.PID)...)
		}
	}
	if len(workers) == 0 {
		return
	}
	_ = syscall.Kill(workers[m.random.IntN(len(workers))].PID, syscall.SIGKILL)
}

// collect reads every answer and compares it. A worker that was killed may
// have had a call, which is then answered with an error.
func (m *mix) collect(killing bool) {
	m.t.Helper()
	// An answer may have been on its way when its call was cancelled.
	m.stray = m.maybe
	open := map[int]bool{}
	for id := range m.expected {
		if !m.maybe[id] {
			open[id] = true
		}
	}
	seen, lost := map[int]bool{}, 0
	for len(open) > 0 {
		reply := harness.ParseReply(m.t, m.Line())
		id, _ := strconv.Atoi(string(reply.ID))
		if seen[id] {
			m.t.Errorf("%d was answered twice", id)
		}
		seen[id] = true
		delete(open, id)
		text, isError := reply.ToolText(m.t)
		got, want := answer{text, isError}, m.expected[id]
		switch {
		case got == want:
		case killing && isError && strings.Contains(text, "the shell that ran it was killed"):
			lost++
		default:
			m.t.Errorf("%d: got %v %q, want %v %q", id, isError, clip(text), want.isError, clip(want.text))
		}
	}
	if lost > mixedCalls/4 {
		m.t.Errorf("%d calls were lost", lost)
	}
}
