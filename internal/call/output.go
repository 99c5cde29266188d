package call

import (
	"io"
	"os"
	"time"

	"github.com/conch-mcp/conch/internal/shell"
)

// output takes what a call prints, up to a limit, and lets the rest go.
type output struct {
	limit int64
	data  []byte
	over  bool
	full  func() // called once, when there is more than the limit
}

// Write never fails: a call that prints too much is ended, not blocked.
func (o *output) Write(p []byte) (int, error) {
	room := o.limit - int64(len(o.data))
	if int64(len(p)) <= room {
		o.data = append(o.data, p...)
		return len(p), nil
	}
	o.data = append(o.data, p[:room]...)
	if !o.over {
		o.over = true
		o.full()
	}
	return len(p), nil
}

// pump reads a call's output while the call runs. Calls that end within
// moments do without one: what they print fits the pipe.
type pump struct {
	out, hold *os.File
	done      chan struct{}
}

func startPump(w *shell.Worker, sink io.Writer) (*pump, error) {
	out, hold, err := w.Output()
	if err != nil {
		return nil, err
	}
	p := &pump{out: out, hold: hold, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			_, _ = sink.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	return p, nil
}

// stop ends the pump and waits for it; what it has not read is left for
// [shell.Worker.Drain]. A nil pump is none.
func (p *pump) stop() {
	if p == nil {
		return
	}
	_ = p.out.SetReadDeadline(time.Unix(1, 0))
	<-p.done
	p.out.Close()
	p.hold.Close()
}
