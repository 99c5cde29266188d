// Package access decides who may speak to an HTTP endpoint, and how often. A
// Guard tells from the bearer token who sends a request, Origins refuses what
// a web page of somebody else's has a browser send, and Rate counts.
//
// With an issuer the endpoint is a resource server of OAuth 2.1: tokens are
// JWTs of that issuer (RFC 9068), and metadata (RFC 9728) tells clients where to
// get one. A token is checked at each request, and goes no further.
//
// It knows HTTP and OAuth. It must not know what the endpoint serves, and it
// writes no response but metadata and what CORS asks for.
package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Options configure a Guard. With neither TokenFile nor Issuer it lets everybody
// in, and the rest is not looked at.
type Options struct {
	// TokenFile holds a bearer token on each line, as TOKEN or NAME TOKEN. Lines
	// that begin with # and blank ones say nothing. It is read again when it has
	// changed.
	TokenFile string

	// Issuer is the URL of the authorization server, to the letter as it names
	// itself. It is not asked for anything until a token needs it.
	Issuer string
	// Audience must be among the audiences of a token. "" stands for Resource.
	Audience string

	// Resource is the public URL of the endpoint. "" derives it from each request:
	// its scheme, its Host and Path. Behind a proxy that is not what clients see.
	Resource string
	// Path is that of the endpoint on this server, such as "/mcp".
	Path string
	// Scopes lists what metadata offers; nil offers nothing. It is called for each
	// request for metadata, by several goroutines.
	Scopes func() []string

	// HTTPClient asks the issuer; nil is one with limits of its own. Redirects to
	// another host are refused with either.
	HTTPClient *http.Client
	// Log may be nil.
	Log *slog.Logger
}

// Guard tells who sends a request. Its methods may be called by several
// goroutines.
type Guard struct {
	tokens   *tokenFile // nil without one
	issuer   *issuer    // nil without one
	resource *url.URL   // nil where each request tells it
	path     string
	scopes   func() []string
	log      *slog.Logger
}

// Check says what is wrong with options, as far as that can be told without
// opening anything.
func Check(opts Options) error {
	if _, err := parseResource(opts.Resource); err != nil {
		return err
	}
	if opts.Issuer == "" && opts.Audience != "" {
		return errors.New("--oauth-audience is for tokens of an --oauth-issuer, and there is none; give both or neither")
	}
	if opts.Issuer == "" {
		return nil
	}
	if opts.Audience == "" && opts.Resource == "" {
		return fmt.Errorf("--oauth-issuer %q needs --oauth-audience or --public-url, which its tokens must be meant for; without one, tokens for any other service would be taken", opts.Issuer)
	}
	return checkIssuer(opts.Issuer)
}

// New makes a Guard. The token file must be readable and without fault at this
// point. What the Guard asks of the issuer ends with ctx.
func New(ctx context.Context, opts Options) (*Guard, error) {
	g := &Guard{path: opts.Path, scopes: opts.Scopes, log: opts.Log}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if err := Check(opts); err != nil {
		return nil, err
	}
	var err error
	if g.resource, err = parseResource(opts.Resource); err != nil {
		return nil, err
	}
	if g.path != "" && !strings.HasPrefix(g.path, "/") {
		return nil, fmt.Errorf("the path %q of the endpoint does not begin with /", g.path)
	}
	if opts.TokenFile != "" {
		if g.tokens, err = openTokenFile(opts.TokenFile, g.log); err != nil {
			return nil, err
		}
	}
	g.issuer = issuerOf(ctx, opts, g.log)
	return g, nil
}

// issuerOf returns nil where opts name no issuer.
func issuerOf(ctx context.Context, opts Options, log *slog.Logger) *issuer {
	if opts.Issuer == "" {
		return nil
	}
	keys := newKeySet(ctx, opts.Issuer, opts.HTTPClient, log)
	return &issuer{url: opts.Issuer, audience: cmp.Or(opts.Audience, opts.Resource), keys: keys}
}

func (g *Guard) open() bool { return g.tokens == nil && g.issuer == nil }

// Identity is who sends a request. Without a Subject it is anybody.
type Identity struct {
	// Subject is a token's name in the token file, or what the issuer calls whoever
	// the token was made out to.
	Subject string
	// Issuer vouches for Subject, and is "" for the token file: the same Subject of
	// another Issuer is somebody else.
	Issuer string
	Scopes []string
	// AllScopes has nothing lacking, whatever Scopes holds.
	AllScopes bool
}

// Is tells whether both are the same sender, with whatever scopes.
func (id Identity) Is(other Identity) bool {
	return id.Subject == other.Subject && id.Issuer == other.Issuer
}

// Lacks returns those of the required scopes that id does not have.
func (id Identity) Lacks(required []string) []string {
	if id.AllScopes {
		return nil
	}
	var lacking []string
	for _, scope := range required {
		if !slices.Contains(id.Scopes, scope) {
			lacking = append(lacking, scope)
		}
	}
	return lacking
}

// Authenticate tells who sends r, or why it must not be served. A preflight of
// CORS has no token and is to be answered before.
func (g *Guard) Authenticate(r *http.Request) (Identity, *Denial) {
	if g.open() {
		return Identity{AllScopes: true}, nil
	}
	token, err := bearerToken(r)
	switch {
	case err != nil:
		return Identity{}, g.malformed(r, err)
	case token == "":
		return Identity{}, g.missing(r)
	}
	id, err := g.identify(r.Context(), token)
	if err != nil {
		return Identity{}, g.denied(r, err)
	}
	return id, nil
}

// identify has the token file win, whatever its token looks like.
func (g *Guard) identify(ctx context.Context, token string) (Identity, error) {
	if g.tokens != nil {
		if id, ok := g.tokens.identify(token); ok {
			return id, nil
		}
	}
	if g.issuer == nil {
		return Identity{}, refusal("the token is not known here")
	}
	return g.issuer.identify(ctx, token)
}
