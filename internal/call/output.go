package call

import (
	"io"
	"os"
	"sync"
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

// pump reads a call's output, and what it says besides, while the call runs.
// Calls that end within moments do without one: what they print fits the pipe.
type pump struct {
	from  []*os.File // read until they are told to stop
	hold  *os.File   // keeps the output from coming to an end
	flows sync.WaitGroup
}

func startPump(w *shell.Worker, sink io.Writer) (*pump, error) {
	out, hold, err := w.Output()
	if err != nil {
		return nil, err
	}
	p := &pump{hold: hold}
	p.flow(out, sink)
	return p, nil
}

// startPump starts the pump of a call. heard is nil where nobody hears what it
// says.
func (c running) startPump(out io.Writer, heard *ears) (*pump, error) {
	p, err := startPump(c.worker, out)
	if err != nil || heard == nil {
		return p, err
	}
	talk, err := c.worker.Talk()
	if err != nil {
		p.stop()
		return nil, err
	}
	p.flow(talk, heard)
	return p, nil
}

func (p *pump) flow(from *os.File, sink io.Writer) {
	p.from = append(p.from, from)
	p.flows.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			_, _ = sink.Write(buf[:n])
			if err != nil {
				return
			}
		}
	})
}

// stop ends the pump and waits for it; what it has not read is left for
// [shell.Worker.Drain] and [shell.Worker.Hear]. A nil pump is none.
func (p *pump) stop() {
	if p == nil {
		return
	}
	for _, f := range p.from {
		_ = f.SetReadDeadline(time.Unix(1, 0))
	}
	p.flows.Wait()
	for _, f := range p.from {
		f.Close()
	}
	p.hold.Close()
}
