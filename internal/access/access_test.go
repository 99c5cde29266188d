package access_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/access"
)

func TestWithoutTokensEverybodyIsLetIn(t *testing.T) {
	g := newGuard(t, access.Options{Path: "/mcp"})
	for _, r := range []*http.Request{request(), bearing("whatever"), request("Authorization", "?", "Authorization", "?")} {
		id, denial := g.Authenticate(r)
		if denial != nil || id.Subject != "" || id.Lacks([]string{"anything"}) != nil {
			t.Errorf("%+v, %+v", id, denial)
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		opts access.Options
		want string
	}{
		{"an audience alone", access.Options{Audience: "a"}, "an --oauth-issuer, and there is none"},
		{"an issuer alone", access.Options{Issuer: "https://i.example"}, "needs --oauth-audience or --public-url"},
		{"an issuer without https", access.Options{Issuer: "http://i.example", Audience: "a"}, "https"},
		{"an issuer that seems to be here", access.Options{Issuer: "http://localhost.i.example", Audience: "a"}, "https"},
		{"an issuer that is no URL", access.Options{Issuer: "i.example", Audience: "a"}, "not like https://"},
		{"an issuer with a query", access.Options{Issuer: "https://i.example/?x", Audience: "a"}, "not like https://"},
		{"an issuer with a password", access.Options{Issuer: "https://a:b@i.example", Audience: "a"}, "not like https://"},
		{"an issuer with a control character", access.Options{Issuer: "https://i.example/\n", Audience: "a"}, "--oauth-issuer: "},
		{"a public URL without a scheme", access.Options{Resource: "tools.example/mcp"}, "not like https://"},
		{"a public URL with a fragment", access.Options{Resource: "https://tools.example/#x"}, "not like https://"},
		{"a path that is none", access.Options{Path: "mcp"}, "does not begin with /"},
		{"no token file", access.Options{TokenFile: filepath.Join(t.TempDir(), "none")}, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := access.New(t.Context(), test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestAnIssuerOnThisMachineMayHaveHTTP(t *testing.T) {
	for _, issuer := range []string{"http://localhost:8080/realm", "http://127.0.0.1", "http://[::1]:80", "https://i.example"} {
		newGuard(t, access.Options{Issuer: issuer, Audience: "a"})
	}
}

func TestThePublicURLIsTheAudienceWhereNoneIsGiven(t *testing.T) {
	i := newIssuer(t)
	g := newGuard(t, access.Options{Issuer: i.url, Resource: audience})
	wantSubject(t, g, i.token(t, nil), "ada")
	wantDenial(t, g, bearing(i.token(t, members{"aud": "x"})), 401, "another audience")
}

const (
	pointer  = `Bearer resource_metadata="http://tools.example/.well-known/oauth-protected-resource/mcp"`
	goodText = "0123456789abcdef"
)

func TestHeadersThatBringNoToken(t *testing.T) {
	i := newIssuer(t)
	g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, Path: "/mcp", TokenFile: tokenFile(t, goodText)})
	wantSubject(t, g, goodText, "token-9f9f5111")
	for _, test := range []struct {
		name    string
		headers []string
		status  int
		message string
	}{
		{"none", nil, 401, "Authorization: Bearer TOKEN"},
		{"another scheme", []string{"Authorization", "Basic eDp5"}, 401, "Authorization: Bearer TOKEN"},
		{"another scheme alone", []string{"Authorization", "Negotiate"}, 401, "Authorization: Bearer TOKEN"},
		{"an empty one", []string{"Authorization", ""}, 400, "name of a scheme"},
		{"no scheme", []string{"Authorization", "\"" + goodText}, 400, "name of a scheme"},
		{"a tab", []string{"Authorization", "Bearer\t" + goodText}, 400, "name of a scheme"},
		{"a scheme alone", []string{"Authorization", "Bearer"}, 400, "no token behind Bearer"},
		{"a scheme and blanks", []string{"Authorization", "Bearer  "}, 400, "no token behind Bearer"},
		{"two tokens", []string{"Authorization", "Bearer " + goodText + " x"}, 400, "characters that no token has"},
		{"two headers in one", []string{"Authorization", "Bearer " + goodText + ", Bearer x"}, 400, "characters that no token has"},
		{"two headers", []string{"Authorization", "Bearer " + goodText, "Authorization", "Bearer " + goodText}, 400, "2 Authorization headers"},
		{"other characters", []string{"Authorization", "Bearer " + goodText + "é"}, 400, "characters that no token has"},
		{"a token without end", []string{"Authorization", "Bearer " + strings.Repeat("x", 16385)}, 400, "longer than 16384 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			denial := wantDenial(t, g, request(test.headers...), test.status, test.message)
			if test.status == 401 && denial.Challenge != pointer {
				t.Errorf("the challenge is %s", denial.Challenge)
			}
			if test.status == 400 && !strings.HasPrefix(denial.Challenge, pointer+`, error="invalid_request", error_description="`) {
				t.Errorf("the challenge is %s", denial.Challenge)
			}
		})
	}
	t.Run("a token in the URL", func(t *testing.T) {
		r := bearing(goodText)
		r.URL.RawQuery = "x=1&access_token=" + goodText
		wantDenial(t, g, r, 400, "not in the URL")
	})
}

func TestSpellingsOfTheScheme(t *testing.T) {
	g := newGuard(t, access.Options{TokenFile: tokenFile(t, "ada "+goodText)})
	for _, header := range []string{"Bearer " + goodText, "bearer " + goodText, "BEARER   " + goodText, " Bearer " + goodText + " "} {
		if id, denial := g.Authenticate(request("Authorization", header)); denial != nil || id.Subject != "ada" {
			t.Errorf("%q: %+v, %+v", header, id, denial)
		}
	}
}

func TestChallengesOfATokenFile(t *testing.T) {
	g := newGuard(t, access.Options{TokenFile: tokenFile(t, goodText), Path: "/mcp"})
	if got := wantDenial(t, g, request(), 401, "").Challenge; got != `Bearer realm="conch"` {
		t.Errorf("without a token: %s", got)
	}
	want := `Bearer realm="conch", error="invalid_token", error_description="the token is not known here"`
	if got := wantDenial(t, g, bearing("x"+goodText), 401, "").Challenge; got != want {
		t.Errorf("with a wrong one: %s", got)
	}
}

func TestWhereChallengesPointTo(t *testing.T) {
	i := newIssuer(t)
	for _, test := range []struct {
		name           string
		resource, path string
		host           string
		tls            bool
		want           string
	}{
		{"the public URL", "https://tools.example/x/mcp", "/mcp", "inner:80", false, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/x/mcp"`},
		{"a public URL that is a root", "https://tools.example/", "/", "inner:80", false, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource"`},
		{"a public URL without a path", "https://tools.example", "", "inner:80", false, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource"`},
		{"a request", "", "/mcp", "[::1]:80", false, `resource_metadata="http://[::1]:80/.well-known/oauth-protected-resource/mcp"`},
		{"a request by TLS", "", "/mcp", "tools.example", true, `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`},
		{"a request without a Host", "", "/mcp", "", false, `realm="conch"`},
		{"a request that would say more", "", "/mcp", `a", error="x`, false, `realm="conch"`},
		{"a request that would send more", "", "/mcp", "a\r\nSet-Cookie: x", false, `realm="conch"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, Resource: test.resource, Path: test.path})
			r := request()
			r.Host = test.host
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if got := wantDenial(t, g, r, 401, "").Challenge; got != "Bearer "+test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	id := access.Identity{Scopes: []string{"read", "write"}}
	for _, test := range []struct{ required, lacking []string }{
		{nil, nil},
		{[]string{"read"}, nil},
		{[]string{"admin", "read", "delete"}, []string{"admin", "delete"}},
	} {
		if got := id.Lacks(test.required); !reflect.DeepEqual(got, test.lacking) {
			t.Errorf("of %q it lacks %q, want %q", test.required, got, test.lacking)
		}
	}
}

func TestInsufficientScope(t *testing.T) {
	i := newIssuer(t)
	denial := i.guard(t).InsufficientScope(request(), []string{"read", "write"})
	want := pointer + `, error="insufficient_scope", scope="read write"`
	if denial.Status != 403 || denial.Challenge != want || !strings.Contains(denial.Message, "read write") {
		t.Errorf("%+v", denial)
	}
	denial = i.guard(t).InsufficientScope(request(), []string{"a\"b\\c\r\nd\x00é"})
	if want := `scope="a\"b\\c??d???"`; !strings.HasSuffix(denial.Challenge, want) {
		t.Errorf("the challenge is %s, want %s", denial.Challenge, want)
	}
}

func TestTheSameNameOfAnotherIssuerIsSomebodyElse(t *testing.T) {
	i := newIssuer(t)
	g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, TokenFile: tokenFile(t, "ada "+goodText)})
	byFile, byIssuer := wantSubject(t, g, goodText, "ada"), wantSubject(t, g, i.token(t, nil), "ada")
	again := wantSubject(t, g, i.token(t, members{"scope": "x"}), "ada")
	if byFile.Is(byIssuer) || !byIssuer.Is(again) {
		t.Errorf("%+v, %+v, %+v", byFile, byIssuer, again)
	}
	if access.Key(request(), byFile) == access.Key(request(), byIssuer) {
		t.Error("they have one key")
	}
	if !byFile.AllScopes || byIssuer.AllScopes {
		t.Errorf("%+v, %+v", byFile, byIssuer)
	}
}

// What is in the file is a token of the file, even if it is a JWT.
func TestTheTokenFileWins(t *testing.T) {
	i := newIssuer(t)
	token := i.token(t, nil)
	g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, TokenFile: tokenFile(t, "robot "+token)})
	wantSubject(t, g, token, "robot")
	if n := i.times(oauthPath); n != 0 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

func get(g *access.Guard, method string, headers ...string) *httptest.ResponseRecorder {
	r := request(headers...)
	r.Method = method
	w := httptest.NewRecorder()
	g.Metadata().ServeHTTP(w, r)
	return w
}

func TestMetadata(t *testing.T) {
	i := newIssuer(t)
	g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, Path: "/mcp", Scopes: func() []string { return []string{"read", "write"} }})
	w := get(g, http.MethodGet)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"resource":                 "http://tools.example/mcp",
		"authorization_servers":    []any{i.url},
		"scopes_supported":         []any{"read", "write"},
		"bearer_methods_supported": []any{"header"},
	}
	if w.Code != 200 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d %v", w.Code, got)
	}
	if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", w.Header())
	}
	if w := get(g, http.MethodPost); w.Code != 405 || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d %v", w.Code, w.Header())
	}
	w = get(g, http.MethodOptions, "Origin", "https://app.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Headers") != "mcp-protocol-version" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
}

func TestMetadataWithAPublicURLAndNoScopes(t *testing.T) {
	i := newIssuer(t)
	g := newGuard(t, access.Options{Issuer: i.url, Resource: "https://tools.example/x"})
	text := get(g, http.MethodGet).Body.String()
	if !strings.Contains(text, `"resource":"https://tools.example/x"`) || strings.Contains(text, "scopes_supported") {
		t.Error(text)
	}
}

func TestMetadataWithoutAHost(t *testing.T) {
	r := request()
	r.Method, r.Host = http.MethodGet, ""
	w := httptest.NewRecorder()
	newIssuer(t).guard(t).Metadata().ServeHTTP(w, r)
	if w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestNoMetadataWithoutAnIssuer(t *testing.T) {
	g := newGuard(t, access.Options{TokenFile: tokenFile(t, goodText)})
	if w := get(g, http.MethodGet); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPathsOfMetadata(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for _, test := range []struct {
		resource, path string
		want           []string
	}{
		{"", "", []string{root}},
		{"", "/", []string{root}},
		{"", "/mcp", []string{root, root + "/mcp"}},
		{"https://tools.example/mcp", "/mcp", []string{root, root + "/mcp"}},
		{"https://tools.example/x/mcp", "/mcp", []string{root, root + "/mcp", root + "/x/mcp"}},
		{"https://tools.example/", "/mcp", []string{root, root + "/mcp"}},
	} {
		got := newGuard(t, access.Options{Resource: test.resource, Path: test.path}).MetadataPaths()
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q, %q: %q", test.resource, test.path, got)
		}
	}
}
