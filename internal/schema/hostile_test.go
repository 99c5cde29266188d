package schema

import (
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const catastrophic = `^(a+)+$`

func TestTimedOutMatchesReject(t *testing.T) {
	victim := strings.Repeat("a", 40) + "!"
	text := `a="` + victim + `" could not be matched against pattern ` + catastrophic + ` within 250ms.`
	runChecks(t, []checkCase{
		{"pattern", `{"properties":{"a":{"pattern":"` + catastrophic + `"}}}`, `{"a":"` + victim + `"}`, "Invalid value(s): " + text},
		{"not", `{"properties":{"a":{"not":{"pattern":"` + catastrophic + `"}}}}`, `{"a":"` + victim + `"}`, "Invalid value(s): " + text},
		{"anyOf", `{"properties":{"a":{"anyOf":[{"pattern":"` + catastrophic + `"},true]}}}`, `{"a":"` + victim + `"}`, "Invalid value(s): " + text},
		{"if", `{"properties":{"a":{"if":{"pattern":"` + catastrophic + `"},"then":false}}}`, `{"a":"` + victim + `"}`, "Invalid value(s): " + text},
		{"name", `{"patternProperties":{"` + catastrophic + `":true}}`, `{"` + strings.ReplaceAll(victim, "!", "") + `\u0021":1}`,
			`Invalid value(s): the name of "` + victim + `" could not be matched against pattern ` + catastrophic + ` within 250ms.`},
		{"graver defect first", `{"required":["b"],"properties":{"a":{"pattern":"` + catastrophic + `"}}}`, `{"a":"` + victim + `"}`,
			"Missing required parameter(s): b."},
	})
}

func TestManyTimeoutsStayWithinBudget(t *testing.T) {
	var items strings.Builder
	for i := range 500 {
		items.WriteString(`,"` + strings.Repeat("a", 40+i%7) + decimal(i) + `!"`)
	}
	s := compile(t, `{"properties":{"a":{"items":{"not":{"pattern":"`+catastrophic+`"}}}}}`)
	s.limits.matching = time.Second
	began := time.Now()
	got := s.Check(json.RawMessage(`{"a":["b"` + items.String() + `]}`))
	if !strings.Contains(got, "within 250ms; ") || !strings.Contains(got, "within 1s for all values together; ") || !strings.HasSuffix(got, " more.") {
		t.Errorf("got %.500s", got)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestExponentialSchemasEnd(t *testing.T) {
	for name, text := range map[string]string{
		"allOf": `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
		"anyOf": `{"required":["b"],"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
		"not":   `{"properties":{"a":{"allOf":[{"not":{"not":{"$ref":"#"}}},{"not":{"not":{"$ref":"#"}}}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			arguments := strings.Repeat(`{"b":1,"a":`, 60) + `{}` + strings.Repeat(`}`, 60)
			s := compile(t, text)
			s.limits.steps = 100_000
			got := s.Check(json.RawMessage(arguments))
			want := "Invalid value(s): the arguments object could not be accepted: judging it against the schema takes too much work."
			if got != want {
				t.Errorf("got %.300q", got)
			}
		})
	}
}

func TestDeepArguments(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"$ref":"#"},"v":{"type":"string"}},"additionalProperties":false,"uniqueItems":true}`)
	for _, depth := range []int{100, 9_000} {
		open := strings.Repeat(`{"a":`, depth)
		if got := s.Check(json.RawMessage(open + `{}` + strings.Repeat(`}`, depth))); got != "" {
			t.Errorf("depth %d: %.200s", depth, got)
		}
		got := s.Check(json.RawMessage(strings.Repeat(`{"x":1,"a":`, depth) + `{}` + strings.Repeat(`}`, depth)))
		if !strings.HasPrefix(got, "Unknown parameter(s): ") || len(got) > 8<<10 {
			t.Errorf("depth %d: %d bytes: %.200s", depth, len(got), got)
		}
	}
	if got := s.Check(json.RawMessage(strings.Repeat(`{"a":`, 50_000) + `{}` + strings.Repeat(`}`, 50_000))); !strings.HasPrefix(got, "Invalid arguments: ") {
		t.Errorf("got %.200s", got)
	}
}

// largeDocuments are arguments that are large in one respect each.
func largeDocuments(size int) []largeDocument {
	items := func(rules string) string { return `{"properties":{"a":{"items":` + rules + `}}}` }
	list := func(item string) string {
		return `{"a":[` + strings.TrimSuffix(strings.Repeat(item+",", size/(len(item)+1)), ",") + `]}`
	}
	return []largeDocument{
		{"integers", items(`{"type":"integer","minimum":0}`), list("12345"), true},
		{"digits", items(`{"type":"integer"}`), list("1"), true},
		{"wrong type", items(`{"type":"string"}`), list("1"), false},
		{"no alternative", items(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), list("1"), false},
		{"huge numbers", items(`{"type":"integer","multipleOf":7,"maximum":1e999999999}`), list("7e999999"), true},
		{"pattern", items(`{"pattern":"^[a-z]+$"}`), list(`"abcdefghijklmnop"`), true},
		{"objects", items(`{"type":"object","required":["k"],"additionalProperties":false,"properties":{"k":{"type":"integer"}}}`), list(`{"k":1}`), true},
		{"unknown", items(`{"additionalProperties":false}`), list(`{"k":1}`), false},
		{"distinct", `{"properties":{"a":{"uniqueItems":true}}}`, distinctItems(size), true},
		{"one string", items(`{"maxLength":5}`), `{"a":["` + strings.Repeat("x", size) + `"]}`, false},
	}
}

type largeDocument struct {
	name, schema, arguments string
	valid                   bool
}

func distinctItems(size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		out.WriteString(decimal(i) + `,{"k":` + decimal(i) + `},`)
	}
	return `{"a":[` + strings.TrimSuffix(out.String(), ",") + `]}`
}

func TestLargeArguments(t *testing.T) {
	for _, c := range largeDocuments(128 << 10) {
		t.Run(c.name, func(t *testing.T) {
			s := compile(t, c.schema)
			began := time.Now()
			if got := s.Check(json.RawMessage(c.arguments)); (got == "") != c.valid {
				t.Errorf("got %.300q", got)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestConcurrentChecks(t *testing.T) {
	s := compile(t, typedSchema)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if got := s.Check(json.RawMessage(`{"name":"a","count":1,"tags":["a"]}`)); got != "" {
					t.Errorf("got %s", got)
				}
				if got := s.Check(json.RawMessage(`{"name":"A"}`)); got == "" {
					t.Error("accepted a name that does not match")
				}
			}
		})
	}
	group.Wait()
}

func TestChecksLeaveNoGoroutinesBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	s := compile(t, typedSchema)
	for range 100 {
		s.Check(json.RawMessage(`{"name":"a"}`))
	}
	// The engine's one clock may run on for a while after the last match.
	if after := runtime.NumGoroutine(); after > before+1 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}
