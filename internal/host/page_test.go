package host

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func promptList(names ...string) string {
	entries := make([]string, len(names))
	for i, name := range names {
		entries[i] = fmt.Sprintf(`{"name":%q,"file":"f"}`, name)
	}
	return `{"prompts":[` + strings.Join(entries, ",") + `]}`
}

// page asks for a page of prompts.
func (s *stage) page(cursor string) (names []string, next string, code int) {
	s.t.Helper()
	r := s.ask("prompts/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
	if r.Error != nil {
		return nil, "", r.Error.Code
	}
	var result struct {
		Prompts    []struct{ Name string }
		NextCursor string
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range result.Prompts {
		names = append(names, p.Name)
	}
	return names, result.NextCursor, 0
}

func TestPagesMakeTheWholeList(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	for _, want := range []string{"", "a", "a b", "a b c", "a b c d", "a b c d e"} {
		s.write("prompts.json", promptList(strings.Fields(want)...))
		var all []string
		for cursor := ""; ; {
			names, next, code := s.page(cursor)
			if code != 0 || len(names) > 2 {
				t.Fatalf("a page of %q, error %d", names, code)
			}
			all = append(all, names...)
			if cursor = next; cursor == "" {
				break
			}
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestACursorStaysGoodWhileItsEntryDoes(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	s.write("prompts.json", promptList("a", "b", "c"))
	_, cursor, _ := s.page("")
	for list, want := range map[string]string{"a b c d e": "c d", "z a b": "", "b c": "c", "b": ""} {
		s.write("prompts.json", promptList(strings.Fields(list)...))
		if names, _, code := s.page(cursor); code != 0 || strings.Join(names, " ") != want {
			t.Errorf("after %s come %q, error %d", list, names, code)
		}
	}
	s.write("prompts.json", promptList("a", "c"))
	if _, _, code := s.page(cursor); code != -32602 {
		t.Errorf("without its entry: error %d", code)
	}
}

func TestNoOtherCursorIsTaken(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	s.write("prompts.json", promptList("a", "b", "c"))
	for _, cursor := range []string{"x", "2", "a", newCursor("tools", "a"), newCursor("prompts", "gone"), newCursor("prompts", "a") + "=", newCursor("prompts", "a") + "\n", " "} {
		if _, _, code := s.page(cursor); code != -32602 {
			t.Errorf("%q: error %d", cursor, code)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("prompts", "a", "cHJvbXB0cwph")
	f.Add("tools", "\n", "")
	f.Fuzz(func(t *testing.T, list, key, foreign string) {
		if strings.Contains(list, "\n") {
			return
		}
		if got, ok := readCursor(list, newCursor(list, key)); !ok || got != key {
			t.Errorf("%q of %q is read as %q, %v", key, list, got, ok)
		}
		if last, ok := readCursor(list, foreign); ok && newCursor(list, last) != foreign {
			t.Errorf("%q is taken for %q", foreign, newCursor(list, last))
		}
	})
}
