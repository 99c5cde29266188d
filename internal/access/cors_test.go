package access_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPagesThatMayRead(t *testing.T) {
	o := newOrigins(t, "https://app.example", "", true)
	w := httptest.NewRecorder()
	if o.CORS(w, request("Origin", "https://app.example:8443")) {
		t.Error("a POST is taken for a preflight")
	}
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "https://app.example:8443" || h.Get("Vary") != "Origin" ||
		h.Get("Access-Control-Expose-Headers") != "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After" {
		t.Errorf("headers %v", h)
	}
}

func TestPagesThatMayNotRead(t *testing.T) {
	o := newOrigins(t, "https://app.example", "", true)
	for _, origins := range [][]string{nil, {""}, {"null"}, {"https://evil.example"}, {"https://app.example", "https://app.example"}} {
		r := request("Access-Control-Request-Method", "POST")
		r.Method = http.MethodOptions
		r.Header["Origin"] = origins
		w := httptest.NewRecorder()
		if o.CORS(w, r) {
			t.Errorf("%q: a preflight was answered", origins)
		}
		if h := w.Header(); len(h) != 1 || h.Get("Vary") != "Origin" {
			t.Errorf("%q: headers %v", origins, h)
		}
	}
}

func TestPreflights(t *testing.T) {
	o := newOrigins(t, "https://app.example", "", true)
	for _, test := range []struct {
		name  string
		asked []string
		want  string
	}{
		{"nothing", nil, ""},
		{"some", []string{"authorization, content-type,Mcp-Session-Id"}, "authorization, content-type, Mcp-Session-Id"},
		{"two lists", []string{"a", "b"}, "a, b"},
		{"what is no name", []string{"a, b c, , é, d:e, f\r\nSet-Cookie: x, g\x00, \"h\", i"}, "a, i"},
		{"a name without end", []string{"a," + strings.Repeat("x", 5000)}, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request("Origin", "https://app.example", "Access-Control-Request-Method", "POST")
			r.Method = http.MethodOptions
			r.Header["Access-Control-Request-Headers"] = test.asked
			w := httptest.NewRecorder()
			if !o.CORS(w, r) || w.Code != http.StatusNoContent {
				t.Fatalf("not answered: %d", w.Code)
			}
			h := w.Header()
			if h.Get("Access-Control-Allow-Headers") != test.want || h.Get("Access-Control-Allow-Methods") != "GET, POST, DELETE" ||
				h.Get("Access-Control-Max-Age") == "" || h.Get("Access-Control-Allow-Origin") != "https://app.example" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

func TestOptionsThatIsNoPreflight(t *testing.T) {
	r := request("Origin", "http://localhost")
	r.Method = http.MethodOptions
	if newOrigins(t, "", "", true).CORS(httptest.NewRecorder(), r) {
		t.Error("it was answered")
	}
}
