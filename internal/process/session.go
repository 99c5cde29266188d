package process

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// KillSession kills every process of a session, whatever its group. It must be
// known that the session is, or a moment ago was, one of this process's.
func KillSession(id int) {
	if id <= 1 {
		return
	}
	for range 100 {
		members := sessionMembers(id)
		if len(members) == 0 {
			return
		}
		for _, pid := range members {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		// Dead ones stay listed until their parent has waited for them.
		time.Sleep(time.Millisecond)
	}
}

// sessionMembers lists the processes of a session that have not ended.
func sessionMembers(id int) []int {
	var members []int
	for _, pid := range processes() {
		if sid, err := unix.Getsid(pid); err == nil && sid == id && !hasEnded(pid) {
			members = append(members, pid)
		}
	}
	return members
}

// SpareOrphans keeps the processes that have been adopted so far, and their
// groups, from [Lifeline.EndOrphans].
func (l *Lifeline) SpareOrphans() {
	for _, pid := range l.reaper.orphans() {
		if group, err := unix.Getpgid(pid); err == nil {
			l.mu.Lock()
			l.spared[Group(group)] = true
			l.mu.Unlock()
		}
	}
}

// EndOrphans kills those adopted processes of the session that belongs picks,
// each with its whole group, unless the group is on record. They are what a
// call has left running in groups of its own making.
func (l *Lifeline) EndOrphans(session int, belongs func(pid int) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for ctx.Err() == nil {
		found := false
		for _, pid := range l.reaper.orphans() {
			sid, err := unix.Getsid(pid)
			group, groupErr := unix.Getpgid(pid)
			if err != nil || groupErr != nil || sid != session || hasEnded(pid) || l.onRecord(Group(group)) || !belongs(pid) {
				continue
			}
			found = true
			Group(group).Kill()
			Group(group).Wait(ctx)
		}
		// The children of one that was killed are orphans now.
		if !found {
			return
		}
	}
}

// KillOrphans kills every process that was adopted and does not end by itself
// within patience, and those that its death has adopted: nothing lives on that was
// started here. Where the system does not tell of adopted processes it does
// nothing.
func (l *Lifeline) KillOrphans(patience time.Duration) {
	patient := time.Now().Add(patience)
	end := patient.Add(time.Second)
	for time.Now().Before(end) {
		running := slices.DeleteFunc(l.reaper.orphans(), hasEnded)
		if len(running) == 0 {
			return
		}
		if time.Now().After(patient) {
			for _, pid := range running {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		// The children of one that was killed are adopted in a moment.
		time.Sleep(time.Millisecond)
	}
}
