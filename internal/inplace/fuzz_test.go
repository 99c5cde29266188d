package inplace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/conch-mcp/conch/internal/inplace"
)

// FuzzJSON puts a member into texts, changes it and takes it out.
func FuzzJSON(f *testing.F) {
	seed(f, "testdata/*.jsonc", jsonChanges, jsonRemovals, jsonFaults)
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		fuzz(t, text, name, inplace.ParseJSON, func(text []byte, value *map[string]any) error {
			if len(bytes.TrimSpace(text)) == 0 {
				return nil
			}
			plain, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
			if err != nil {
				return err
			}
			decoder := json.NewDecoder(bytes.NewReader(plain))
			// A number may be too large for any type of Go's.
			decoder.UseNumber()
			return decoder.Decode(value)
		})
	})
}

// FuzzTOML is FuzzJSON for TOML.
func FuzzTOML(f *testing.F) {
	seed(f, "testdata/*.toml", tomlChanges, tomlRemovals, tomlFaults)
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		fuzz(t, text, name, inplace.ParseTOML, func(text []byte, value *map[string]any) error {
			return toml.Unmarshal(text, value)
		})
	})
}

func seed(f *testing.F, files string, changes []change, removals []removal, faults []fault) {
	paths, err := filepath.Glob(files)
	if err != nil || len(paths) == 0 {
		f.Fatalf("there is no %s: %v", files, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "g")
		f.Add(text, "docs")
	}
	for _, c := range changes {
		f.Add([]byte(c.before), "g")
		f.Add([]byte(c.after), "g")
	}
	for _, c := range removals {
		f.Add([]byte(c.before), "h")
	}
	for _, c := range faults {
		// What is found to be too deep takes a fuzzer too long.
		if len(c.text) < 1000 {
			f.Add([]byte(c.text), "env")
		}
	}
}

// fuzz holds a document to all that is promised of every text. decode is the
// judge of what a text says.
func fuzz(t *testing.T, text []byte, name string, parse func([]byte) (inplace.Document, error), decode func([]byte, *map[string]any) error) {
	name = strings.ToValidUTF8(name, "?")
	d, err := parse(text)
	var fault *inplace.Error
	if errors.As(err, &fault) {
		lines := 1 + bytes.Count(text, []byte("\n"))
		if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Column > len(text)+1 || strings.ContainsAny(fault.Reason, "\r\n\x1b") {
			t.Fatalf("of %d lines: %+v", lines, fault)
		}
		return
	}
	if err != nil {
		t.Fatalf("no position: %v", err)
	}
	holder, _ := d.Get("s")
	there, err := d.Get("s", name)
	if err := d.Set("x", "s", name); err != nil {
		if !bytes.Equal(d.Text(), text) {
			t.Fatalf("refused, and changed:\n%q", d.Text())
		}
		return
	}
	if err != nil {
		t.Fatalf("set, and not found: %v", err)
	}
	before := decoded(t, text, decode)
	wantHeld(t, d.Text(), before, name, "x", decode)
	if there == nil && !isWithin(text, d.Text()) {
		t.Errorf("%q\nhas lost something of\n%q", d.Text(), text)
	}
	first := d.Text()
	if err := d.Set(server, "s", name); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, d.Text(), before, name, map[string]any{"command": "/bin/conch", "args": []any{"serve", "a b"}, "env": map[string]any{"KEY": `<"&">`}}, decode)
	if changed := changedIn(first, d.Text()); there == nil && !strings.Contains(`"x"`, changed) {
		t.Errorf("%q is changed with it in\n%q\nto\n%q", changed, first, d.Text())
	}
	if err := d.Remove("s", name); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Get("s", name); got != nil || err != nil {
		t.Errorf("%#v is left, %v", got, err)
	}
	if table, ok := holder.(inplace.Table); there == nil && ok && len(table) > 0 {
		wantBack(t, text, name, parse)
	}
}

// wantBack says that a table which is put beside others and taken out again
// leaves no trace.
func wantBack(t *testing.T, text []byte, name string, parse func([]byte) (inplace.Document, error)) {
	t.Helper()
	d := parsed(t, parse, string(text))
	if err := errors.Join(d.Set(server, "s", name), d.Remove("s", name)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(d.Text(), text) {
		t.Errorf("there and back:\n%q\nis\n%q", text, d.Text())
	}
}

func decoded(t *testing.T, text []byte, decode func([]byte, *map[string]any) error) map[string]any {
	t.Helper()
	var value map[string]any
	if err := decode(bytes.TrimPrefix(text, []byte("\ufeff")), &value); err != nil && !isComment(text) {
		t.Fatalf("%v: %q", err, text)
	}
	return value
}

// isComment reports whether a text has comments alone, which is no value for a
// parser of JSON.
func isComment(text []byte) bool {
	_, err := hujson.Parse(append(bytes.TrimPrefix(bytes.Clone(text), []byte("\ufeff")), "\n{}"...))
	return err == nil
}

// wantHeld says that a text holds what it held before, and the member.
func wantHeld(t *testing.T, text []byte, before map[string]any, name string, member any, decode func([]byte, *map[string]any) error) {
	t.Helper()
	got := decoded(t, text, decode)
	servers, _ := got["s"].(map[string]any)
	if !same(servers[name], member) {
		t.Fatalf("%#v is there in\n%q", servers[name], text)
	}
	delete(servers, name)
	old, _ := before["s"].(map[string]any)
	for other := range servers {
		if !same(servers[other], old[other]) {
			t.Fatalf("%q was %#v, and is %#v", other, old[other], servers[other])
		}
	}
	for other := range before {
		if other != "s" && !same(got[other], before[other]) {
			t.Fatalf("%q was %#v, and is %#v", other, before[other], got[other])
		}
	}
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	// What JSON cannot write is a number of TOML that is none.
	return errX != nil && errY != nil || bytes.Equal(x, y)
}

// isWithin reports whether a text is another with something put in.
func isWithin(less, more []byte) bool {
	for _, c := range more {
		if len(less) > 0 && less[0] == c {
			less = less[1:]
		}
	}
	return len(less) == 0
}

// changedIn is the part of a text that another does not have.
func changedIn(text, other []byte) string {
	for len(text) > 0 && len(other) > 0 && text[0] == other[0] {
		text, other = text[1:], other[1:]
	}
	for len(text) > 0 && len(other) > 0 && text[len(text)-1] == other[len(other)-1] {
		text, other = text[:len(text)-1], other[:len(other)-1]
	}
	return string(text)
}
