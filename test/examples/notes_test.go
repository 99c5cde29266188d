package examples_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/test/harness"
)

const (
	garden    = "# Garden\n\nWater the tomatoes.\n"
	groceries = "# Groceries\n\n- Tomatoes\n- $(touch canary)\n"
)

// someNotes is a directory of notes, with much beside them that is none, and a
// secret outside.
func someNotes(t *testing.T) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "notes")
	write(t, filepath.Join(top, "secret.md"), secret)
	write(t, filepath.Join(dir, "garden.md"), garden)
	write(t, filepath.Join(dir, "groceries.md"), groceries)
	for _, name := range []string{"Grapes.md", "good wine.md", "green\nbeans.md", ".grass.md", "-g.md", "ginger", "folder.md/grain.md", strings.Repeat("g", 65) + ".md"} {
		write(t, filepath.Join(dir, name), secret)
	}
	link(t, "../secret.md", filepath.Join(dir, "gone-out.md"))
	link(t, filepath.Join(top, "secret.md"), filepath.Join(dir, "gone-far.md"))
	link(t, "garden.md", filepath.Join(dir, "gone-round.md"))
	link(t, "nothing", filepath.Join(dir, "gone-nowhere.md"))
	if err := unix.Mkfifo(filepath.Join(dir, "gush.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTES_DIR", dir)
	return dir
}

// around tells what is in a directory and in the one that it is in.
func around(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sameAround checks that nothing has come and nothing has gone since before.
func sameAround(t *testing.T, dir string, before []string) {
	t.Helper()
	after := around(t, dir)
	for _, path := range slices.Concat(before, after) {
		if slices.Contains(before, path) != slices.Contains(after, path) {
			t.Errorf("there before: %v, there now: %v: %s", slices.Contains(before, path), slices.Contains(after, path), path)
		}
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type (
	lists struct {
		Resources         []struct{ URI, Name, MIMEType string }
		ResourceTemplates []struct{ URITemplate, Name string }
		Prompts           []struct{ Name string }
	}
	resource struct{ URI, MIMEType, Text string }
	reading  struct{ Contents []resource }
	item     struct {
		Type, Text, URI, Name, Description string
		Resource                           resource
	}
	called struct {
		Content []item
		IsError bool
	}
	prompted struct{ Messages []struct{ Content item } }
	complete struct{ Completion struct{ Values []string } }
)

// result is what a request has for its result, as far as it is of interest.
func result[T any](t *testing.T, r harness.Reply) (v T) {
	t.Helper()
	if err := json.Unmarshal(r.Result, &v); err != nil {
		t.Fatalf("got %s: %v", r.Raw, err)
	}
	return v
}

// read is the text of a resource.
func (c *client) read(uri string) string {
	c.t.Helper()
	r := c.ask("resources/read", fmt.Sprintf(`"uri":%q`, uri))
	all := result[reading](c.t, r).Contents
	if len(all) != 1 || all[0].URI != uri || all[0].MIMEType != "text/markdown" {
		c.t.Fatalf("%s is %s", uri, r.Raw)
	}
	return all[0].Text
}

// call calls a tool, which is to succeed, and returns what it says.
func (c *client) call(tool, arguments string) []item {
	c.t.Helper()
	r := c.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	done := result[called](c.t, r)
	if done.IsError {
		c.t.Fatalf("%s: %s", tool, r.Raw)
	}
	return done.Content
}

func TestNotesAreResources(t *testing.T) {
	dir := someNotes(t)
	before := around(t, dir)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		fixed := result[lists](t, c.ask("resources/list", ""))
		if fmt.Sprint(fixed.Resources) != "[{notes:///index index text/markdown} {notes:///style style text/markdown}]" {
			t.Errorf("the resources are %v", fixed)
		}
		templates := result[lists](t, c.ask("resources/templates/list", ""))
		if fmt.Sprint(templates.ResourceTemplates) != "[{note:///{name} note}]" {
			t.Errorf("the templates are %v", templates)
		}
		for uri, want := range map[string]string{
			"note:///garden":    garden,
			"note:///%67arden":  garden,
			"note:///groceries": groceries,
			"notes:///index":    "- [garden](note:///garden)\n- [groceries](note:///groceries)\n",
			"notes:///style":    contents(t, filepath.Join(harness.Root(), "examples", "notes", "style.md")),
		} {
			if got := c.read(uri); got != want {
				t.Errorf("%s is %q", uri, got)
			}
		}
	})
	sameAround(t, dir, before)
}

func TestNothingElseIsANote(t *testing.T) {
	dir := someNotes(t)
	before := around(t, dir)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		code := -32002
		if c.revision == modern {
			code = -32602
		}
		for _, name := range []string{
			"", "none", "gone-out", "gone-far", "gone-round", "gone-nowhere", "gush", "folder", "folder%2Fgrain", "folder/grain", "Grapes", "good%20wine",
			"green%0Abeans", ".grass", "-g", "ginger", strings.Repeat("g", 65), "garden.md", "garden%0A", "%0Agarden", "garden%00", "g%2A", "*",
			"../secret", "..%2Fsecret", "%2e%2e%2fsecret", "/etc/passwd", "%2Fetc%2Fpasswd", "..%2Fnotes%2Fgarden", ".%2Fgarden", "~",
			"%24(touch%20canary)", "%FF", "gard%C3%A9n",
		} {
			uri := "note:///" + name
			r := c.ask("resources/read", fmt.Sprintf(`"uri":%q`, uri))
			if r.Error == nil || r.Error.Code != code || string(r.Error.Data) != fmt.Sprintf(`{"uri":%q}`, uri) {
				t.Errorf("%s: %s", uri, r.Raw)
			}
		}
	})
	sameAround(t, dir, before)
}

func TestNamesOfNotesAreCompleted(t *testing.T) {
	someNotes(t)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		completes := func(ref, argument, typed, want string) {
			t.Helper()
			quoted, _ := json.Marshal(typed)
			r := c.ask("completion/complete", fmt.Sprintf(`"ref":%s,"argument":{"name":%q,"value":%s}`, ref, argument, quoted))
			if got := fmt.Sprint(result[complete](t, r).Completion.Values); got != want {
				t.Errorf("%s %q: %s", ref, typed, r.Raw)
			}
		}
		const prompt = `{"type":"ref/prompt","name":"summarize"}`
		for _, ref := range []string{prompt, `{"type":"ref/resource","uri":"note:///{name}"}`} {
			for typed, want := range map[string]string{
				"": "[garden groceries]", "g": "[garden groceries]", "gr": "[groceries]", "garden": "[garden]", "gardens": "[]", "G": "[]",
				"*": "[]", "?": "[]", "[g]": "[]", "../": "[]", "../secret": "[]", "/": "[]", "-": "[]", "g\n": "[]", "$(touch canary)": "[]",
			} {
				completes(ref, "name", typed, want)
			}
		}
		completes(prompt, "length", "o", "[one sentence]")
	})
}

func TestPromptsAreMadeOfNotes(t *testing.T) {
	someNotes(t)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		if list := result[lists](t, c.ask("prompts/list", "")); fmt.Sprint(list.Prompts) != "[{summarize} {write}]" {
			t.Errorf("the prompts are %v", list)
		}
		for arguments, says := range map[string]string{
			`{"name":"garden"}`:                    "Sum this note up in one sentence.",
			`{"name":"garden","length":"a $(ls)"}`: "Sum this note up in a $(ls).",
		} {
			r := c.ask("prompts/get", `"name":"summarize","arguments":`+arguments)
			m := result[prompted](t, r).Messages
			if len(m) != 2 || m[0].Content.Resource != (resource{"note:///garden", "text/markdown", garden}) || m[1].Content.Text != says {
				t.Errorf("%s: %s", arguments, r.Raw)
			}
		}
		r := c.ask("prompts/get", `"name":"write","arguments":{"name":"bees","topic":"the {{name}}"}`)
		m := result[prompted](t, r).Messages
		if len(m) != 1 || !strings.HasPrefix(m[0].Content.Text, "Write a note about the {{name}}.\n") || !strings.HasSuffix(m[0].Content.Text, "by the name bees.") {
			t.Errorf("a file: %s", r.Raw)
		}
		for _, arguments := range []string{
			`{}`, `{"name":""}`, `{"name":"none"}`, `{"name":"gone-out"}`, `{"name":"../secret"}`, `{"name":"folder/grain"}`, `{"name":"/etc/passwd"}`,
			`{"name":"garden\n"}`, `{"name":"garden\u0000"}`, `{"name":"g*"}`, `{"name":"-"}`, `{"name":"gush"}`,
		} {
			r := c.ask("prompts/get", `"name":"summarize","arguments":`+arguments)
			if r.Error == nil || r.Error.Code != -32602 || strings.Contains(r.Raw, secret) {
				t.Errorf("%s: %s", arguments, r.Raw)
			}
		}
	})
}

func TestNotesAreFoundByWhatTheySay(t *testing.T) {
	someNotes(t)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		for word, want := range map[string]string{
			"toMATOES": "[{resource_link  note:///garden garden Water the tomatoes. {  }} {resource_link  note:///groceries groceries - Tomatoes {  }}]",
			"- T":      "[{resource_link  note:///groceries groceries - Tomatoes {  }}]",
			"$(touch":  "[{resource_link  note:///groceries groceries - $(touch canary) {  }}]",
		} {
			if got := fmt.Sprint(c.call("find_notes", fmt.Sprintf(`{"word":%q}`, word))); got != want {
				t.Errorf("%s: %s", word, got)
			}
		}
	})
	theExample(t, "notes").session([]asked{
		{"nothing", "find_notes", `{"word":"invisible"}`, true, []string{"No note has invisible in it."}},
		{"a pattern", "find_notes", `{"word":".*"}`, true, []string{"No note has .* in it."}},
		{"two words", "find_notes", `{"word":"invisible\ntomatoes"}`, true, []string{"does not match"}},
	})
}

// What a client is told comes after the answer, or before it, but in order.
func TestWhoSubscribesToANoteHearsOfIt(t *testing.T) {
	dir := someNotes(t)
	before := around(t, dir)
	everyClient(t, "notes", func(t *testing.T, c *client) {
		hears := func(uris ...string) {
			t.Helper()
			for _, uri := range uris {
				if got := c.hears(); got != uri {
					t.Errorf("heard of %s, want %s", got, uri)
				}
			}
		}
		// The first is not there yet.
		c.subscribe("note:///bees", "notes:///index")
		added := c.call("add_note", `{"name":"bees","text":"# Bees\n\nThey are \"loud\"."}`)
		if len(added) != 1 || added[0].Type != "resource_link" || added[0].URI != "note:///bees" || added[0].Name != "bees" {
			t.Errorf("it says %+v", added)
		}
		hears("note:///bees", "notes:///index")
		if index := c.read("notes:///index"); !strings.HasPrefix(index, "- [bees](note:///bees)\n- [garden](note:///garden)\n") {
			t.Errorf("the index is %q", index)
		}
		c.call("append_note", `{"name":"bees","text":"$(touch canary)"}`)
		hears("note:///bees")
		if text := c.read("note:///bees"); text != "# Bees\n\nThey are \"loud\".\n\n$(touch canary)\n" {
			t.Errorf("the note is %q", text)
		}
		// This client has not subscribed to the garden.
		c.call("append_note", `{"name":"garden","text":"Pick the beans."}`)
		c.call("remove_note", `{"name":"bees"}`)
		hears("note:///bees", "notes:///index")
		if r := c.ask("resources/read", `"uri":"note:///bees"`); r.Error == nil {
			t.Errorf("it is there still: %s", r.Raw)
		}
	})
	sameAround(t, dir, before)
	if text := contents(t, filepath.Join(dir, "garden.md")); text != garden+strings.Repeat("\nPick the beans.\n", 4) {
		t.Errorf("the garden is %q", text)
	}
}

func TestNothingButNotesIsChanged(t *testing.T) {
	dir := someNotes(t)
	before := around(t, dir)
	var table, anything []asked
	for _, tool := range []string{"add_note", "append_note", "remove_note"} {
		text := `,"text":"x"`
		if tool == "remove_note" {
			text = ""
		}
		for _, name := range []string{"../secret", "/tmp/x", "garden.md", `garden\n`, "", "-g", "Grapes", "good wine", "*", ".change/note", strings.Repeat("g", 65)} {
			arguments := fmt.Sprintf(`{"name":"%s"%s}`, name, text)
			table = append(table, asked{name, tool, arguments, true, []string{"does not match pattern"}})
			anything = append(anything, asked{name, tool, arguments, true, []string{"A name has small letters, digits and dashes."}})
		}
		says := "There is no note"
		if tool == "add_note" {
			says = "There is a note"
		}
		for _, name := range []string{"gone-out", "gone-round", "gone-nowhere", "gush", "folder"} {
			table = append(table, asked{name, tool, fmt.Sprintf(`{"name":%q%s}`, name, text), true, []string{says + " " + name}})
		}
	}
	table = append(table, asked{"a note that is there", "add_note", `{"name":"garden","text":"x"}`, true, []string{"There is a note garden already"}},
		asked{"no text", "append_note", `{"name":"garden","text":""}`, true, nil})
	theExample(t, "notes").session(table)
	theExample(t, "notes").unguarded("add_note", "append_note", "remove_note").session(anything)
	sameAround(t, dir, before)
	for path, want := range map[string]string{"garden.md": garden, "../secret.md": secret, "folder.md/grain.md": secret} {
		if text := contents(t, filepath.Join(dir, path)); text != want {
			t.Errorf("%s is %q", path, text)
		}
	}
}

// Two servers change one note, each with several calls at once. Whoever reads it
// meanwhile gets whole paragraphs, and never one that is there no more.
func TestWritersOfANoteLoseNothing(t *testing.T) {
	dir := someNotes(t)
	note := filepath.Join(dir, "log.md")
	write(t, note, "# Log\n")
	const each = 20
	var tables [2][]asked
	for i := range tables {
		for j := range each {
			text := fmt.Sprintf("%d-%d %s.", i, j, strings.Repeat("x", 9000))
			tables[i] = append(tables[i], asked{"", "append_note", fmt.Sprintf(`{"name":"log","text":%q}`, text), false, nil})
		}
		tables[i] = append(tables[i], asked{"", "add_note", fmt.Sprintf(`{"name":"race","text":"%d"}`, i), false, nil})
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() { stopped <- keepReading(note, stop) }()
	won := changeAtOnce(t, tables)
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	text := contents(t, note)
	for i := range tables {
		for j := range each {
			if n := strings.Count(text, fmt.Sprintf("\n\n%d-%d x", i, j)); n != 1 {
				t.Errorf("paragraph %d-%d is there %d times", i, j, n)
			}
		}
	}
	if n := strings.Count(text, "\n"); n != 1+2*len(tables)*each {
		t.Errorf("it has %d lines", n)
	}
	if len(won) != 1 || contents(t, filepath.Join(dir, "race.md")) != fmt.Sprintln(won[0]) {
		t.Errorf("a note was added by %v", won)
	}
	if exists(filepath.Join(dir, ".change")) {
		t.Error("something is left of a change")
	}
}

// changeAtOnce makes the calls of the first table over stdio and those of the
// second over HTTP, all at the same time, and returns by which of them a note could
// be added.
func changeAtOnce(t *testing.T, tables [2][]asked) (won []int) {
	t.Helper()
	script := theExample(t, "notes").script
	one, two := harness.Serve(t, script), harness.ServeHTTP(t, script)
	ctx, cancel := context.WithTimeout(t.Context(), tableDeadline)
	defer cancel()
	replies, errs := make([]string, len(tables[1])), make([]error, len(tables[1]))
	var calls sync.WaitGroup
	for i, c := range tables[1] {
		calls.Go(func() { replies[i], errs[i] = c.post(ctx, two.URL(), i) })
	}
	for i, c := range tables[0] {
		one.Send(harness.Call(i, c.tool, c.arguments))
	}
	judge := func(i int, line string) {
		t.Helper()
		r := harness.ParseReply(t, line)
		var id int
		if err := json.Unmarshal(r.ID, &id); err != nil || id < 0 || id >= len(tables[i]) {
			t.Fatalf("an id that was not asked with: %s", line)
		}
		text, isError := r.ToolText(t)
		if c := tables[i][id]; c.tool != "add_note" {
			c.judge(t, answer{text, isError})
		} else if !isError {
			won = append(won, i)
		}
	}
	for range tables[0] {
		judge(0, one.Line())
	}
	calls.Wait()
	for i, line := range replies {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		judge(1, line)
	}
	one.CloseInput()
	one.Wait()
	one.LeavesNothing(harness.Deadline)
	two.Terminate()
	return won
}

// A call that is cancelled once it may change something goes on to its end.
func TestAChangeThatHasBegunIsMade(t *testing.T) {
	dir := someNotes(t)
	before := around(t, dir)
	mkdir, err := exec.LookPath("mkdir")
	if err != nil {
		t.Fatal(err)
	}
	bin, begun := t.TempDir(), filepath.Join(t.TempDir(), "begun")
	write(t, filepath.Join(bin, "mkdir"), `#!/bin/sh
`+mkdir+` "$@" || exit
[ "$1" = .change ] || exit 0
: >`+begun+`
until "$CONCH_BIN" tool is-cancelled; do sleep 0.01; done
# The signal comes now.
sleep 0.2
`)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := harness.Serve(t, theExample(t, "notes").script)
	s.Send(harness.Call(1, "append_note", `{"name":"garden","text":"Pick the beans."}`))
	harness.Eventually(t, harness.Deadline, "the change begins", func() bool { return exists(begun) })
	s.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	s.CloseInput()
	s.Wait()
	s.LeavesNothing(harness.Deadline)
	sameAround(t, dir, before)
	if text := contents(t, filepath.Join(dir, "garden.md")); text != garden+"\nPick the beans.\n" {
		t.Errorf("the note is %q", text)
	}
}

// keepReading reads a note that only grows, until stop is closed.
func keepReading(path string, stop <-chan struct{}) error {
	last := ""
	for {
		select {
		case <-stop:
			return nil
		case <-time.After(100 * time.Microsecond):
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// All end in .\n but the first line.
		if now := string(text); !strings.HasPrefix(now, last) || now != "# Log\n" && !strings.HasSuffix(now, ".\n") {
			return fmt.Errorf("%d bytes were read, then %d that do not go on", len(last), len(now))
		}
		last = string(text)
	}
}

// A call that waits for one that does not end is made to end at once.
func TestAWriterThatWaitsIsStopped(t *testing.T) {
	dir := someNotes(t)
	if err := os.Mkdir(filepath.Join(dir, ".change"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := around(t, dir)
	s := harness.Serve(t, "--timeout=500ms", theExample(t, "notes").script)
	r := s.Ask(harness.Call(1, "append_note", `{"name":"garden","text":"x"}`))
	if text, isError := r.ToolText(t); !isError || !strings.Contains(text, "the limit set by --timeout") {
		t.Errorf("it says %q", text)
	}
	s.CloseInput()
	s.Wait()
	if strings.Contains(s.Stderr(), "ignored SIGTERM") {
		t.Error("it had to be killed")
	}
	s.LeavesNothing(harness.Deadline)
	sameAround(t, dir, before)
	if text := contents(t, filepath.Join(dir, "garden.md")); text != garden {
		t.Errorf("the note is %q", text)
	}
}
