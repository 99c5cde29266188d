package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/message"
)

// said is what a request of the drop-in file of mcp-server-bash-sdk prints, and
// whether it succeeds.
func said(what string, fields ...string) (string, bool) {
	var b bytes.Buffer
	err := mcpServerBashSDK().ask(what, fields, &b)
	return b.String(), err == nil
}

func TestRequestsOfMCPServerBashSDK(t *testing.T) {
	serverFiles(t, `{"tools":[]}`, `{"serverInfo":{"name":"n","version":"2"}}`)
	document := filepath.Join(t.TempDir(), "document")
	must(t, os.WriteFile(document, []byte("[ 1.0,\n null ]\n"), 0o600))
	const ends = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"2"}}}}` + "\n"
	tests := []struct {
		name, what string
		fields     []string
		want       string // "" for a failure
	}{
		{"a response", "response", []string{`1`, "{ \"a\": 1 }\n"}, `{"jsonrpc":"2.0","id":1,"result":{"a":1,` + ends},
		{"a response that is a list", "response", []string{`1`, `[]`}, ""},
		{"a response that is nothing", "response", []string{`1`, ``}, ""},
		{"a list", "list", []string{`"x"`}, `{"jsonrpc":"2.0","id":"x","result":{"tools":[],"ttlMs":60000,"cacheScope":"public",` + ends},
		{"who it is", "info", []string{""}, `{"name":"n","version":"2"}` + "\n"},
		{"a document", "document", []string{document}, "[1.0,null]\n"},
		{"a document that is not there", "document", []string{document + "x"}, ""},
		{"a text in base64", "decode", []string{"=?base64?Y2Fmw6k=?="}, "café"},
		{"base64 that is none", "decode", []string{"=?base64?!!?="}, ""},
		{"base64 of no text", "decode", []string{"=?base64?/w==?="}, ""},
		{"base64 with bits left over", "decode", []string{"=?base64?Y2Fmw6l=?="}, ""},
		{"what there is none of", "nonsense", []string{"1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := said(tt.what, tt.fields...); got != tt.want || ok != (tt.want != "") {
				t.Errorf("%q, %t; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestVariablesOfCachingThatMakeNoSenseAreNone(t *testing.T) {
	for _, tt := range []struct {
		ttl, scope string
		wantTTL    int64
		wantScope  string
	}{
		{"", "", 60000, "public"}, {"5", "private", 5, "private"}, {"0", "public", 0, "public"},
		{"-1", "all", 60000, "public"}, {"1.5", "", 60000, "public"}, {"x[$(id)]", "", 60000, "public"},
	} {
		t.Setenv("MCP_DEFAULT_TTL_MS", tt.ttl)
		t.Setenv("MCP_DEFAULT_CACHE_SCOPE", tt.scope)
		if ttl, scope := defaultCaching(); ttl != tt.wantTTL || scope != tt.wantScope {
			t.Errorf("%+v: %d, %s", tt, ttl, scope)
		}
	}
}

func TestServersOfMCPServerBashSDKHaveDefaultsOfTheirOwn(t *testing.T) {
	serverFiles(t, `{}`, `{}`)
	d, err := newDropInServer(mcpServerBashSDK())
	if err != nil {
		t.Fatal(err)
	}
	if d.workers != int(defaultConcurrency()) || time.Duration(d.connection.drain) != time.Minute {
		t.Errorf("%d workers, %v", d.workers, d.connection.drain)
	}
}

func TestFlagsOfHTTPAreForServersThatSpeakIt(t *testing.T) {
	serverFiles(t, `{}`, `{}`)
	t.Setenv("CONCH_FLAGS", "--max-body 1KiB --timeout 5s --token-file tokens --rate 2.5")
	d, err := newDropInServer(mcpServerBashSDK())
	if err != nil {
		t.Fatal(err)
	}
	if d.http.maxBody != 1<<10 || d.http.tokenFile != "tokens" || d.http.rate != 2.5 || d.http.maxRequests != 256 || d.limits.Timeout != 5*time.Second {
		t.Errorf("%+v, %+v", d.http, d.limits)
	}
	if _, err := newDropInServer(bashMCPSDK()); err == nil || !strings.Contains(err.Error(), "unknown flag: --max-body") {
		t.Errorf("where there is no HTTP: %v", err)
	}
	for flags, want := range map[string]string{
		"--max-body 0": "--max-body", "--tls-cert c.pem": "--tls-key", "--idle-timeout 0s": "--idle-timeout", "--max-sessions x": "--max-sessions",
		"--http :80": "MCP_HTTP_PORT", "--path /x": "MCP_HTTP_PATH", "--allow-origin *": "MCP_ALLOWED_ORIGINS", "--insecure": "--drain, --tls-cert", "-h": " and --session-timeout",
	} {
		t.Setenv("CONCH_FLAGS", flags)
		_, err := newDropInServer(mcpServerBashSDK())
		var exit *exitError
		if !errors.As(err, &exit) || exit.status != 2 || !strings.Contains(err.Error(), "$CONCH_FLAGS") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

func TestAnOriginIsAllowedWithAnyPort(t *testing.T) {
	s := httpSettings{origins: []string{"http://localhost", "https://app.example:8443"}}
	for origin, want := range map[string]bool{
		"http://localhost": true, "http://localhost:5173": true, "https://app.example:8443": true,
		"http://localhost:": false, "http://localhost:80x": false, "http://localhost.evil.example": false, "http://localhost:80/": false,
		"https://localhost": false, "HTTP://LOCALHOST": false, "https://app.example": false, "null": false, "": false, "http://evil@localhost": false,
	} {
		if got := s.allows(origin); got != want {
			t.Errorf("%q: %t", origin, got)
		}
	}
	if (httpSettings{}).allows("") {
		t.Error("a list of none allows the empty origin")
	}
}

func TestSettingsOfHTTPThatMakeNoSenseNameTheirVariable(t *testing.T) {
	good := map[string]string{"MCP_HTTP_BIND": "127.0.0.1", "MCP_HTTP_PORT": "3000", "MCP_HTTP_PATH": "/mcp", "MCP_ALLOWED_ORIGINS": " http://a , ,http://b"}
	set := func(t *testing.T) {
		for name, value := range good {
			t.Setenv(name, value)
		}
	}
	set(t)
	if s, err := readHTTPSettings(); err != nil || s.port != 3000 || strings.Join(s.origins, "|") != "http://a|http://b" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, tt := range []struct{ name, value string }{
		{"MCP_HTTP_PORT", ""}, {"MCP_HTTP_PORT", "x"}, {"MCP_HTTP_PORT", "65536"}, {"MCP_HTTP_PORT", "-1"}, {"MCP_HTTP_PATH", "mcp"},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			set(t)
			t.Setenv(tt.name, tt.value)
			_, err := readHTTPSettings()
			var exit *exitError
			if !errors.As(err, &exit) || exit.status != 2 || !strings.Contains(err.Error(), "$"+tt.name) {
				t.Errorf("%v", err)
			}
		})
	}
}

// FuzzParts takes any text apart: either it is a JSON document, and there are six
// parts on one line, or nothing is said.
func FuzzParts(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n": 1}}}`,
		`{"method":"a\u001fb\nc","id":"\u001f"}`, `{"params":[],"id":null}`, `5`, `garbage`, `{"params":{"_meta":5,"name":{"a":[1]}}}`, "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := said("parse", text)
		if valid := message.Check([]byte(strings.TrimSpace(text))) == nil; ok != valid || !ok && got != "" {
			t.Fatalf("%q: %q, %t", text, got, ok)
		}
		if ok && (strings.Count(got, unitSeparator) != 5 || strings.ContainsAny(got, "\n\r\x00") || !utf8.ValidString(got)) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
