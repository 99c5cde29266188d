package access

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// parseResource returns nil where the resource is to be told from requests.
func parseResource(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--public-url: %w", err)
	case !isEndpoint(u):
		return nil, fmt.Errorf("--public-url %q is not like https://example.org/path", text)
	}
	return u, nil
}

// isEndpoint tells whether a URL is a place on a web server, and nothing more.
func isEndpoint(u *url.URL) bool {
	_, _, ok := splitHost(u.Host)
	return ok && (u.Scheme == "https" || u.Scheme == "http") &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// resourceOf returns nil for a request that does not tell its host.
func (g *Guard) resourceOf(r *http.Request) *url.URL {
	if g.resource != nil {
		return g.resource
	}
	if _, _, ok := splitHost(r.Host); !ok {
		return nil
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return &url.URL{Scheme: scheme, Host: r.Host, Path: g.path}
}

// metadataURL is where RFC 9728, section 3.1, has the metadata of a resource.
func metadataURL(resource *url.URL) string {
	return resource.Scheme + "://" + resource.Host + wellKnown + suffix(resource.EscapedPath())
}

func suffix(path string) string {
	if path == "/" {
		return ""
	}
	return path
}

// MetadataPaths are those that Metadata is to be served at, each once: clients
// that were not told look where the endpoint's path leads them, and at the root.
// A proxy that changes paths leaves some that are never asked for.
func (g *Guard) MetadataPaths() []string {
	paths := []string{wellKnown}
	more := []string{g.path}
	if g.resource != nil {
		more = append(more, g.resource.Path)
	}
	for _, path := range more {
		if path := wellKnown + suffix(path); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// metadata is of a protected resource (RFC 9728, section 2).
type metadata struct {
	Resource               string   `json:"resource"`
	AuthorizationServers   []string `json:"authorization_servers"`
	ScopesSupported        []string `json:"scopes_supported,omitempty"`
	BearerMethodsSupported []string `json:"bearer_methods_supported"`
}

// Metadata answers what clients need to know to get a token, to everybody. There
// is none without an issuer.
func (g *Guard) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.issuer == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch {
		case isPreflight(r):
			answerPreflight(w, r, "GET, HEAD")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			http.Error(w, "metadata is only read: GET it", http.StatusMethodNotAllowed)
		default:
			g.serveMetadata(w, r)
		}
	})
}

func (g *Guard) serveMetadata(w http.ResponseWriter, r *http.Request) {
	resource := g.resourceOf(r)
	if resource == nil {
		http.Error(w, "the request's Host header does not name a host", http.StatusBadRequest)
		return
	}
	m := metadata{
		Resource:               resource.String(),
		AuthorizationServers:   []string{g.issuer.url},
		BearerMethodsSupported: []string{"header"},
	}
	if g.scopes != nil {
		m.ScopesSupported = g.scopes()
	}
	w.Header().Set("Content-Type", "application/json")
	// Who hung up needs no answer.
	_ = json.NewEncoder(w).Encode(m)
}
