package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What a sentinel reads.
const (
	treesFile = "trees" // in the control directory: one line per path, or prefix of paths, to remove
	slotsFD   = 3       // the record of groups, which it inherits
)

// sentinelEnd is how long a sentinel may take for its work.
const sentinelEnd = 5 * time.Second

// A Lifeline ties what this process starts to its life: a sentinel process in
// a session of its own waits until this process is gone, however it went, and
// then kills every group and removes every tree on record.
//
// Its methods are safe for concurrent use.
type Lifeline struct {
	dir     string
	command []string

	mu     sync.Mutex
	spared map[Group]bool // groups of orphans that are to live on
	slots  *slots
	trees  *os.File
	hold   *os.File        // the sentinel reads the other end; only this process holds this one
	pid    int             // the sentinel's
	ended  <-chan struct{} // closed when the sentinel has ended
	closed bool
	done   chan struct{} // closed when the goroutine that waits for the sentinel is over

	reaper *reaper
}

// NewLifeline starts a sentinel by running command with dir as its last
// argument; command must end up in [Sentinel], with the descriptors it was
// started with. dir must not exist: it is made once there is a sentinel that will
// remove it.
func NewLifeline(dir string, command []string) (_ *Lifeline, err error) {
	l := &Lifeline{dir: dir, command: command, spared: map[Group]bool{}, done: make(chan struct{})}
	if l.slots, err = newSlots(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.slots.close()
		}
	}()
	if l.reaper, err = newReaper(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.reaper.close()
		}
	}()
	if err = l.start(); err != nil {
		return nil, err
	}
	if err = l.open(); err != nil {
		l.hold.Close()
		<-l.ended
		return nil, err
	}
	go l.keep()
	return l, nil
}

// open makes the directory and the record of trees, and has the sentinel open it.
func (l *Lifeline) open() (err error) {
	if err = os.Mkdir(l.dir, 0o700); err != nil {
		return fmt.Errorf("make the control directory: %w", err)
	}
	if l.trees, err = create(filepath.Join(l.dir, treesFile)); err != nil {
		return err
	}
	if err = l.begin(); err != nil {
		l.trees.Close()
	}
	return err
}

// begin tells the sentinel that the record of trees is there.
func (l *Lifeline) begin() error {
	if _, err := l.hold.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("tell the sentinel where to look: %w", err)
	}
	return nil
}

func create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the lifeline's record: %w", err)
	}
	return f, nil
}

func (l *Lifeline) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make the lifeline's pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(l.command[0], append(l.command[1:len(l.command):len(l.command)], l.dir)...)
	cmd.Stdin = r
	cmd.ExtraFiles = []*os.File{l.slots.file}
	// A session of its own keeps it from signals meant for this process.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Dir = "/"
	sentinel, err := l.reaper.start(cmd)
	if err != nil {
		w.Close()
		return fmt.Errorf("start the sentinel: %w", err)
	}
	l.hold, l.pid, l.ended = w, cmd.Process.Pid, sentinel.Ended()
	return nil
}

// Start starts a process of this server's. Its Wait must not be called: the
// channel is closed when it has ended and was waited for.
func (l *Lifeline) Start(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	c, err := l.StartChild(cmd)
	if err != nil {
		return nil, err
	}
	return c.Ended(), nil
}

// StartChild is Start for those who want to know how the process ended.
func (l *Lifeline) StartChild(cmd *exec.Cmd) (*Child, error) { return l.reaper.start(cmd) }

// keep replaces a sentinel that dies while its lifeline is held.
func (l *Lifeline) keep() {
	defer close(l.done)
	for {
		l.mu.Lock()
		ended := l.ended
		l.mu.Unlock()
		<-ended
		if !l.restart() {
			return
		}
	}
}

// restart starts a sentinel in place of one that has ended, and tries until it
// succeeds. It reports false when the lifeline was closed.
func (l *Lifeline) restart() bool {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return false
		}
		l.hold.Close()
		err := l.start()
		if err == nil {
			err = l.begin()
		}
		l.mu.Unlock()
		if err == nil {
			return true
		}
		time.Sleep(pause)
	}
}

// Record puts g on record in slot, in place of what the slot held. It must be
// called before g runs anything that may outlive this process. Slot 0 is for a
// group that leads a session; all of that session ends with it.
func (l *Lifeline) Record(slot int, g Group) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.slots.set(slot, g); err != nil {
		return fmt.Errorf("record a process group in slot %d: %w", slot, err)
	}
	return nil
}

func (l *Lifeline) onRecord(g Group) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spared[g] || l.slots.has(g)
}

// Remove puts a path on record. One that ends in * stands for every path that
// begins so.
func (l *Lifeline) Remove(path string) error {
	if strings.ContainsRune(path, '\n') {
		return fmt.Errorf("record %q for removal: the path has a newline in it", path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.trees.WriteString(path + "\n"); err != nil {
		return fmt.Errorf("record a path for removal: %w", err)
	}
	return nil
}

// HasOrphans reports whether a process that was started here, or by one that
// was, may have outlived its parent and still run. True where the system does
// not tell.
func (l *Lifeline) HasOrphans() bool { return l.reaper.hasOrphans() }

// Close lets go of the lifeline: the sentinel does its work, which removes the
// control directory, and Close waits for its end.
func (l *Lifeline) Close() {
	l.mu.Lock()
	l.closed = true
	l.hold.Close()
	pid := l.pid
	l.mu.Unlock()
	// Somebody may have stopped it.
	_ = unix.Kill(pid, unix.SIGCONT)
	select {
	case <-l.done:
	case <-time.After(sentinelEnd):
		_ = unix.Kill(pid, unix.SIGKILL)
		<-l.done
	}
	l.reaper.close()
	l.mu.Lock()
	l.slots.close()
	l.trees.Close()
	l.mu.Unlock()
	// In case there was no sentinel to do it.
	_ = RemoveTree(l.dir)
}

// Sentinel waits until standard input ends, then kills the groups and removes
// the trees that the lifeline at dir has on record, dir last. The record of groups
// is descriptor 3. It is the whole life of the process that [NewLifeline] starts.
func Sentinel(dir string) error {
	// A newline says that the record of trees is there; an end without one, that it
	// may not be: the lifeline was killed while it made it.
	_, _ = os.Stdin.Read(make([]byte, 1))
	// Opened now, it stays what it is whatever becomes of the directory. Where it is not
	// there, groups are to end all the same.
	trees, unopened := os.Open(filepath.Join(dir, treesFile))
	for buf := make([]byte, 64); ; {
		if _, err := os.Stdin.Read(buf); err != nil {
			break
		}
	}
	groups, unread := readSlots(os.NewFile(slotsFD, "groups"))
	for _, g := range groups {
		g.Kill()
	}
	if len(groups) > 0 {
		KillSession(int(groups[0]))
	}
	// A directory can only be removed for good once nobody writes to it.
	for end := time.Now().Add(time.Second); anyRuns(processes(), groups) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if unopened == nil {
		for _, path := range readTrees(trees) {
			_ = RemoveTree(path)
		}
	}
	return errors.Join(unread, unopened, RemoveTree(dir))
}

// anyRuns reports whether one of the processes is of the groups and has not
// ended. Whoever has to wait for it may take their time.
func anyRuns(processes []int, groups []Group) bool {
	for pid := range membersOf(processes, groups) {
		if !hasEnded(pid) {
			return true
		}
	}
	return false
}

func readTrees(f io.Reader) []string {
	var trees []string
	for s := bufio.NewScanner(f); s.Scan(); {
		prefix, isPrefix := strings.CutSuffix(s.Text(), "*")
		if !isPrefix {
			trees = append(trees, s.Text())
			continue
		}
		trees = append(trees, withPrefix(prefix)...)
	}
	return trees
}

// withPrefix lists the paths that begin with prefix. It is no glob, since a
// temporary directory's name may hold any character.
func withPrefix(prefix string) []string {
	dir, base := filepath.Split(prefix)
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
