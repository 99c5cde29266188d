package access_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/conch-mcp/conch/internal/access"
)

func TestEveryAlgorithmWithAPublicKey(t *testing.T) {
	keys := map[jose.SignatureAlgorithm]any{jose.EdDSA: edKey}
	published := []jose.JSONWebKey{publicKey("EdDSA", edKey.Public())}
	for _, alg := range []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512} {
		keys[alg] = rsaKey
		published = append(published, publicKey(string(alg), &rsaKey.PublicKey))
	}
	for alg, key := range ecKeys {
		keys[alg] = key
		published = append(published, publicKey(string(alg), &key.PublicKey))
	}
	i := newIssuer(t)
	i.publish(published...)
	g := i.guard(t)
	for alg, key := range keys {
		t.Run(string(alg), func(t *testing.T) {
			wantSubject(t, g, sign(t, alg, key, string(alg), i.claims(nil)), "ada")
			wantSubject(t, g, sign(t, alg, key, "", i.claims(nil)), "ada")
		})
	}
	if got := i.times(keysPath); got != 1 {
		t.Errorf("the keys were fetched %d times", got)
	}
}

var goodClaims = []struct {
	name    string
	changes members
	subject string
	scopes  []string
}{
	{"as they are", nil, "ada", []string{"read", "write"}},
	{"several audiences", members{"aud": []string{"other", audience}}, "ada", []string{"read", "write"}},
	{"no scope", members{"scope": nil}, "ada", nil},
	{"an empty scope", members{"scope": " "}, "ada", nil},
	{"scp as an array", members{"scope": nil, "scp": []string{"a", "b"}}, "ada", []string{"a", "b"}},
	{"scp as a string", members{"scope": nil, "scp": "a b"}, "ada", []string{"a", "b"}},
	{"no subject but a client", members{"sub": nil, "client_id": "robot", "azp": "other"}, "robot", []string{"read", "write"}},
	{"no subject but a party", members{"sub": nil, "azp": "robot"}, "robot", []string{"read", "write"}},
	{"expired within the leeway", members{"exp": fromNow(-30 * time.Second)}, "ada", []string{"read", "write"}},
	{"valid from within the leeway", members{"nbf": fromNow(30 * time.Second)}, "ada", []string{"read", "write"}},
	{"a fraction of a second", members{"exp": float64(fromNow(time.Hour)) + 0.5}, "ada", []string{"read", "write"}},
}

func fromNow(d time.Duration) int64 { return time.Now().Add(d).Unix() }

func TestClaimsThatAreTaken(t *testing.T) {
	i := newIssuer(t)
	g := i.guard(t)
	for _, test := range goodClaims {
		t.Run(test.name, func(t *testing.T) {
			id := wantSubject(t, g, i.token(t, test.changes), test.subject)
			if id.AllScopes || id.Issuer != i.url || !reflect.DeepEqual(append([]string(nil), id.Scopes...), test.scopes) {
				t.Errorf("it is %+v, want scopes %q", id, test.scopes)
			}
		})
	}
}

var badClaims = []struct {
	name    string
	changes members
	message string
}{
	{"another audience", members{"aud": "https://other.example"}, "another audience"},
	{"an audience that begins alike", members{"aud": audience + "/x"}, "another audience"},
	{"other audiences", members{"aud": []string{"a", "b"}}, "another audience"},
	{"no audience", members{"aud": nil}, "another audience"},
	{"an audience that is none", members{"aud": 5}, "a claim that is not as it should be"},
	{"another issuer", members{"iss": "https://evil.example"}, "another issuer"},
	{"no issuer", members{"iss": nil}, "another issuer"},
	{"no expiry", members{"exp": nil}, "does not expire"},
	{"expired", members{"exp": fromNow(-2 * time.Minute)}, "has expired"},
	{"an expiry that is a string", members{"exp": "tomorrow"}, "a claim that is not as it should be"},
	{"an expiry beyond all time", members{"exp": 1e300}, "a claim that is not as it should be"},
	{"not valid yet", members{"nbf": fromNow(2 * time.Minute)}, "not valid yet"},
	{"made in the future", members{"iat": fromNow(2 * time.Minute)}, "not valid yet"},
	{"nobody", members{"sub": nil}, "whom it was made out to"},
	{"a subject that is a number", members{"sub": 5}, "a claim that is not as it should be"},
	{"a scope that is a number", members{"scope": 5}, "a claim that is not as it should be"},
}

func TestClaimsThatAreRefused(t *testing.T) {
	i := newIssuer(t)
	g := i.guard(t)
	for _, test := range badClaims {
		t.Run(test.name, func(t *testing.T) {
			denial := wantDenial(t, g, bearing(i.token(t, test.changes)), 401, test.message)
			wantChallenge(t, denial, `error="invalid_token"`)
		})
	}
}

func wantChallenge(t *testing.T, denial *access.Denial, want string) {
	t.Helper()
	if !strings.Contains(denial.Challenge, want) {
		t.Errorf("the challenge is %s, want %s in it", denial.Challenge, want)
	}
}

// Forgers know all that is public.
func TestForgedTokens(t *testing.T) {
	i := newIssuer(t)
	// A key that says what it is for does nothing else.
	i.publish(publicKey("one", &rsaKey.PublicKey),
		jose.JSONWebKey{KeyID: "encrypts", Use: "enc", Key: &rsaKey2.PublicKey},
		jose.JSONWebKey{KeyID: "other", Algorithm: "PS256", Key: &rsaKey2.PublicKey},
		jose.JSONWebKey{KeyID: "shared", Key: []byte(strings.Repeat("k", 64))})
	g := i.guard(t)
	claims := i.claims(nil)
	good := i.token(t, nil)
	wantSubject(t, g, good, "ada")

	const wrongKey, noKey, noJWT = "signature that is not its issuer's", "key that its issuer does not have", "no JWT"
	parts := strings.Split(good, ".")
	for _, test := range []struct{ name, token, message string }{
		{"no algorithm", unsigned("none", claims), noJWT},
		{"no algorithm, in capitals", unsigned("NONE", claims), noJWT},
		{"an algorithm that is empty", unsigned("", claims), noJWT},
		{"HS256 with the public key as PEM", sign(t, jose.HS256, publicPEM(t), "one", claims), noJWT},
		{"HS256 with the public key as bytes", sign(t, jose.HS256, rsaKey.N.Bytes(), "one", claims), noJWT},
		{"HS256 with a published secret", sign(t, jose.HS256, []byte(strings.Repeat("k", 64)), "shared", claims), noJWT},
		{"somebody's key under the issuer's name", sign(t, jose.RS256, rsaKey2, "one", claims), wrongKey},
		{"somebody's key without a name", sign(t, jose.ES256, ecKeys[jose.ES256], "", claims), wrongKey},
		{"an unknown key", sign(t, jose.RS256, rsaKey2, "two", claims), noKey},
		{"a key of the issuer's for encryption", sign(t, jose.RS256, rsaKey2, "encrypts", claims), noKey},
		{"a key of the issuer's for another algorithm", sign(t, jose.RS256, rsaKey2, "other", claims), noKey},
		{"the key in the token", embedded(t, claims), wrongKey},
		{"the place of the key in the token", sign(t, jose.RS256, rsaKey2, "one", claims, "jku", "http://127.0.0.1:1/keys"), wrongKey},
		{"changed claims", parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(encode(i.claims(members{"sub": "root"})))) + "." + parts[2], wrongKey},
		{"no signature", parts[0] + "." + parts[1] + ".", wrongKey},
		{"two parts", parts[0] + "." + parts[1], noJWT},
		{"four parts", good + ".x", noJWT},
		{"nothing but dots", "..", noJWT},
		{"no JWT", "0123456789abcdef", noJWT},
		{"JSON", `{"payload":"","signatures":[]}`, noJWT},
		{"a token for logging out", sign(t, jose.RS256, rsaKey, "one", claims, "typ", "logout+jwt"), "no access token"},
		{"an extension that must be understood", sign(t, jose.RS256, rsaKey, "one", claims, "crit", "x"), wrongKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			denial := wantDenial(t, g, bearing(test.token), 401, test.message)
			wantChallenge(t, denial, `error="invalid_token"`)
		})
	}
	wantSubject(t, g, good, "ada")
}

func unsigned(alg string, claims members) string {
	header := encode(map[string]string{"alg": alg, "typ": "at+jwt", "kid": "one"})
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(encode(claims))) + "."
}

func publicPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// embedded brings the public key that it is signed with.
func embedded(t *testing.T, claims members) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: rsaKey2}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(encode(claims)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTypesOfTokens(t *testing.T) {
	i := newIssuer(t)
	g := i.guard(t)
	for _, typ := range []string{"JWT", "at+jwt", "application/at+jwt"} {
		wantSubject(t, g, sign(t, jose.RS256, rsaKey, "one", i.claims(nil), "typ", typ), "ada")
	}
}
