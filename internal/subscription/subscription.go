// Package subscription is who wants to hear that lists and resources have
// changed, and what they are told.
//
// It knows the notifications, what older clients subscribe to in a session and
// what newer ones listen for in a request. It knows neither who notices changes
// nor how anything is sent.
package subscription

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The lists that clients hear of.
const (
	Tools     = "tools"
	Prompts   = "prompts"
	Resources = "resources"
)

// Options say what there is to hear of.
type Options struct {
	// Tells reports whether clients are told of changes to a list.
	Tells func(list string) bool
	// Subscribes reports whether clients may subscribe to resources.
	Subscribes func() bool
	// Find tells whether there is a resource, and which file it is in; "" for
	// none. It may take its time.
	Find func(uri string) (file string, ok bool)
	// NotFound is the error for an older client when there is none.
	NotFound func(uri string) error
	// ServerInfo is what the server says it is, a JSON object.
	ServerInfo func() json.RawMessage
	// Subscribed is called with the files of what anybody wants to hear of,
	// whenever they may be others. It must not wait.
	Subscribed func(files []string)
}

// Tell sends a notification. It may take as long as the client does to read.
type Tell func(method string, params json.RawMessage)

// A Hub passes on what has changed. It is safe for concurrent use.
type Hub struct {
	opts Options

	telling sync.Mutex // held while Subscribed is called, so that the last call has the last word

	finding sync.Mutex // held while resources are found again, so that the last finding has the last word

	mu        sync.Mutex
	listeners map[*listener]bool
	readings  int // how often resources had to be found again
}

// NewHub returns a Hub that nobody listens to.
func NewHub(opts Options) *Hub { return &Hub{opts: opts, listeners: map[*listener]bool{}} }

// ListChanged tells those who want to hear of it that a list has changed.
func (h *Hub) ListChanged(list string) {
	h.publish(news{method: listMethod(list)}, func(l *listener) bool { return l.lists[list] })
}

// Updated tells those who have subscribed to a resource that it has changed.
func (h *Hub) Updated(uri string) {
	h.publish(updated(uri), func(l *listener) bool { return l.has(uri) })
}

// FileChanged tells those who have subscribed to the resources in a file that
// they have changed.
func (h *Hub) FileChanged(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		for _, uri := range slices.Sorted(maps.Keys(l.uris)) {
			if l.uris[uri] == path {
				l.add(updated(uri))
			}
		}
	}
}

func listMethod(list string) string { return "notifications/" + list + "/list_changed" }

func updated(uri string) news { return news{method: "notifications/resources/updated", uri: uri} }

func (h *Hub) publish(n news, wanted func(*listener) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if wanted(l) {
			l.add(n)
		}
	}
}

// What one client may subscribe to in one place, and one request may name: to
// find out what a URI stands for takes time that grows with its length.
const (
	mostURIs   = 1000
	longestURI = 2 << 10  // bytes
	mostBytes  = 64 << 10 // bytes of URIs in one request
)

// news is a notification to send.
type news struct{ method, uri string }

// listener is one who wants to hear of changes. News that have not been told yet
// are not told twice, so that a client that does not read keeps few of them.
type listener struct {
	// For Hub.mu to guard.
	lists   map[string]bool
	uris    map[string]string // their files, "" for none
	pending []news

	wake chan struct{} // something is pending
}

func newListener() *listener {
	return &listener{lists: map[string]bool{}, uris: map[string]string{}, wake: make(chan struct{}, 1)}
}

// has tells whether it wants to hear of a resource, Hub.mu held.
func (l *listener) has(uri string) bool {
	_, ok := l.uris[uri]
	return ok
}

// add has news told, Hub.mu held.
func (l *listener) add(n news) {
	if slices.Contains(l.pending, n) {
		return
	}
	l.pending = append(l.pending, n)
	l.rouse()
}

// rouse has whoever delivers look whether there is something to tell.
func (l *listener) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// enter has a listener hear of what changes. What it wants to hear of was found
// in a reading.
func (h *Hub) enter(l *listener, reading int) {
	h.mu.Lock()
	h.listeners[l] = true
	h.mu.Unlock()
	h.entered(reading)
}

// entered takes up that there is more to hear of, which was found in a reading.
func (h *Hub) entered(reading int) {
	if reading == h.reading() {
		h.subscribed()
	} else {
		h.Resubscribe()
	}
}

// leave has a listener hear of nothing any more.
func (h *Hub) leave(l *listener) {
	h.mu.Lock()
	delete(h.listeners, l)
	h.mu.Unlock()
	h.subscribed()
}

// reading tells findings before and after a change apart.
func (h *Hub) reading() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readings
}

// Resubscribe finds anew what anybody wants to hear of, when it may be in other
// files. Nobody waits for that: it may take its time.
func (h *Hub) Resubscribe() {
	h.mu.Lock()
	h.readings++
	h.mu.Unlock()
	h.finding.Lock()
	defer h.finding.Unlock()
	found := map[string]string{}
	for _, uri := range h.URIs() {
		found[uri], _ = h.opts.Find(uri)
	}
	h.mu.Lock()
	for l := range h.listeners {
		for uri := range l.uris {
			if file, ok := found[uri]; ok {
				l.uris[uri] = file
			}
		}
	}
	h.mu.Unlock()
	h.subscribed()
}

func (h *Hub) subscribed() {
	if h.opts.Subscribed == nil {
		return
	}
	h.telling.Lock()
	defer h.telling.Unlock()
	h.opts.Subscribed(h.files())
}

// URIs are those that anybody wants to hear of, sorted.
func (h *Hub) URIs() []string {
	uris, _ := h.wanted()
	return uris
}

// files are those of what anybody wants to hear of, sorted.
func (h *Hub) files() []string {
	_, files := h.wanted()
	return files
}

func (h *Hub) wanted() (uris, files []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	byURI, byFile := map[string]bool{}, map[string]bool{}
	for l := range h.listeners {
		for uri, file := range l.uris {
			byURI[uri] = true
			byFile[file] = true
		}
	}
	delete(byFile, "")
	return slices.Sorted(maps.Keys(byURI)), slices.Sorted(maps.Keys(byFile))
}

// take returns what is to be told next; ok is false for nothing.
func (h *Hub) take(l *listener) (n news, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(l.pending) == 0 {
		return n, false
	}
	n, l.pending = l.pending[0], l.pending[1:]
	if len(l.pending) > 0 {
		l.rouse()
	}
	return n, true
}

// A listener is told this much at once, and so much a second on average. What
// changes more often than that is told of less often: the last change always is.
const (
	tellingsAtOnce    = 100
	tellingsPerSecond = 50
)

// deliver tells a listener's news until ctx ends or end is closed.
func (h *Hub) deliver(ctx context.Context, l *listener, end <-chan struct{}, tell func(news)) {
	limit := rate.NewLimiter(tellingsPerSecond, tellingsAtOnce)
	var due <-chan time.Time
	for {
		select {
		case <-l.wake:
			if due == nil {
				due = time.After(limit.Reserve().Delay())
			}
		case <-due:
			due = nil
			if n, ok := h.take(l); ok && ctx.Err() == nil {
				tell(n)
			}
		case <-ctx.Done():
			return
		case <-end:
			return
		}
	}
}
