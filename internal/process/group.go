// Package process contains what a call starts: process groups and how they are
// ended, private directories and how they are removed, and the lifeline that
// does both when this process is killed.
//
// It knows nothing of tools, shells or MCP.
package process

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Grace is how long a group may take to end after SIGTERM before it is killed.
const Grace = 2 * time.Second

// Group is a process group id. The zero Group is no group; nothing is ever
// sent to it.
type Group int

// Signal sends sig to every process of the group. A group that is gone is no
// error.
func (g Group) Signal(sig unix.Signal) error {
	if g <= 1 {
		return nil
	}
	err := unix.Kill(-int(g), sig)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// Alive reports whether the group still has a member. One that has ended and
// that its parent has not waited for counts.
func (g Group) Alive() bool {
	if g <= 1 {
		return false
	}
	// Anything but ESRCH, EPERM above all, means that somebody is there.
	return !errors.Is(unix.Kill(-int(g), 0), unix.ESRCH)
}

// HasEnded reports whether the process that the group is named after has ended,
// though its parent may not have waited for it.
func (g Group) HasEnded() bool { return hasEnded(int(g)) }

// runs reports whether the group has a member that has not ended. Where the
// system does not tell, who cannot be seen may run.
func (g Group) runs() bool {
	all := processes()
	return len(all) == 0 || anyRuns(all, []Group{g})
}

// Kill ends the group at once.
func (g Group) Kill() { _ = g.Signal(unix.SIGKILL) }

// unreaped is how long dead members are waited for: who adopts them may wait
// for them at once, late, or never.
const unreaped = 50 * time.Millisecond

// Wait waits until no member of the group runs any more or ctx ends, and
// reports whether none does. Nothing announces the death of a group, so Wait
// looks, seldom at first and never more often than once in a millisecond.
func (g Group) Wait(ctx context.Context) bool {
	pause := time.Millisecond
	var dead time.Time // since when only dead members are left
	for g.Alive() {
		switch {
		case g.runs():
			dead = time.Time{}
		case dead.IsZero():
			dead = time.Now()
		case time.Since(dead) > unreaped:
			return true
		}
		select {
		case <-ctx.Done():
			return !g.Alive() || !g.runs()
		case <-time.After(pause):
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
	return true
}

// Members are looked at for being stopped first after stoppedFirst, and ever more
// seldom, down to stoppedLast: each look goes through all processes there are.
const (
	stoppedFirst = 10 * time.Millisecond
	stoppedLast  = 200 * time.Millisecond
)

// Terminate asks the group to end. A stopped process sees SIGTERM only once it
// goes on, so all of them are made to: at once, and whoever is found stopped
// until release is called, which must be.
//
// Once is not enough. What was being forked while SIGSTOP, SIGTERM and SIGCONT
// came has the first two to its birth and not the third: Linux hands on to it
// only what its parent does not ignore, which SIGCONT is by default.
func (g Group) Terminate() (release func()) {
	_ = g.Signal(unix.SIGTERM)
	_ = g.Signal(unix.SIGCONT)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		g.keepGoing(done)
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-over
	})
}

// keepGoing has members of the group that are stopped go on, until done is
// closed.
func (g Group) keepGoing(done <-chan struct{}) {
	for pause := stoppedFirst; ; pause = min(2*pause, stoppedLast) {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		for pid := range membersOf(processes(), []Group{g}) {
			if isStopped(pid) {
				_ = unix.Kill(pid, unix.SIGCONT)
			}
		}
	}
}

// membersOf goes through those of the processes that are of the groups, ended
// ones among them.
func membersOf(processes []int, groups []Group) iter.Seq[int] {
	return func(yield func(pid int) bool) {
		for _, pid := range processes {
			g, err := unix.Getpgid(pid)
			if err == nil && g > 1 && slices.Contains(groups, Group(g)) && !yield(pid) {
				return
			}
		}
	}
}
