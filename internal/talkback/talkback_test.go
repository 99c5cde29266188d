package talkback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// listen returns a reader of a channel in a new directory, and what it has heard.
func listen(t testing.TB) (r *Reader, path string, heard *[]string, log *bytes.Buffer) {
	t.Helper()
	path, heard, log = filepath.Join(t.TempDir(), "talk"), &[]string{}, &bytes.Buffer{}
	r = NewReader(t.Context(), "call-1", path, func(m Message) {
		*heard = append(*heard, m.Kind+" "+string(m.Payload))
	}, slog.New(slog.NewTextHandler(log, nil)))
	return r, path, heard, log
}

func TestLinesAreHeardOfTheirCallAlone(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		complaint  string
	}{
		{"a message", "call-1 emit {}\n", []string{"emit {}"}, ""},
		{"two", "call-1 a 1\ncall-1 b \"x y\"\n", []string{"a 1", `b "x y"`}, ""},
		{"of another call", "call-2 emit {}\ncall-1 a 1\n", []string{"a 1"}, ""},
		{"of a call whose name begins alike", "call-10 emit {}\n", nil, ""},
		{"no JSON", "call-1 emit {\n", nil, "kind and a JSON document"},
		{"no payload", "call-1 emit\n", nil, "kind and a JSON document"},
		{"two documents", "call-1 emit {} {}\n", nil, "kind and a JSON document"},
		{"invalid UTF-8", "call-1 emit \"\xff\"\n", []string{"emit \"\uFFFD\""}, ""},
		{"invalid UTF-8 for a kind", "call-1 emi\xff {}\n", []string{"emi\xff {}"}, ""},
		{"a question without a place for the answer", "call-1 ask {}\n", nil, "place for the answer"},
		{"a place that leads elsewhere", `call-1 ask {"reply":"../x"}` + "\n", nil, "place for the answer"},
		{"a question", `call-1 ask {"reply":"x"}` + "\n", []string{`ask {"reply":"x"}`}, ""},
		{"a file that is not there", "call-1 emit @x\n", nil, "cannot be read"},
		{"a file elsewhere", "call-1 emit @../x\n", nil, "cannot be read"},
		{"too long a line", "call-1 emit \"" + strings.Repeat("x", maxLine) + "\"\ncall-1 a 1\n", []string{"a 1"}, "longer than"},
		{"nothing", "\n\n", nil, ""},
		{"separators", "\x1ecall-1 a 1\n\x1e\x1ecall-1 b 2\n", []string{"a 1", "b 2"}, ""},
		{"behind half a line", "call-0 emit {\x1ecall-1 a 1\n", []string{"a 1"}, ""},
		{"behind half a line of its own", "\x1ecall-1 emit {\x1ecall-1 a 1\n", []string{"a 1"}, ""},
		{"behind half a line that is too long", strings.Repeat("x", maxLine+1) + "\x1ecall-1 a 1\n", []string{"a 1"}, ""},
		{"half a line", "call-1 emit {}", nil, ""},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes at a time", tt.name, size), func(t *testing.T) {
				r, _, heard, log := listen(t)
				for text := []byte(tt.text); len(text) > 0; {
					n, err := r.Write(text[:min(size, len(text))])
					if err != nil {
						t.Fatal(err)
					}
					text = text[n:]
				}
				if fmt.Sprint(*heard) != fmt.Sprint(tt.want) {
					t.Errorf("heard %q", *heard)
				}
				if tt.complaint != "" && !strings.Contains(log.String(), tt.complaint) || tt.complaint == "" && log.Len() > 0 {
					t.Errorf("the log is %q", log)
				}
			})
		}
	}
}

func TestAFileIsReadOnceAndLinksAreNot(t *testing.T) {
	r, path, heard, _ := listen(t)
	if err := os.WriteFile(path+".a", []byte(`"large"`), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`"secret"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, path+".link"); err != nil {
		t.Fatal(err)
	}
	_, _ = r.Write([]byte("call-1 emit @a\ncall-1 emit @link\ncall-1 emit @a\n"))
	if fmt.Sprint(*heard) != `[emit "large"]` {
		t.Errorf("heard %q", *heard)
	}
	if _, err := os.Stat(path + ".a"); err == nil {
		t.Error("the file is left")
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error("what a link led to is gone")
	}
}

func TestASenderIsAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	channel, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	large := strings.Repeat("x", 200_000)
	r := NewReader(t.Context(), "call-1", path, func(m Message) {
		if err := m.Reply.Send(t.Context(), json.RawMessage(`{"result": "`+large+`"}`)); err != nil {
			t.Error(err)
		}
	}, slog.New(slog.DiscardHandler))
	go func() {
		buf := make([]byte, 4096)
		n, _ := channel.Read(buf)
		_, _ = r.Write(buf[:n])
	}()
	answer, err := Sender{path: path, token: "call-1"}.Ask(Ask, map[string]any{"method": "x"})
	if err != nil || string(answer) != `{"result":"`+large+`"}` {
		t.Errorf("got %d bytes, %v", len(answer), err)
	}
	left, _ := filepath.Glob(path + ".*")
	if len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	// Nobody reads any more, which is no error.
	if err := (Reply{path + ".gone"}).Send(t.Context(), json.RawMessage(`{}`)); err != nil {
		t.Error(err)
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{"call-1 emit {}\n", "call-1 ask {\"reply\":\"x\"}\n", "call-1 a @b\n", "x\n\n call-1", "call-1  {}\n"} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(t.Context(), "call-1", filepath.Join(dir, "talk"), func(m Message) {
			if !json.Valid(m.Payload) || strings.ContainsAny(m.Kind, " \n") {
				t.Errorf("heard %q %q", m.Kind, m.Payload)
			}
		}, slog.New(slog.DiscardHandler))
		if n, err := r.Write(text); n != len(text) || err != nil {
			t.Errorf("wrote %d of %d, %v", n, len(text), err)
		}
	})
}

func TestAListenerHearsWhatWasSaidBeforeItListened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "updates")
	l, err := NewListener(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(UpdatesVariable, path)
	s, ok := Updates()
	if !ok {
		t.Fatal("a program does not find the channel")
	}
	for _, uri := range []string{"x:1", "x:" + strings.Repeat("2", 5000)} {
		if err := s.Say(Updated, json.RawMessage(`{"uri":"`+uri+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	heard := make(chan int)
	l.Listen(func(m Message) { heard <- len(m.Payload) }, slog.New(slog.DiscardHandler))
	if first, second := <-heard, <-heard; first != len(`{"uri":"x:1"}`) || second < 5000 {
		t.Errorf("heard messages of %d and %d bytes", first, second)
	}
	l.Close()
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
	if _, err := NewListener(path); err == nil {
		t.Error("a channel was made where there is one")
	}
}

func TestEachKindHasItsLimit(t *testing.T) {
	r, path, heard, log := listen(t)
	for kind, told := range map[string]bool{Progress: false, Updated: false, Log: true, Ask: true, Emit: true} {
		*heard = nil
		text := `{"reply":"x","text":"` + strings.Repeat("x", 100_000) + `"}`
		if err := os.WriteFile(path+".a", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Write([]byte("call-1 " + kind + " @a\n"))
		if (len(*heard) == 1) != told || strings.Contains(log.String(), "too long") == told {
			t.Errorf("%s: heard %d, the log is %q", kind, len(*heard), log)
		}
		log.Reset()
		err := Sender{path: path, token: "call-1"}.Say(kind, json.RawMessage(text))
		if errors.Is(err, errTooLong) == told {
			t.Errorf("%s: to say it gives %v", kind, err)
		}
	}
}

func TestOfACallThatEndsLittleIsHeard(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "talk")
	var sizes []int
	r := NewReader(ctx, "call-1", path, func(m Message) { sizes = append(sizes, len(m.Payload)) }, slog.New(slog.DiscardHandler))
	end()
	for range 10 {
		if err := os.WriteFile(path+".a", []byte(`"`+strings.Repeat("x", 400_000)+`"`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Write([]byte("call-1 emit @a\ncall-1 log 1\n"))
		if _, err := os.Stat(path + ".a"); err == nil {
			t.Fatal("the file is left")
		}
	}
	if len(sizes) != 13 {
		t.Errorf("heard messages of %d bytes", sizes)
	}
}
