package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
)

// A reaper adopts the orphans of what this process starts and waits for them,
// as the first process of a system does. Without one they would stay zombies
// wherever that first process does not care, as in many containers, and a
// group would look alive after its death.
//
// It waits for every child, so the children of this process must be started
// through it.
type reaper struct {
	signals chan os.Signal
	done    chan struct{}

	children *os.File // the kernel's list of this process's children; nil where it keeps none

	policy uint32 // of the scheduler, that this process was started with

	mu   sync.Mutex
	own  map[int]*Child // children that somebody waits for
	list [256]byte      // what was read of children last
}

func newReaper() (*reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphans: %w", err)
	}
	r := &reaper{signals: make(chan os.Signal, 1), done: make(chan struct{}), own: map[int]*Child{}}
	if attr, err := unix.SchedGetAttr(0, 0); err == nil {
		r.policy = attr.Policy
	}
	// Orphans become children of the first thread, whose id is the process's.
	r.children, _ = os.Open(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	signal.Notify(r.signals, unix.SIGCHLD)
	go func() {
		defer close(r.done)
		for range r.signals {
			r.sweep()
		}
	}()
	return r, nil
}

// start starts cmd, whose Wait must not be called.
func (r *reaper) start(cmd *exec.Cmd) (*Child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// It has the policy of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r.policy == usual && setPolicy(0, batch, usual) {
		defer setPolicy(0, usual, batch)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Child{ended: make(chan struct{})}
	r.own[cmd.Process.Pid] = c
	return c, nil
}

// sweep waits for every child that has ended.
func (r *reaper) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if c := r.own[pid]; c != nil {
			delete(r.own, pid)
			c.end(status)
		}
	}
}

// hasOrphans reports whether there may be processes that outlived the one that
// started them.
func (r *reaper) hasOrphans() bool {
	if r.children == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := nowait.Kernel().Pread(int(r.children.Fd()), r.list[:], 0)
	return err != nil || n == len(r.list) || len(r.strangers(r.list[:n])) > 0
}

// orphans lists the processes that were adopted.
func (r *reaper) orphans() []int {
	if r.children == nil {
		return nil
	}
	list, err := os.ReadFile(r.children.Name())
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.strangers(list)
}

// strangers picks the children out of a list that were not started here. r.mu is
// held.
func (r *reaper) strangers(list []byte) []int {
	var pids []int
	for _, word := range bytes.Fields(list) {
		if pid, err := strconv.Atoi(string(word)); err == nil && r.own[pid] == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (r *reaper) close() {
	if r.children != nil {
		// Nobody is to read by its number what has that next.
		r.mu.Lock()
		r.children.Close()
		r.mu.Unlock()
	}
	signal.Stop(r.signals)
	close(r.signals)
	<-r.done
}
