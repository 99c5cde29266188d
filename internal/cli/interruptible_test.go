package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// soon is how long anything awaited may take before a test fails.
const soon = 30 * time.Second

// inputs are the kinds of file an input may be: one that the poller waits for,
// and one that it does not.
var inputs = map[string]func(t *testing.T) (in *os.File, write func(string), end func()){
	"a pipe": func(t *testing.T) (*os.File, func(string), func()) {
		r, w, err := os.Pipe()
		must(t, err)
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, func(text string) { _, err := io.WriteString(w, text); must(t, err) }, func() { w.Close() }
	},
	"a pipe that blocks": func(t *testing.T) (*os.File, func(string), func()) {
		r, w, err := os.Pipe()
		must(t, err)
		// Its descriptor asked for, a file waits in the kernel from then on.
		_ = r.Fd()
		// Closing it would wait for the goroutine that reads it.
		t.Cleanup(func() { w.Close() })
		return r, func(text string) { _, err := io.WriteString(w, text); must(t, err) }, func() { w.Close() }
	},
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within fails the test when f takes too long.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(soon):
		t.Fatalf("not within %v: %s", soon, what)
	}
}

func TestAnInputThatIsNotInterruptedIsReadToItsEnd(t *testing.T) {
	for name, open := range inputs {
		t.Run(name, func(t *testing.T) {
			in, write, end := open(t)
			i := newInterruptible(in)
			write("one\n")
			write("two")
			end()
			within(t, "the end of the input", func() {
				text, err := io.ReadAll(i)
				if err != nil || string(text) != "one\ntwo" {
					t.Errorf("read %q, %v", text, err)
				}
			})
			i.interrupt()
		})
	}
}

func TestAFileIsAnInputToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	must(t, os.WriteFile(path, []byte("from a file"), 0o600))
	in, err := os.Open(path)
	must(t, err)
	defer in.Close()
	within(t, "the end of the file", func() {
		if err := iotest.TestReader(newInterruptible(in), []byte("from a file")); err != nil {
			t.Error(err)
		}
	})
}

func TestAnInterruptEndsAReadThatWaits(t *testing.T) {
	for name, open := range inputs {
		t.Run(name, func(t *testing.T) {
			in, write, _ := open(t)
			i := newInterruptible(in)
			write("before")
			buf := make([]byte, 64)
			within(t, "what was written", func() {
				if n, err := i.Read(buf); err != nil || string(buf[:n]) != "before" {
					t.Errorf("read %q, %v", buf[:n], err)
				}
			})
			read := make(chan error, 1)
			go func() {
				_, err := i.Read(buf)
				read <- err
			}()
			// Nothing tells that a read waits in the kernel.
			time.Sleep(50 * time.Millisecond)
			i.interrupt()
			select {
			case err := <-read:
				if !errors.Is(err, errInterrupted) {
					t.Errorf("the read that waited: %v", err)
				}
			case <-time.After(soon):
				t.Fatal("the read still waits")
			}
		})
	}
}

func TestAnInputStaysInterrupted(t *testing.T) {
	for name, open := range inputs {
		t.Run(name, func(t *testing.T) {
			in, write, _ := open(t)
			i := newInterruptible(in)
			i.interrupt()
			i.interrupt()
			write("too late")
			within(t, "two reads", func() {
				for range 2 {
					// What was on its way may come yet.
					n, err := i.Read(make([]byte, 64))
					if n == 0 && !errors.Is(err, errInterrupted) {
						t.Errorf("read: %v", err)
					}
				}
			})
		})
	}
}

func TestAnInputThatBreaksTellsWhy(t *testing.T) {
	// A directory opens and cannot be read.
	in, err := os.Open(t.TempDir())
	must(t, err)
	defer in.Close()
	within(t, "an error", func() {
		_, err := newInterruptible(in).Read(make([]byte, 1))
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, errInterrupted) || !strings.Contains(err.Error(), "directory") {
			t.Errorf("read: %v", err)
		}
	})
}
