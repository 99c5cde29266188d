package catalog

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func template(t testing.TB, uri string) *Template {
	t.Helper()
	made, err := NewTemplate(Template{Name: "t"}, uri)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestATemplateGivesTheValuesOfItsVariables(t *testing.T) {
	for _, tt := range []struct{ template, uri, want string }{
		{"x://a/{id}", "x://a/1", `{"id":"1"}`},
		{"x://a/{id}", "x://a/a%2Fb%20c", `{"id":"a/b c"}`},
		{"x://a/{id}", "x://a/..", `{"id":".."}`},
		{"x://a/{id}/b/{n}", "x://a/1/b/2", `{"id":"1","n":"2"}`},
		{"x://a/{+path}", "x://a/b/c.txt", `{"path":"b/c.txt"}`},
		{"x://a{?q,r}", "x://a?q=1&r=2", `{"q":"1","r":"2"}`},
		{"x://a{?q,r}", "x://a", `{}`},
		{"x://a{/list*}", "x://a/b/c", `{"list":["b","c"]}`},
		{"x://fixed", "x://fixed", `{}`},
		{"x://a/{id}", "x://a/1/2", ""},
		{"x://a/{id}", "x://b/1", ""},
		{"x://a/{id}", "x://a/1\n", ""},
		{"x://a/{id}", "yx://a/1", ""},
		{"x://a/{id}", "", ""},
		{"x://a/{id}", "x://a/" + strings.Repeat("a", longestURI), ""},
		{"x://a/{id}", "x://a/" + strings.Repeat(",", mostParts+1), ""},
	} {
		values, ok := template(t, tt.template).Match(tt.uri)
		got := ""
		if ok {
			text, _ := json.Marshal(values)
			got = string(text)
		}
		if got != tt.want {
			t.Errorf("%s and %.100s: got %q, want %q", tt.template, tt.uri, got, tt.want)
		}
	}
}

func TestNamesBecomePartsOfFunctionNames(t *testing.T) {
	for name, want := range map[string]string{"a-b.c d": "a_b_c_d", "héé": "h__", "x;rm -rf": "x_rm__rf", "A_9": "A_9"} {
		if got := Identifier(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// manyDigits is what makes a long template of a short one, as in {a:9999}.
var manyDigits = regexp.MustCompile(`\d\d\d`)

// Whatever matches has every variable that it gives among the template's.
func FuzzTemplate(f *testing.F) {
	f.Add("x://a/{id}", "x://a/1")
	f.Add("x://a{?q*,r}{#f}", "x://a?b=1&c=2#x")
	f.Add("{+a}{b}", "%zz%2")
	f.Add("x://{a:3}{/l*}", "x://abc/d/e")
	f.Fuzz(func(t *testing.T, text, uri string) {
		// A template is its author's: a long one may take its time.
		if len(text) > 100 || len(uri) > 300 || manyDigits.MatchString(text) {
			return
		}
		made, err := NewTemplate(Template{}, text)
		if err != nil {
			return
		}
		values, ok := made.Match(uri)
		if !ok && values != nil {
			t.Error("values without a match")
		}
		for name := range values {
			found := false
			for _, v := range made.Variables() {
				found = found || v == name
			}
			if !found {
				t.Errorf("%q gives %q, which is no variable", text, name)
			}
		}
	})
}
