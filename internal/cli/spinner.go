package cli

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// patience is how long a call may take before a person is told that it does.
const patience = time.Second

// startSpinner shows what is being waited for and for how long, on a terminal
// and only if it takes long. The returned function ends it.
func startSpinner(out *os.File, what func() string) (stop func()) {
	if !term.IsTerminal(int(out.Fd())) {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		spin(out, what, quit)
	}()
	return func() {
		close(quit)
		<-done
	}
}

func spin(out *os.File, what func() string, quit <-chan struct{}) {
	start := time.Now()
	select {
	case <-quit:
		return
	case <-time.After(patience):
	}
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		fmt.Fprintf(out, "\r%c %s … %ds", frames[i%len(frames)], printable(what()), int(time.Since(start).Seconds()))
		select {
		case <-quit:
			// Leave the line as it was.
			fmt.Fprint(out, "\r\x1b[K")
			return
		case <-tick.C:
		}
	}
}
