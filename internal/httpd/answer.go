package httpd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// slowWrite is how long a client may take to take in what is written to it, and
// a second more for each slowRate bytes.
const (
	slowWrite = 30 * time.Second
	slowRate  = 256 << 10
)

// hurry has a client take in the next n bytes in time.
func hurry(w http.ResponseWriter, n int) {
	long := slowWrite + time.Duration(n/slowRate)*time.Second
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(long))
}

// retry is what a client is told to wait before it comes back to a stream.
const retry = time.Second

// An answer writes a stream to the client that has asked for it.
type answer struct {
	w         http.ResponseWriter
	stream    *stream
	batch     bool          // the replies are those of a batch
	patience  time.Duration // how long the replies may take before the client is shown that somebody is there
	keepAlive time.Duration // between comments on a stream of events
	resumable bool          // events have ids
	prime     bool          // an event without a message comes first, for its id
}

// said is how something was answered.
type said int

const (
	nothing  said = iota // ctx had ended, and not even a status was written
	document             // one JSON document
	events               // a stream
)

// write answers with one JSON document if all that is said is replies, and they
// come in time. Else it answers with a stream of events.
func (a answer) write(ctx context.Context) said {
	patience := time.NewTimer(a.patience)
	defer patience.Stop()
	reader := a.stream.enter()
	defer func() { a.stream.leave(reader) }()
	over := false
	for {
		v := a.stream.look()
		switch {
		case v.told:
			a.events(ctx, 0)
			return events
		case v.ended:
			a.document(v.events)
			return document
		case over:
			return nothing
		}
		select {
		case <-v.changed:
		case <-patience.C:
			a.events(ctx, 0)
			return events
		case <-ctx.Done():
			// The reply may have come at the same time.
			over = true
		}
	}
}

// document writes the reply, or the replies to a batch. To a request that was
// cancelled there is none.
func (a answer) document(replies []event) {
	switch {
	case len(replies) == 0:
		a.w.WriteHeader(http.StatusAccepted)
	case a.batch:
		texts := make([][]byte, len(replies))
		for i, e := range replies {
			texts[i] = e.text
		}
		body := append([]byte{'['}, bytes.Join(texts, []byte{','})...)
		writeJSON(a.w, http.StatusOK, append(body, ']'))
	default:
		writeJSON(a.w, replies[0].status, replies[0].text)
	}
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	hurry(w, len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// events writes what there is from an event on, and what comes, until nothing
// more does, the client is gone, or it has come a second time.
func (a answer) events(ctx context.Context, from int) {
	reader := a.stream.enter()
	defer a.stream.leave(reader)
	out := eventWriter{http.NewResponseController(a.w), a.w}
	out.begin()
	if a.prime && out.prime(a.id(from)) != nil {
		return
	}
	keepAlive := time.NewTicker(a.keepAlive)
	defer keepAlive.Stop()
	over := false
	for {
		v, ok := a.stream.next(reader, from)
		switch {
		case !ok:
			return
		case len(v.events) > 0:
			if out.messages(v, a.id) != nil {
				return
			}
			from = v.events[len(v.events)-1].number + 1
			continue
		case v.ended || over:
			return
		}
		select {
		case <-v.changed:
		case <-keepAlive.C:
			if out.comment("keep-alive") != nil {
				return
			}
		case <-ctx.Done():
			over = true
		}
	}
}

// id is the id that a client comes back with to go on from an event; "" where it
// cannot.
func (a answer) id(next int) string {
	if !a.resumable {
		return ""
	}
	return fmt.Sprintf("%d-%d", a.stream.number, next)
}

// eventWriter writes server-sent events (WHATWG HTML, "Server-sent events").
type eventWriter struct {
	control *http.ResponseController
	w       http.ResponseWriter
}

func (e eventWriter) begin() {
	header := e.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	// nginx would keep events until it has a buffer full of them.
	header.Set("X-Accel-Buffering", "no")
	hurry(e.w, 0)
	e.w.WriteHeader(http.StatusOK)
	_ = e.control.Flush()
}

// messages writes what a reader got to see.
func (e eventWriter) messages(v view, id func(next int) string) error {
	var b bytes.Buffer
	for _, event := range v.events {
		if id := id(event.number + 1); id != "" {
			fmt.Fprintf(&b, "id: %s\n", id)
		}
		b.WriteString("event: message\ndata: ")
		b.Write(event.text)
		b.WriteString("\n\n")
	}
	return e.write(b.Bytes())
}

func (e eventWriter) prime(id string) error {
	return e.write(fmt.Appendf(nil, "id: %s\nretry: %d\ndata: \n\n", id, retry.Milliseconds()))
}

func (e eventWriter) comment(text string) error { return e.write([]byte(": " + text + "\n\n")) }

func (e eventWriter) write(text []byte) error {
	hurry(e.w, len(text))
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}
