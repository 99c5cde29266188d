// Package talkback is what a running call says to Conch besides its output, and
// what Conch answers: lines in a FIFO that every process of the call can write
// to.
//
// A line is the call's token, a kind, and JSON without a line break, or "@" and
// the name of a file that has it: a FIFO takes only so much at once. Whoever is
// of an earlier call has another token, cannot guess this one, and is not heard. A record separator is
// in front of it, as in RFC 7464: who was killed in the middle of a line has not
// taken the next one with him.
//
// It knows the form of messages. What a kind means is for others to say.
package talkback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/sparing"
)

// Kinds of messages, and their payloads: S is a string, N a number, B true or
// false, and JSON a string that is to hold a document, which nobody has checked.
const (
	Progress = "progress" // {"progress":N,"total":N,"message":S}
	Log      = "log"      // {"level":S,"logger":S,"text":S}, or "json":JSON
	Emit     = "emit"     // a content item of the result
	Document = "json"     // a content item, whose text is the result's structuredContent
	Result   = "result"   // {"success":B,"value":JSON}: the whole result
	Problem  = "problem"  // {"type":S,"message":S,"hint":S,"data":JSON}: the whole result
	Fail     = "fail"     // {"code":N,"message":S,"data":JSON}: a JSON-RPC error
	Asking   = "asking"   // S: who will ask, and is being started
	Asked    = "asked"    // S: who was to ask, and has ended
	Ask      = "ask"      // {"key":S,"method":S,"params":{},"asker":S,"reply":S}
	Updated  = "updated"  // {"uri":S}: a resource is another
	Given    = "given"    // {"of":S,"reply":S}: what was the call given?
)

// A Message is one thing that a call says.
type Message struct {
	Kind    string
	Payload json.RawMessage // one JSON document
	Reply   Reply           // where the answer to a question goes
	// TooLong is that of a message about the call's result there is no more than
	// that it was said, since it is longer than the limit of its kind.
	TooLong bool
}

// Bounds of a message, in bytes.
const (
	maxLine = 4 << 10
	// Of a file, by what is made of it: a text for a person, what many may wait of,
	// the result.
	maxShort = 64 << 10
	maxLong  = 2 << 20
	maxFile  = 64 << 20
)

// Limit is how long a message of a kind may be, in bytes.
func Limit(kind string) int64 {
	switch kind {
	case Emit, Document, Result:
		return maxFile
	case Problem, Fail, Log, Ask:
		return maxLong
	}
	return maxShort
}

// isOfResult reports whether messages of a kind are about the call's result, which
// is not the same without one of them.
func isOfResult(kind string) bool {
	switch kind {
	case Emit, Document, Result, Problem, Fail:
		return true
	}
	return false
}

// maxLate is how much is read of files for a call whose end has come, whatever it
// goes on to say: its end waits for that.
const maxLate = 1 << 20

var errLate = errors.New("its call is being ended, and has said enough since")

// atOnce is what every system puts into a FIFO in one piece, whoever else writes
// (POSIX, PIPE_BUF).
const atOnce = 512

// separator is what a line begins with, and JSON has nowhere.
const separator = '\x1e'

// A Reader takes what is written to a call's channel, and hands its messages on.
// It is not safe for concurrent use.
type Reader struct {
	token string
	files string // the names of files that messages may be in begin so
	hear  func(Message)
	log   *sparing.Log
	ctx   context.Context // ends before the call does, when that is made to end
	late  int64           // what was read of files since then

	hasFiles bool

	line    []byte
	tooLong bool
}

// NewReader returns a Reader for the call with a token, whose channel is the FIFO
// at path. hear gets its messages one by one. Once ctx has ended, little is read of
// long ones.
func NewReader(ctx context.Context, token, path string, hear func(Message), log *slog.Logger) *Reader {
	return &Reader{ctx: ctx, token: token, files: path + ".", hear: hear, log: sparing.New(log, ignoredMore, 0)}
}

// Write implements [io.Writer]; it never fails.
func (r *Reader) Write(p []byte) (int, error) {
	all := len(p)
	for {
		end := bytes.IndexAny(p, "\n"+string(separator))
		if end < 0 {
			r.append(p)
			return all, nil
		}
		r.append(p[:end])
		switch {
		case p[end] == separator:
		case r.tooLong:
			r.ignore("a line is longer than %d bytes", maxLine)
		default:
			r.take(string(r.line))
		}
		r.line, r.tooLong, p = r.line[:0], false, p[end+1:]
	}
}

// HasFiles reports whether there were messages with files: the text of a long one, or
// the place for an answer.
func (r *Reader) HasFiles() bool { return r.hasFiles }

// append adds to the line that has begun.
func (r *Reader) append(part []byte) {
	if len(r.line)+len(part) > maxLine {
		r.tooLong, r.line = true, nil
	}
	if !r.tooLong {
		r.line = append(r.line, part...)
	}
}

// take hands on the message that a line is.
func (r *Reader) take(line string) {
	token, rest, _ := strings.Cut(line, " ")
	kind, text, ok := strings.Cut(rest, " ")
	if token != r.token {
		// Of a call that is over, as a rule.
		return
	}
	payload := []byte(text)
	if name, inFile := strings.CutPrefix(text, "@"); inFile {
		r.hasFiles = true
		var err error
		payload, err = r.readFile(name, Limit(kind))
		if errors.Is(err, errTooLong) && isOfResult(kind) {
			r.hear(Message{Kind: kind, TooLong: true})
			return
		}
		if err != nil {
			r.ignore("its file cannot be read: %v", err)
			return
		}
	}
	// What a tool says of a file may be in any encoding.
	payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	if !ok || !json.Valid(payload) {
		r.ignore("it is not a kind and a JSON document")
		return
	}
	m := Message{Kind: kind, Payload: payload}
	if kind == Ask || kind == Given {
		var place struct{ Reply string }
		if json.Unmarshal(payload, &place) != nil || !isName(place.Reply) {
			r.ignore("it is a question without a place for the answer")
			return
		}
		r.hasFiles = true
		m.Reply = Reply{r.files + place.Reply}
	}
	r.hear(m)
}

// ignoredMore is what a log is told behind the first things that were ignored.
const ignoredMore = "ignored more of what a call said"

// End tells the log of how much was ignored without a word.
func (r *Reader) End() { r.log.End("call", r.token) }

func (r *Reader) ignore(format string, args ...any) {
	r.log.Warn("ignored what a call said: "+fmt.Sprintf(format, args...), "call", r.token)
}

// errTooLong is that a message is longer than the limit of its kind.
var errTooLong = errors.New("it is too long")

// readFile reads a message's file of so many bytes at most, and removes it.
func (r *Reader) readFile(name string, most int64) ([]byte, error) {
	if !isName(name) {
		return nil, errors.New("it has no name that a message's file has")
	}
	path := r.files + name
	defer os.Remove(path)
	ended := r.ctx.Err() != nil
	if ended && r.late >= maxLate {
		return nil, errLate
	}
	if ended {
		most = min(most, maxLate)
	}
	text, err := readRegular(path, most)
	if ended && errors.Is(err, errTooLong) {
		err = errLate
	}
	if ended {
		r.late += int64(len(text))
	}
	return text, err
}

// readRegular reads a file that a call may have put anything in the place of.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > most:
		return nil, errTooLong
	}
	// It may grow.
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(text)) > most {
		return nil, errTooLong
	}
	return text, err
}

// isName reports whether a name is one that leads nowhere else.
func isName(name string) bool {
	return name != "" && len(name) < 100 && name == filepath.Base(name) && !strings.HasPrefix(name, ".")
}

// A Reply is where the answer to a message goes: the FIFO that its sender has
// made beside the channel and reads.
type Reply struct{ path string }

// patience is how long a sender may take to read its answer.
const patience = 5 * time.Second

// Send sends the answer, one JSON document. A sender who is gone gets none, which
// is no error of anybody's; one who does not read is waited for until ctx ends, or
// for a few seconds.
func (r Reply) Send(ctx context.Context, answer json.RawMessage) error {
	fd, err := unix.Open(r.path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: r.path, Err: err}
	}
	f := os.NewFile(uintptr(fd), r.path)
	defer f.Close()
	_ = f.SetWriteDeadline(time.Now().Add(patience))
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	var line bytes.Buffer
	if err := json.Compact(&line, answer); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err = f.Write(line.Bytes())
	return err
}
