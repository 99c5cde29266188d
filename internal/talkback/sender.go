package talkback

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Variables that tell a process of a call where its channel is, and which call
// it is of.
const (
	ChannelVariable = "CONCH_TALK"
	TokenVariable   = "MCP_CALL_TMPDIR" // its last element
)

// A Sender is the channel of the call that this process is part of.
type Sender struct{ path, token string }

// Here returns the channel of the call that this process is part of; ok is false
// outside of calls.
func Here() (s Sender, ok bool) {
	s = Sender{path: os.Getenv(ChannelVariable), token: filepath.Base(os.Getenv(TokenVariable))}
	return s, isFIFO(s.path) && os.Getenv(TokenVariable) != ""
}

// IsCancelled reports whether the call is being made to end.
func (s Sender) IsCancelled() bool {
	_, err := os.Lstat(s.path + "." + s.token + cancelledSuffix)
	return err == nil
}

// cancelledSuffix is that of a file which is there once a call is being
// cancelled, behind its token.
const cancelledSuffix = ".cancelled"

// Say sends a message.
func (s Sender) Say(kind string, payload json.RawMessage) error {
	var text bytes.Buffer
	if err := json.Compact(&text, payload); err != nil {
		return fmt.Errorf("make a message of what is no JSON: %w", err)
	}
	// A result that is too long is for the host to see: the call fails by it.
	if most := Limit(kind); int64(text.Len()) > most && !isOfResult(kind) {
		return fmt.Errorf("%w: the limit of its kind, %s, is %d bytes", errTooLong, kind, most)
	}
	line := fmt.Sprintf("%c%s %s %s\n", separator, s.token, kind, text.Bytes())
	if len(line) > atOnce {
		name := rand.Text()
		if err := os.WriteFile(s.path+"."+name, text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write a message: %w", err)
		}
		line = fmt.Sprintf("%c%s %s @%s\n", separator, s.token, kind, name)
	}
	// For reading too: nobody would open the other end of a host that is gone.
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the channel of the call: %w", err)
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

// ErrNoAnswer is that a call ended before its question was answered.
var ErrNoAnswer = errors.New("there was no answer")

// Ask sends a question, of the kind [Ask] or [Given], and waits for the answer.
func (s Sender) Ask(kind string, question map[string]any) (json.RawMessage, error) {
	name := rand.Text()
	path := s.path + "." + name
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make a place for the answer: %w", err)
	}
	defer os.Remove(path)
	in, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("make a place for the answer: %w", err)
	}
	defer in.Close()
	question["reply"] = name
	text, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	if err := s.Say(kind, text); err != nil {
		return nil, err
	}
	answer, err := bufio.NewReader(in).ReadBytes('\n')
	if err != nil {
		return nil, ErrNoAnswer
	}
	return bytes.TrimSuffix(answer, []byte{'\n'}), nil
}
