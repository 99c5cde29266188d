package httpd

import (
	"fmt"
	"net/http"
	"testing"
)

func TestAccepts(t *testing.T) {
	const json, events = "application/json", "text/event-stream"
	tests := []struct {
		accept string
		json   bool
		events bool
	}{
		{"application/json, text/event-stream", true, true},
		{"application/json,text/event-stream;q=0.1", true, true},
		{"APPLICATION/JSON", true, false},
		{"*/*", true, true},
		{"application/*", true, false},
		{"*/*;q=0", false, false},
		{"*/*, application/json;q=0", false, true},
		{"application/*;q=0, application/json", true, false},
		{"application/json;q=0.000", false, false},
		{"application/json;q=x", false, false},
		{"text/html", false, false},
		{",,;", false, false},
		{"application/jsonx", false, false},
	}
	for _, tt := range tests {
		header := http.Header{"Accept": {tt.accept}}
		if got := accepts(header, json); got != tt.json {
			t.Errorf("%q: JSON %v", tt.accept, got)
		}
		if got := accepts(header, events); got != tt.events {
			t.Errorf("%q: events %v", tt.accept, got)
		}
	}
	if !accepts(http.Header{}, json) {
		t.Error("without the header anything is accepted")
	}
	if split := (http.Header{"Accept": {json, events}}); !accepts(split, json) || !accepts(split, events) {
		t.Error("two headers are one list")
	}
}

func TestEventIDs(t *testing.T) {
	for text, want := range map[string]cursor{"0-0": {}, "1-2": {1, 2}, "999999999-7": {999999999, 7}} {
		if got, ok := parseEventID(text); !ok || got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", "1", "1-", "-1", "+1-1", "1-1-1", "1--1", "1 -1", "1000000000-1", "a-1", "١-1"} {
		if got, ok := parseEventID(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzEventID(f *testing.F) {
	for _, seed := range []string{"0-0", "12-345", "-", "1-", "999999999-999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseEventID(text)
		if !ok {
			return
		}
		again, ok := parseEventID(fmt.Sprintf("%d-%d", c.stream, c.event))
		if !ok || again != c || c.stream < 0 || c.event < 0 {
			t.Errorf("%q is %v, which is %v, %v", text, c, again, ok)
		}
	})
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"*/*", "application/json, text/event-stream", "a/b;q=\"0\"", ";,/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refused := http.Header{"Accept": {text, "application/json;q=0"}}
		offered := http.Header{"Accept": {"application/json", text}}
		if !accepts(offered, "application/json") {
			t.Errorf("%q takes away what was accepted", text)
		}
		_ = accepts(refused, "application/json")
	})
}
