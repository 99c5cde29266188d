package access

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/regular"
)

const (
	// checkInterval is how long a change of the token file may go unnoticed.
	checkInterval = time.Second
	maxTokenFile  = 1 << 20
	// settled is how old a change must be when the file is read, for its time
	// stamps to tell it from the next.
	settled = 2 * time.Second
)

// tokenFile is the token file as it was when it was last without fault.
type tokenFile struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex // guards what follows, and the reading
	tokens  fileTokens
	checked time.Time
	seen    unix.Stat_t
	known   bool // while seen stays the same, the file does
	said    complaint
}

// complaint is what was logged of which state of the file, to log it once.
type complaint struct {
	state unix.Stat_t
	text  string
}

func openTokenFile(path string, log *slog.Logger) (*tokenFile, error) {
	f := &tokenFile{path: path, log: log}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read(); err != nil {
		return nil, err
	}
	f.sayEmpty()
	return f, nil
}

func (f *tokenFile) identify(token string) (Identity, bool) {
	name, ok := f.current().find(token)
	if !ok {
		return Identity{}, false
	}
	return Identity{Subject: name, AllScopes: true}, true
}

// current returns the tokens as they are now. They are looked for while a request
// waits, so that there is nothing to start and to stop.
func (f *tokenFile) current() fileTokens {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.checked) < checkInterval {
		return f.tokens
	}
	f.checked = now
	if f.unchanged() {
		return f.tokens
	}
	had := len(f.tokens)
	if err := f.read(); err != nil {
		f.say(fmt.Sprintf("%v; the tokens it held before are still taken", err))
	} else if had > 0 {
		f.sayEmpty()
	}
	return f.tokens
}

// sayEmpty tells that nobody is let in by the file, if that is so.
func (f *tokenFile) sayEmpty() {
	if len(f.tokens) == 0 {
		f.log.Warn("the token file holds no token, so none is taken from it", "file", f.path)
	}
}

func (f *tokenFile) unchanged() bool {
	var now unix.Stat_t
	err := unix.Stat(f.path, &now)
	return err == nil && f.known && regular.IsSame(&now, &f.seen)
}

// read leaves the tokens as they are when it fails.
func (f *tokenFile) read() error {
	start := time.Now()
	f.checked, f.known, f.seen = start, false, unix.Stat_t{}
	text, err := f.text()
	if err != nil {
		return fmt.Errorf("cannot read the token file %s: %w", f.path, err)
	}
	f.known = start.Sub(time.Unix(f.seen.Ctim.Unix())) > settled
	tokens, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("token file %s, %w", f.path, err)
	}
	f.tokens = tokens
	if f.seen.Mode&0o077 != 0 {
		f.say(fmt.Sprintf("others than its owner may use the token file %s; `chmod 600` it", f.path))
	}
	return nil
}

func (f *tokenFile) text() (string, error) {
	text, state, err := regular.Read(f.path, maxTokenFile)
	f.seen = state
	return string(text), err
}

// say logs once for each state of the file.
func (f *tokenFile) say(text string) {
	if f.said.text == text && regular.IsSame(&f.said.state, &f.seen) {
		return
	}
	f.said = complaint{state: f.seen, text: text}
	f.log.Warn(text)
}
