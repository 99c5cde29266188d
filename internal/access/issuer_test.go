package access_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/conch-mcp/conch/internal/access"
)

const audience = "https://tools.example/mcp"

// Making keys is slow; the tests need different ones, not new ones.
var (
	rsaKey, rsaKey2 = newRSA(), newRSA()
	ecKeys          = map[jose.SignatureAlgorithm]*ecdsa.PrivateKey{
		jose.ES256: newEC(elliptic.P256()), jose.ES384: newEC(elliptic.P384()), jose.ES512: newEC(elliptic.P521()),
	}
	edKey = newEd()
)

func newRSA() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func newEC(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func newEd() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// testIssuer is an authorization server. What it answers may be changed while it
// serves.
type testIssuer struct {
	url string

	mu       sync.Mutex
	answers  map[string]string // by path; others are not found
	asked    map[string]int    // how often, by path
	override http.Handler      // nil, or what answers instead
}

const (
	oauthPath  = "/.well-known/oauth-authorization-server"
	openIDPath = "/.well-known/openid-configuration"
	keysPath   = "/keys"
)

// newIssuer serves by HTTP on the loopback interface.
func newIssuer(t *testing.T) *testIssuer {
	t.Helper()
	i := &testIssuer{asked: map[string]int{}}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.reset(server.URL)
	return i
}

// reset makes an issuer of this URL, with metadata where RFC 8414 has it and one
// key named "one".
func (i *testIssuer) reset(url string) {
	i.url = url
	i.answers = map[string]string{oauthPath: i.metadata()}
	i.publish(publicKey("one", &rsaKey.PublicKey))
}

func (i *testIssuer) metadata() string {
	return encode(map[string]any{"issuer": i.url, "jwks_uri": i.url + keysPath})
}

func (i *testIssuer) set(path, answer string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answers[path] = answer
}

// publish makes these the issuer's keys.
func (i *testIssuer) publish(keys ...jose.JSONWebKey) {
	i.set(keysPath, encode(jose.JSONWebKeySet{Keys: keys}))
}

func (i *testIssuer) breakDown(with http.Handler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.override = with
}

// times is how often a path was asked for.
func (i *testIssuer) times(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

func (i *testIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked[r.URL.Path]++
	answer, ok := i.answers[r.URL.Path]
	override := i.override
	i.mu.Unlock()
	switch {
	case override != nil:
		override.ServeHTTP(w, r)
	case !ok:
		http.NotFound(w, r)
	default:
		_, _ = io.WriteString(w, answer)
	}
}

// RoundTrip answers without a network.
func (i *testIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	response := w.Result()
	response.Request = r
	return response, nil
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func publicKey(kid string, key crypto.PublicKey) jose.JSONWebKey {
	return jose.JSONWebKey{KeyID: kid, Key: key}
}

// members are a JWT's claims.
type members map[string]any

// claims are those of a token that is good, with changes; nil takes one away.
func (i *testIssuer) claims(changes members) members {
	c := members{
		"iss": i.url, "aud": audience, "sub": "ada", "scope": "read write",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, value any) bool { return value == nil })
	return c
}

// token is good but for the changes.
func (i *testIssuer) token(t *testing.T, changes members) string {
	t.Helper()
	return sign(t, jose.RS256, rsaKey, "one", i.claims(changes))
}

// sign makes a JWT; kid "" leaves the key's name out.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, kid string, claims members, headers ...string) string {
	t.Helper()
	opts := (&jose.SignerOptions{}).WithType("at+jwt")
	for n := 0; n < len(headers); n += 2 {
		opts.WithHeader(jose.HeaderKey(headers[n]), headers[n+1])
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(map[string]any(claims)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// journal is a log that several goroutines may write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// wantCount expects lines that hold text.
func (j *journal) wantCount(t *testing.T, text string, want int) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if got := strings.Count(j.text.String(), text); got != want {
		t.Errorf("the log says %q %d times, want %d:\n%s", text, got, want, j.text.String())
	}
}

func newGuard(t *testing.T, opts access.Options) *access.Guard {
	t.Helper()
	g, err := access.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (i *testIssuer) guard(t *testing.T) *access.Guard {
	t.Helper()
	return newGuard(t, access.Options{Issuer: i.url, Audience: audience, Path: "/mcp"})
}

func bearing(token string) *http.Request { return request("Authorization", "Bearer "+token) }

func wantSubject(t *testing.T, g *access.Guard, token, want string) access.Identity {
	t.Helper()
	id, denial := g.Authenticate(bearing(token))
	if denial != nil {
		t.Fatalf("denied with %d: %s", denial.Status, denial.Message)
	}
	if id.Subject != want {
		t.Errorf("it is %q, want %q", id.Subject, want)
	}
	return id
}

func wantDenial(t *testing.T, g *access.Guard, r *http.Request, status int, message string) *access.Denial {
	t.Helper()
	id, denial := g.Authenticate(r)
	if denial == nil {
		t.Fatalf("let in as %+v, want %d %q", id, status, message)
	}
	if denial.Status != status || !strings.Contains(denial.Message, message) {
		t.Errorf("denied with %d %q, want %d %q", denial.Status, denial.Message, status, message)
	}
	if id.Subject != "" || id.AllScopes || id.Scopes != nil {
		t.Errorf("denied, and yet %+v", id)
	}
	return denial
}
