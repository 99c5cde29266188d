package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxDocument  = 1 << 20
	maxRedirects = 5
)

func checkIssuer(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("--oauth-issuer: %w", err)
	case !isEndpoint(u):
		return fmt.Errorf("--oauth-issuer %q is not like https://example.org or https://example.org/path", text)
	case !isPrivate(u):
		return fmt.Errorf("--oauth-issuer %q must be reached by https, or somebody on the way could make up its keys; only one on this machine may have http", text)
	}
	return nil
}

// isPrivate tells whether nobody on the way can change what comes from a URL.
func isPrivate(u *url.URL) bool {
	host, _, ok := splitHost(u.Host)
	return ok && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(host))
}

// restrained makes a client that stays on the host it was sent to.
func restrained(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{Transport: newTransport()}
	}
	c := *client
	allowed := client.CheckRedirect
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		first := via[0].URL
		switch {
		case r.URL.Scheme != first.Scheme || r.URL.Host != first.Host:
			return fmt.Errorf("it redirects to %s://%s, another host, which is not followed", r.URL.Scheme, r.URL.Host)
		case len(via) > maxRedirects:
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		case allowed != nil:
			return allowed(r, via)
		}
		return nil
	}
	return &c
}

// newTransport keeps no connection open: there are minutes between fetches, and
// nobody to close it.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSHandshakeTimeout:    fetchTimeout / 2,
		ResponseHeaderTimeout:  fetchTimeout / 2,
		MaxResponseHeaderBytes: maxDocument,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
}

// fetchKeys asks for metadata each time, since the place of the keys may change
// as the keys do.
func fetchKeys(ctx context.Context, client *http.Client, issuer string) ([]jose.JSONWebKey, error) {
	place, err := discover(ctx, client, issuer)
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := get(ctx, client, place, &set); err != nil {
		return nil, err
	}
	keys := publicKeys(set.Keys)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s holds no public key that can be used", place)
	}
	return keys, nil
}

// publicKeys leaves out what it does not understand, as RFC 7517, section 5,
// asks for: issuers publish keys of new kinds beside the old.
func publicKeys(texts []json.RawMessage) []jose.JSONWebKey {
	var keys []jose.JSONWebKey
	for _, text := range texts {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) == nil && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys
}

// discover returns where the issuer has its keys.
func discover(ctx context.Context, client *http.Client, issuer string) (string, error) {
	var failures []error
	for _, place := range metadataPlaces(issuer) {
		keys, err := readMetadata(ctx, client, place, issuer)
		if err == nil {
			return keys, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return "", errors.Join(failures...)
}

// metadataPlaces are where an issuer may have its metadata: by RFC 8414, by
// OpenID Connect with the path where RFC 8414 has it, and as OpenID Connect has
// it. Without a path the last two are one.
func metadataPlaces(issuer string) []string {
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	issuer = strings.TrimSuffix(issuer, "/")
	scheme, rest, _ := strings.Cut(issuer, "://")
	host, path, hasPath := strings.Cut(rest, "/")
	root := scheme + "://" + host
	if !hasPath {
		return []string{root + oauth, root + openID}
	}
	return []string{root + oauth + "/" + path, root + openID + "/" + path, issuer + openID}
}

func readMetadata(ctx context.Context, client *http.Client, place, issuer string) (keys string, err error) {
	var m struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := get(ctx, client, place, &m); err != nil {
		return "", err
	}
	u, err := url.Parse(m.JWKSURI)
	switch {
	case m.Issuer != issuer:
		return "", fmt.Errorf("%s is of the issuer %q; the issuer must be given exactly so", place, m.Issuer)
	case err != nil || u.Host == "":
		return "", fmt.Errorf("%s has no usable jwks_uri", place)
	case !isPrivate(u) || u.Scheme == "http" && !strings.HasPrefix(issuer, "http:"):
		return "", fmt.Errorf("%s has a jwks_uri without https", place)
	}
	return m.JWKSURI, nil
}

// get reads a JSON document.
func get(ctx context.Context, client *http.Client, place string, document any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", place, response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", place, err)
	case len(text) > maxDocument:
		return fmt.Errorf("%s: the document is larger than %d MiB", place, maxDocument>>20)
	}
	if err := json.Unmarshal(text, document); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}
