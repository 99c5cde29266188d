package doctor

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// sorted is what is handed on of an output, and what is kept.
func sorted(t *testing.T, output string) (handed string, kept []string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		defer w.Close()
		// Of a pipe that nobody reads to its end nothing is to be said.
		_, _ = io.WriteString(w, output)
	}()
	m := newMessages(r)
	text, err := io.ReadAll(m)
	if err != nil {
		t.Fatal(err)
	}
	<-written
	m.close()
	return string(text), m.noise()
}

func TestMessagesAreToldFromNoise(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, test := range []struct {
		output, handed string
		kept           string // joined by "|"
	}{
		{"", "", ""},
		{message + "\n", message + "\n", ""},
		{" " + message + "\r\n\n" + message, message + "\n" + message + "\n", ""},
		{"[" + message + "]\n", "[" + message + "]\n", ""},
		{"Loading\n" + message + "\nReady", message + "\n", "Loading|Ready"},
		{`{"jsonrpc":"1.0"}` + "\n{}\n1\n\"x\"\n", "", `{"jsonrpc":"1.0"}|{}|1|"x"`},
		{message + message + "\n", "", message + message},
		{"1\n2\n3\n4\n5\n6\n7\n" + message, message + "\n", "1|2|3|4|5"},
		{"\xff\n", "", "\uFFFD"},
	} {
		handed, kept := sorted(t, test.output)
		if handed != test.handed || strings.Join(kept, "|") != test.kept {
			t.Errorf("%q: %q and %q; want %q and %q", test.output, handed, kept, test.handed, test.kept)
		}
	}
}

// FuzzMessages looks for an output of which something is handed on that is no
// JSON, or kept that does not fit in a line.
func FuzzMessages(f *testing.F) {
	for _, output := range []string{"", "x", "{}\n", "[1]\n", `{"jsonrpc":"2.0"}` + "\r\n", "\xff\n", strings.Repeat("long ", 100)} {
		f.Add(output)
	}
	f.Fuzz(func(t *testing.T, output string) {
		handed, kept := sorted(t, output)
		for line := range bytes.Lines([]byte(handed)) {
			if !json.Valid(line) {
				t.Errorf("%q: %q is handed on", output, line)
			}
		}
		for _, line := range kept {
			if utf8.RuneCountInString(line) > 121 || !utf8.ValidString(line) || strings.Contains(line, "\n") {
				t.Errorf("%q: %q is kept", output, line)
			}
		}
	})
}

func TestFirstLines(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "#": "", "echo": "", "#!/bin/sh\n": "", "#!/usr/bin/env bash\nx": "bash", "#! /usr/bin/env -S conch serve": "conch",
		"#!/usr/bin/env A=1 bash": "bash", "#!/usr/bin/env": "", "#!/usr/bin/env\tconch\r\n": "conch\r", "#!/opt/environment x": "",
	} {
		if got := asked(firstLine([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTheLastLinesOfMuch(t *testing.T) {
	if got := strings.Join(lines("a\n\nb \r\nc\nd\n", 3), "|"); got != "b|c|d" {
		t.Errorf("%q", got)
	}
	if got := lines("", 3); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
