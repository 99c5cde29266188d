package access_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/conch-mcp/conch/internal/access"
)

func TestWhereMetadataIs(t *testing.T) {
	for _, test := range []struct{ name, path, place string }{
		{"OAuth", "", oauthPath},
		{"OAuth with a path", "/tenant", oauthPath + "/tenant"},
		{"OAuth with a longer path", "/a/b", oauthPath + "/a/b"},
		{"OpenID", "", openIDPath},
		{"OpenID before the path", "/tenant", openIDPath + "/tenant"},
		{"OpenID behind the path", "/tenant", "/tenant" + openIDPath},
		{"a slash at the end", "/", openIDPath},
		{"a slash at the end of a path", "/tenant/", oauthPath + "/tenant"},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIssuer(t)
			i.url += test.path
			i.answers = map[string]string{
				test.place: encode(map[string]string{"issuer": i.url, "jwks_uri": strings.TrimSuffix(i.url, test.path) + keysPath}),
			}
			i.publish(publicKey("one", &rsaKey.PublicKey))
			wantSubject(t, i.guard(t), i.token(t, nil), "ada")
		})
	}
}

// Without the issuer's keys no token can be told from another, so it is nobody's
// fault but the issuer's.
func TestIssuersThatAreUseless(t *testing.T) {
	elsewhere := newIssuer(t)
	for _, test := range []struct {
		name  string
		spoil func(*testIssuer)
		log   string
	}{
		{"nothing found", func(i *testIssuer) { i.breakDown(http.NotFoundHandler()) }, "status 404"},
		{"a failure", func(i *testIssuer) {
			i.breakDown(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
		}, "status 500"},
		{"no JSON", func(i *testIssuer) { i.set(oauthPath, "<html>") }, "invalid character"},
		{"another issuer", func(i *testIssuer) {
			i.set(oauthPath, encode(map[string]string{"issuer": i.url + "/", "jwks_uri": i.url + keysPath}))
		}, "must be given exactly so"},
		{"no place of keys", func(i *testIssuer) { i.set(oauthPath, encode(map[string]string{"issuer": i.url})) }, "no usable jwks_uri"},
		{"keys without https", func(i *testIssuer) {
			i.set(oauthPath, encode(map[string]string{"issuer": i.url, "jwks_uri": "http://keys.example/"}))
		}, "jwks_uri without https"},
		{"metadata that is too large", func(i *testIssuer) { i.set(oauthPath, strings.Repeat(" ", 1<<20)+i.metadata()) }, "larger than 1 MiB"},
		{"keys that are too large", func(i *testIssuer) { i.set(keysPath, strings.Repeat(" ", 1<<20)+`{"keys":[]}`) }, "larger than 1 MiB"},
		{"no keys", func(i *testIssuer) { i.publish() }, "no public key"},
		{"a redirect to another host", func(i *testIssuer) {
			i.breakDown(http.RedirectHandler(elsewhere.url+oauthPath, http.StatusFound))
		}, "another host"},
		{"redirects without end", func(i *testIssuer) { i.breakDown(http.RedirectHandler("/", http.StatusFound)) }, "redirects more than 5 times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIssuer(t)
			test.spoil(i)
			var log journal
			g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, Log: log.logger()})
			denial := wantDenial(t, g, bearing(i.token(t, nil)), 503, "cannot be checked for now")
			if denial.RetryAfter <= 0 {
				t.Error("it does not say when to come again")
			}
			log.mu.Lock()
			defer log.mu.Unlock()
			if !strings.Contains(log.text.String(), test.log) {
				t.Errorf("the log does not say %q:\n%s", test.log, log.text.String())
			}
		})
	}
	if n := elsewhere.times(oauthPath); n != 0 {
		t.Errorf("a redirect to another host was followed %d times", n)
	}
}

func TestARedirectOnTheIssuersHostIsFollowed(t *testing.T) {
	i := newIssuer(t)
	moved := &testIssuer{url: i.url, asked: map[string]int{}}
	moved.reset(i.url)
	i.breakDown(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, old := strings.CutPrefix(r.URL.Path, "/new"); old {
			r.URL.Path = path
			moved.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, "/new"+r.URL.Path, http.StatusFound)
	}))
	wantSubject(t, i.guard(t), i.token(t, nil), "ada")
}

// A text that nobody could be the issuer of does not bring the issuer into play.
func TestOpaqueTokensAreNotTheIssuersBusiness(t *testing.T) {
	i := newIssuer(t)
	i.breakDown(http.NotFoundHandler())
	wantDenial(t, i.guard(t), bearing("0123456789abcdef"), 401, "not known here")
	if n := i.times(oauthPath); n != 0 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

func TestKeysThatAreNotUnderstoodAreLeftOut(t *testing.T) {
	i := newIssuer(t)
	good, err := publicKey("one", &rsaKey.PublicKey).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	i.set(keysPath, `{"keys":[{"kty":"OKP","crv":"Ed448","x":"AA"},{"kty":"new"},5,{},`+string(good)+`]}`)
	wantSubject(t, i.guard(t), i.token(t, nil), "ada")
}

func TestAStormOfUnknownKeys(t *testing.T) {
	i := newIssuer(t)
	g := i.guard(t)
	good := i.token(t, nil)
	var tokens []string
	for n := range 50 {
		tokens = append(tokens, sign(t, jose.EdDSA, edKey, fmt.Sprintf("forged-%d", n), i.claims(nil)))
	}
	var storm sync.WaitGroup
	for _, token := range tokens {
		storm.Go(func() { wantDenial(t, g, bearing(token), 401, "does not have") })
		storm.Go(func() { wantSubject(t, g, good, "ada") })
	}
	storm.Wait()
	if n := i.times(keysPath); n < 1 || n > 2 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// In what follows there is no network, and time is the test's own.

// newTimedIssuer returns an issuer and a Guard that asks it.
func newTimedIssuer(t *testing.T) (*testIssuer, *access.Guard, *journal) {
	t.Helper()
	i := &testIssuer{asked: map[string]int{}}
	i.reset("https://issuer.example")
	log := &journal{}
	g := newGuard(t, access.Options{Issuer: i.url, Audience: audience, HTTPClient: &http.Client{Transport: i}, Log: log.logger()})
	return i, g, log
}

func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		old := sign(t, jose.RS256, rsaKey, "one", i.claims(members{"exp": fromNow(24 * time.Hour)}))
		wantSubject(t, g, old, "ada")
		i.publish(publicKey("two", &rsaKey2.PublicKey))
		wantSubject(t, g, sign(t, jose.RS256, rsaKey2, "two", i.claims(nil)), "ada")
		wantDenial(t, g, bearing(old), 401, "does not have")
	})
}

func TestAWithdrawnKeyIsNotTrustedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		token := i.token(t, members{"exp": fromNow(24 * time.Hour)})
		wantSubject(t, g, token, "ada")
		i.publish(publicKey("two", &rsaKey2.PublicKey))
		time.Sleep(59 * time.Minute)
		wantSubject(t, g, token, "ada")
		time.Sleep(2 * time.Minute)
		wantDenial(t, g, bearing(token), 401, "does not have")
	})
}

func TestKeysServeWhileTheIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, log := newTimedIssuer(t)
		token := i.token(t, members{"exp": fromNow(24 * time.Hour)})
		wantSubject(t, g, token, "ada")
		i.breakDown(http.NotFoundHandler())
		time.Sleep(2 * time.Hour)
		wantSubject(t, g, token, "ada")
		log.wantCount(t, "cannot get the keys", 1)
		// What is signed with another key may be good, and cannot be known to be.
		wantDenial(t, g, bearing(sign(t, jose.EdDSA, edKey, "new", i.claims(nil))), 503, "cannot be checked")
	})
}

func TestAnIssuerThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		i.breakDown(http.NotFoundHandler())
		token := i.token(t, nil)
		var again time.Duration
		for range 20 {
			again = wantDenial(t, g, bearing(token), 503, "Try again later").RetryAfter
		}
		if n := i.times(oauthPath); n != 2 {
			t.Errorf("the issuer was asked %d times", n)
		}
		i.breakDown(nil)
		time.Sleep(again)
		wantSubject(t, g, token, "ada")
	})
}

func TestForgersDoNotKeepNewKeysOutForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		forged := sign(t, jose.EdDSA, edKey, "forged", i.claims(nil))
		for range 100 {
			wantDenial(t, g, bearing(forged), 401, "does not have")
			time.Sleep(time.Second)
		}
		// Two at once, then one in ten seconds.
		if n := i.times(keysPath); n < 10 || n > 12 {
			t.Errorf("the keys were fetched %d times", n)
		}
		i.publish(publicKey("two", &rsaKey2.PublicKey))
		token := sign(t, jose.RS256, rsaKey2, "two", i.claims(nil))
		time.Sleep(10 * time.Second)
		wantSubject(t, g, token, "ada")
	})
}

func TestAnIssuerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		i.breakDown(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		token := i.token(t, nil)
		start := time.Now()
		wantDenial(t, g, bearing(token), 503, "cannot be checked")
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Whoever waits for another's fetch waits no longer than he wants.
func TestAClientThatHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _ := newTimedIssuer(t)
		release := make(chan struct{})
		i.breakDown(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-release
			i.breakDown(nil)
			i.ServeHTTP(w, r)
		}))
		token := i.token(t, nil)
		var others sync.WaitGroup
		ctx, hangUp := context.WithCancel(t.Context())
		others.Go(func() {
			// It fetches for the others as well, and goes on.
			id, denial := g.Authenticate(bearing(token).WithContext(ctx))
			if denial != nil || id.Subject != "ada" {
				t.Errorf("denied: %+v", denial)
			}
		})
		synctest.Wait()
		others.Go(func() { wantDenial(t, g, bearing(token).WithContext(ctx), 503, "cannot be checked") })
		others.Go(func() { wantSubject(t, g, token, "ada") })
		synctest.Wait()
		hangUp()
		synctest.Wait()
		close(release)
		others.Wait()
	})
}

func TestFetchesEndWithTheGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &testIssuer{asked: map[string]int{}}
		i.reset("https://issuer.example")
		i.breakDown(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, stop := context.WithCancel(t.Context())
		g, err := access.New(ctx, access.Options{Issuer: i.url, Audience: audience, HTTPClient: &http.Client{Transport: i}})
		if err != nil {
			t.Fatal(err)
		}
		token := i.token(t, nil)
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			stop()
		}()
		wantDenial(t, g, bearing(token), 503, "cannot be checked")
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
