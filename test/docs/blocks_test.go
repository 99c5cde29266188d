package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// block is one fenced block of a document.
type block struct {
	language string
	file     string // the name it is written to, if any
	status   int    // what a block to run ends with
	text     string
	line     int
	follows  bool // a block "text" with nothing but empty lines before it
}

var fence = regexp.MustCompile("^( *)```(\\S*) ?(.*)$")

// blocks takes the fenced blocks out of Markdown.
func blocks(t *testing.T, markdown string) []block {
	t.Helper()
	var list []block
	var open *block
	var indent string
	between := false // something has been said since the last block
	for i, line := range strings.Split(markdown, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case open == nil && mark != nil:
			b := newBlock(t, i+1, mark[2], mark[3])
			b.follows = b.language == "text" && len(list) > 0 && !between
			open, indent = &b, mark[1]
		case open == nil:
			between = between || strings.TrimSpace(line) != ""
		case mark != nil && mark[2] == "":
			open.text = strings.TrimSuffix(open.text, "\n")
			list, open, between = append(list, *open), nil, false
		default:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open != nil {
		t.Fatalf("line %d: the block does not end", open.line)
	}
	return list
}

func newBlock(t *testing.T, line int, language, info string) block {
	t.Helper()
	b := block{language: language, line: line}
	switch {
	case info == "status=1":
		b.status = 1
	case info != "" && language != "sh":
		b.file = info
	case info != "":
		t.Fatalf("line %d: what does %q say of a block to run?", line, info)
	}
	return b
}

func number4(n int) string { return fmt.Sprintf("%04d", n) }

func TestBlocksAreTakenOutOfMarkdown(t *testing.T) {
	got := blocks(t, "a\n```sh status=1\nfalse\n```\n\n```text\nno\n```\nb\n```text\nx\n```\n```json tools.json\n{}\n```\n")
	want := []block{
		{language: "sh", status: 1, text: "false", line: 2},
		{language: "text", text: "no", line: 6, follows: true},
		{language: "text", text: "x", line: 10},
		{language: "json", file: "tools.json", text: "{}", line: 13},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOutputIsComparedLineByLine(t *testing.T) {
	for _, c := range []struct {
		output, want string
		same         bool
	}{
		{"a\nb", "a\nb", true},
		{"a \nb", "a\nb", true},
		{"a\nb", "a", false},
		{"a\nx\ny\nb", "a\n…\nb", true},
		{"a\nb", "a\n…\nb", true},
		{"a\nc", "a\n…\nb", false},
		{"a.c", "abc", false},
		{"abc", "a.c", false},
	} {
		if matches(c.output, c.want) != c.same {
			t.Errorf("output %q against %q: want %v", c.output, c.want, c.same)
		}
	}
}
