package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// heldWriter takes a write only when it is let.
type heldWriter struct {
	begun chan struct{} // says that a write has begun
	let   chan error    // what it is to return

	mu     sync.Mutex
	writes []string
}

func (w *heldWriter) Write(p []byte) (int, error) {
	w.begun <- struct{}{}
	err := <-w.let
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, string(p))
	return len(p), err
}

// What comes while the client is slow goes out together, and nobody goes on before
// his line is out.
func TestLinesThatComeMeanwhileGoOutTogether(t *testing.T) {
	w := &heldWriter{begun: make(chan struct{}), let: make(chan error)}
	o := &outlet{out: w, crowded: func() bool { return true }}
	results := make(chan error, 10)
	write := func(line string) { results <- o.write([]byte(line)) }
	go write("first")
	<-w.begun
	for i := range 9 {
		go write(fmt.Sprint("line ", i))
	}
	// All of them, before the first is written.
	eventually(t, "all lines are there", func() bool { return o.size() == 9*len("line 0\n") })
	if len(results) > 0 {
		t.Fatal("somebody has gone on before his line was out")
	}
	w.let <- nil
	<-w.begun
	failure := errors.New("gone")
	w.let <- failure
	var failed int
	for range 10 {
		if err := <-results; errors.Is(err, failure) {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed != 9 || len(w.writes) != 2 || w.writes[0] != "first\n" {
		t.Errorf("%d have failed of %q", failed, w.writes)
	}
	lines := strings.SplitAfter(w.writes[1], "\n")
	slices.Sort(lines)
	if len(lines) != 10 || lines[1] != "line 0\n" || lines[9] != "line 8\n" {
		t.Errorf("%q", lines)
	}
}

// size is how much is to be written next.
func (o *outlet) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next == nil {
		return 0
	}
	return len(o.next.text)
}

func TestEachLineGoesOutOnceAndWhole(t *testing.T) {
	var out bytes.Buffer
	o := &outlet{out: &out, crowded: func() bool { return true }}
	var writers sync.WaitGroup
	want := map[string]bool{}
	for i := range 200 {
		line := strings.Repeat(fmt.Sprintf("%03d", i), 1+i%7)
		if i%20 == 0 {
			line = strings.Repeat(line, alone)
		}
		want[line] = true
		writers.Go(func() {
			if err := o.write([]byte(line)); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !want[line] {
			t.Errorf("%.60q is no line, or one again", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("%d lines are missing", len(want))
	}
}

func TestALineThatHasBegunIsWaitedFor(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	o := outlet{out: w, crowded: func() bool { return false }}
	written := make(chan error, 1)
	go func() { written <- o.write(bytes.Repeat([]byte("x"), 100)) }()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if o.settle(10 * time.Millisecond) {
		t.Error("it is written before it is read")
	}
	settled := make(chan bool, 1)
	go func() { settled <- o.settle(time.Minute) }()
	if rest, err := io.ReadAll(io.LimitReader(r, 100)); len(rest) != 100 || err != nil {
		t.Errorf("read %d bytes more, %v", len(rest), err)
	}
	if err := <-written; !<-settled || err != nil {
		t.Errorf("it is not written: %v", err)
	}
}
