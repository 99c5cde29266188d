package access_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/conch-mcp/conch/internal/access"
)

// challengeForm is RFC 9110's, with the parameters that are used.
var challengeForm = regexp.MustCompile(`^Bearer [a-z_]+="(?:[ !#-\[\]-~]|\\["\\])*"(?:, [a-z_]+="(?:[ !#-\[\]-~]|\\["\\])*")*$`)

// FuzzAuthorization feeds headers. One token is in the file; nothing else that a
// fuzzer finds may be let in.
func FuzzAuthorization(f *testing.F) {
	i := &testIssuer{asked: map[string]int{}}
	i.reset("https://issuer.example")
	g, err := access.New(f.Context(), access.Options{
		TokenFile: tokenFile(f, "ada "+tokenA), Issuer: i.url, Audience: audience, Path: "/mcp",
		HTTPClient: &http.Client{Transport: i},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, header := range []string{
		"", "Bearer", "Bearer " + tokenA, "bearer  " + tokenA, "Bearer a b", "Basic eDp5", "Bearer " + tokenA + ", Bearer x", "Bearer é", "Bearer\t" + tokenA,
		"Bearer " + unsigned("none", i.claims(nil)), "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6Im9uZSJ9.e30.AA", "Bearer ..", "Bearer eyJhbGciOiJFZERTQSJ9.e30.AA",
	} {
		f.Add(header, "tools.example")
	}
	f.Add("Bearer x", "a\", error=\"b")
	f.Fuzz(func(t *testing.T, header, host string) {
		r := request("Authorization", header)
		r.Host = host
		id, denial := g.Authenticate(r)
		if denial == nil {
			scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
			if !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) != tokenA || id.Subject != "ada" {
				t.Fatalf("%q was let in as %+v", header, id)
			}
			return
		}
		if denial.Status != 400 && denial.Status != 401 {
			t.Errorf("%q: %+v", header, denial)
		}
		if !challengeForm.MatchString(denial.Challenge) || strings.Contains(denial.Message, tokenA) {
			t.Errorf("%q: %+v", header, denial)
		}
	})
}

// FuzzClaims feeds claims that the issuer has signed, and compares with what a
// plain reading of them says.
func FuzzClaims(f *testing.F) {
	i := &testIssuer{asked: map[string]int{}}
	i.reset("https://issuer.example")
	i.publish(publicKey("ed", edKey.Public()))
	g, err := access.New(f.Context(), access.Options{Issuer: i.url, Audience: audience, HTTPClient: &http.Client{Transport: i}})
	if err != nil {
		f.Fatal(err)
	}
	for _, test := range goodClaims {
		f.Add(encode(i.claims(test.changes)))
	}
	for _, test := range badClaims {
		f.Add(encode(i.claims(test.changes)))
	}
	f.Add(`{"exp":9e99,"exp":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: edKey}, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if id, denial := g.Authenticate(bearing(token)); denial == nil {
			wantPlainlyGood(t, i.url, text, id)
		}
	})
}

func wantPlainlyGood(t *testing.T, issuer, text string, id access.Identity) {
	t.Helper()
	var c map[string]any
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%q was let in: %v", text, err)
	}
	exp, isNumber := c["exp"].(float64)
	forUs := c["aud"] == audience
	if several, ok := c["aud"].([]any); ok {
		for _, one := range several {
			forUs = forUs || one == audience
		}
	}
	if c["iss"] != issuer || !forUs || !isNumber || exp < float64(time.Now().Add(-2*time.Minute).Unix()) || id.Subject == "" || id.AllScopes {
		t.Errorf("%s was let in as %+v", text, id)
	}
}

// FuzzTokenFile feeds token files. Those that are taken let in their tokens and
// nothing shorter; those that are not keep their tokens to themselves.
func FuzzTokenFile(f *testing.F) {
	f.Add("ada " + tokenA + "\n# x\n\n" + tokenB)
	f.Add(tokenC + "\r\n")
	f.Add("#" + tokenA)
	for _, test := range brokenFiles {
		if len(test.text) < 1<<10 {
			f.Add(test.text)
		}
	}
	path := tokenFile(f)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := access.New(t.Context(), access.Options{TokenFile: path})
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			token := words[len(words)-1]
			if err != nil {
				if len(token) > 8 && strings.Contains(err.Error(), token) && !strings.Contains(path+"characters openssl", token) {
					t.Errorf("the error tells %q: %v", token, err)
				}
				continue
			}
			comment := strings.HasPrefix(words[0], "#")
			if id, denial := g.Authenticate(bearing(token)); !comment && (denial != nil || !id.AllScopes || id.Subject == "") {
				t.Errorf("%q of %q is denied: %+v", token, text, denial)
			}
			if _, denial := g.Authenticate(bearing(token[:min(len(token), 15)])); denial == nil {
				t.Errorf("%q of %q is let in", token[:min(len(token), 15)], text)
			}
		}
	})
}

// FuzzOrigins feeds the headers that a page of somebody else's has a browser
// send. What is taken must be loopback or allowed for net/url as well.
func FuzzOrigins(f *testing.F) {
	for _, host := range append([]string{"", "evil.example", "tools.example:80", "a@localhost", "localhost:1:2", "[::1]x"}, loopbackHosts...) {
		f.Add(host, "http://"+host)
		f.Add("localhost", host)
	}
	f.Add("localhost", "null")
	f.Add("localhost", "https://app.example:8443")
	o := newOrigins(f, "https://app.example", "tools.example:80", true)
	f.Fuzz(func(t *testing.T, host, sent string) {
		r := request("Origin", sent)
		r.Host = host
		if o.Check(r) != nil {
			return
		}
		h, err := url.Parse("http://" + host + "/")
		if err != nil || h.Host != host || !isHere(h.Hostname()) && !strings.EqualFold(strings.TrimSuffix(h.Hostname(), "."), "tools.example") {
			t.Errorf("the host %q is taken: %v", host, err)
		}
		u, err := url.Parse(sent)
		if err != nil || u.Path != "" || u.User != nil {
			t.Fatalf("the origin %q is taken: %v", sent, err)
		}
		app := u.Scheme == "https" && strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "app.example")
		if !app && !isHere(u.Hostname()) {
			t.Errorf("the origin %q is taken", sent)
		}
	})
}

func isHere(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// FuzzPreflight feeds what a preflight asks for. What is granted must be a list
// of names.
func FuzzPreflight(f *testing.F) {
	f.Add("authorization, content-type")
	f.Add("a\r\nSet-Cookie: x")
	f.Add(strings.Repeat("a,", 9999))
	o := newOrigins(f, "", "", true)
	form := regexp.MustCompile("^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:, [!#$%&'*+.^_`|~0-9A-Za-z-]+)*)?$")
	f.Fuzz(func(t *testing.T, asked string) {
		r := request("Origin", "http://localhost", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", asked)
		r.Method = http.MethodOptions
		w := httptest.NewRecorder()
		if !o.CORS(w, r) {
			t.Fatal("not answered")
		}
		if got := w.Header().Get("Access-Control-Allow-Headers"); !form.MatchString(got) || len(got) > 16<<10 {
			t.Errorf("%q is granted %q", asked, got)
		}
	})
}
