package httpd

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A budget is what all requests may hold together, in bytes: of bodies, or of
// answers.
type budget struct {
	left atomic.Int64
}

func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// has tells whether there is room for n bytes at this moment.
func (b *budget) has(n int) bool { return b.left.Load() >= int64(n) }

func (b *budget) give(n int64) { b.left.Add(n) }

var errNoRoom = errors.New("no room")

// smallBody is how much of each body needs no room in the budget. Otherwise those
// who send large bodies slowly would keep all others out.
const smallBody = 32 << 10

// budgeted reads a body as far as there is room for it. What it has taken is
// given back by release.
type budgeted struct {
	from   io.Reader
	budget *budget
	read   int64
	taken  int64
}

func (b *budgeted) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.read += int64(n)
	more := max(b.read-smallBody, 0) - b.taken
	if !b.budget.take(more) {
		return 0, errNoRoom
	}
	b.taken += more
	return n, err
}

func (b *budgeted) release() { b.budget.give(b.taken) }

// readBody reads the body of a POST. release is to be called when nothing holds
// on to it any more.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), why *refusal) {
	tooLarge := refused(http.StatusRequestEntityTooLarge, "The body is larger than %d bytes (--max-body)", h.opts.MaxBody)
	if r.ContentLength > h.opts.MaxBody {
		return nil, nil, tooLarge
	}
	in := &budgeted{from: http.MaxBytesReader(w, r.Body, h.opts.MaxBody), budget: &h.bodies}
	body, err := io.ReadAll(in)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		// The connection is read while the request is at work, to see it end. After
		// a failure the deadline stays: net/http reads on before it answers.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		return body, in.release, nil
	case errors.As(err, &large):
		why = tooLarge
	case errors.Is(err, errNoRoom):
		why = busy("The server holds too much already")
	case errors.Is(err, os.ErrDeadlineExceeded):
		why = refused(http.StatusRequestTimeout, "The body did not arrive whole in time (--read-timeout)")
	default:
		why = refused(http.StatusBadRequest, "The body is not whole: it ends early, or its chunks are malformed")
	}
	in.release()
	return nil, nil, why
}

// isJSON reports whether a request says that its body is JSON.
func isJSON(header http.Header) bool {
	values := header.Values("Content-Type")
	if len(values) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(values[0])
	charset := params["charset"]
	return err == nil && mediaType == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// isEncoded reports whether a body would have to be unpacked. None is: a small one
// could become large without end.
func isEncoded(header http.Header) bool {
	for _, value := range header.Values("Content-Encoding") {
		if !strings.EqualFold(value, "identity") {
			return true
		}
	}
	return false
}

// accepts reports whether a client takes answers of a type (RFC 9110, 12.5.1).
// Without the header it takes any.
func accepts(header http.Header, mediaType string) bool {
	values := header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	group, _, _ := strings.Cut(mediaType, "/")
	best, quality := -1, 0.0
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		offered, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		precision := precisionOf(offered, mediaType, group)
		if precision > best {
			best, quality = precision, weight(params["q"])
		}
	}
	return best >= 0 && quality > 0
}

// precisionOf tells how closely a range of media types names one; -1 is not at
// all.
func precisionOf(offered, mediaType, group string) int {
	switch offered {
	case mediaType:
		return 2
	case group + "/*":
		return 1
	case "*/*":
		return 0
	}
	return -1
}

func weight(q string) float64 {
	if q == "" {
		return 1
	}
	v, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return 0
	}
	return v
}
