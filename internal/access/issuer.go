package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
)

// leeway is how far the clocks of issuer and server may be apart.
const leeway = time.Minute

// algorithms are those whose key a verifier can have without being able to sign.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

// tokenTypes are what the header of an access token may call it; issuers that do
// not follow RFC 9068 say nothing, or JWT. Other types are tokens of the same
// issuer for other purposes.
var tokenTypes = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// issuer judges the JWTs of an authorization server.
type issuer struct {
	url      string
	audience string
	keys     *keySet
}

// claims are those of an access token. Some issuers write scp for scope, and
// some have no subject for a client that acts for itself.
type claims struct {
	jwt.Claims
	Scope           words  `json:"scope"`
	Scp             words  `json:"scp"`
	ClientID        string `json:"client_id"`
	AuthorizedParty string `json:"azp"`
}

// words are written with blanks between them, or as an array.
type words []string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = strings.Fields(one)
		return nil
	}
	var several []string
	err := json.Unmarshal(text, &several)
	*w = several
	return err
}

// identify returns a refusal, or errUnavailable.
func (i *issuer) identify(ctx context.Context, token string) (Identity, error) {
	signed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return Identity{}, refusal("the token is not known here, and no JWT with a signature of a kind that is taken")
	}
	if typ, _ := signed.Headers[0].ExtraHeaders[jose.HeaderType].(string); !slices.Contains(tokenTypes, strings.ToLower(typ)) {
		return Identity{}, refusal("the token is a JWT, but no access token by its typ")
	}
	payload, err := i.verify(ctx, signed)
	if err != nil {
		return Identity{}, err
	}
	var c claims
	if json.Unmarshal(payload, &c) != nil {
		return Identity{}, refusal("the token has a claim that is not as it should be")
	}
	if err := i.check(c); err != nil {
		return Identity{}, err
	}
	return i.identity(c)
}

// verify returns what the issuer has signed.
func (i *issuer) verify(ctx context.Context, signed *jwt.JSONWebToken) (json.RawMessage, error) {
	keys, err := i.keys.find(ctx, signed.Headers[0])
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		var payload json.RawMessage
		// The key alone: handed over whole, it would be looked up by its name again.
		if signed.Claims(key.Key, &payload) == nil {
			return payload, nil
		}
	}
	if len(keys) == 0 {
		return nil, refusal("the token is signed with a key that its issuer does not have")
	}
	return nil, refusal("the token has a signature that is not its issuer's")
}

func (i *issuer) check(c claims) error {
	if c.Expiry == nil {
		return refusal("the token does not expire, and must")
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: i.url, AnyAudience: jwt.Audience{i.audience}}, leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return refusal("the token has another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return refusal("the token is meant for another audience")
	case errors.Is(err, jwt.ErrExpired):
		return refusal("the token has expired")
	}
	return refusal("the token is not valid yet")
}

func (i *issuer) identity(c claims) (Identity, error) {
	for _, subject := range []string{c.Subject, c.ClientID, c.AuthorizedParty} {
		if subject != "" {
			return Identity{Subject: subject, Issuer: i.url, Scopes: slices.Concat(c.Scope, c.Scp)}, nil
		}
	}
	return Identity{}, refusal("the token does not say whom it was made out to")
}
