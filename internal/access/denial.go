package access

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Denial is why a request is not served, and what is to be answered.
type Denial struct {
	Status     int
	Challenge  string        // the value of WWW-Authenticate; "" is none
	RetryAfter time.Duration // 0 is none
	Message    string        // a sentence for a person
}

// refusal is what is wrong with a token, for whoever sent it.
type refusal string

func (r refusal) Error() string { return string(r) }

// errUnavailable is that a token cannot be judged for now.
var errUnavailable = errors.New("the issuer's keys cannot be had")

func (g *Guard) missing(r *http.Request) *Denial {
	return &Denial{
		Status:    http.StatusUnauthorized,
		Challenge: g.challenge(r),
		Message:   "A bearer token is needed: send it as `Authorization: Bearer TOKEN`.",
	}
}

func (g *Guard) malformed(r *http.Request, err error) *Denial {
	return &Denial{
		Status:    http.StatusBadRequest,
		Challenge: g.challenge(r, param{"error", "invalid_request"}, param{"error_description", err.Error()}),
		Message:   sentence(err),
	}
}

// denied words what identify failed with.
func (g *Guard) denied(r *http.Request, err error) *Denial {
	if errors.Is(err, errUnavailable) {
		return &Denial{
			Status:     http.StatusServiceUnavailable,
			RetryAfter: fetchInterval,
			Message:    "Tokens cannot be checked for now, since the authorization server does not answer as it should. Try again later.",
		}
	}
	g.log.Debug("refused a bearer token", "why", err, "from", r.RemoteAddr)
	return &Denial{
		Status:    http.StatusUnauthorized,
		Challenge: g.challenge(r, param{"error", "invalid_token"}, param{"error_description", err.Error()}),
		Message:   sentence(err),
	}
}

// InsufficientScope denies r to an identity that lacks scopes. A client may ask
// its authorization server for those required, and try again.
func (g *Guard) InsufficientScope(r *http.Request, required []string) *Denial {
	scope := strings.Join(required, " ")
	return &Denial{
		Status:    http.StatusForbidden,
		Challenge: g.challenge(r, param{"error", "insufficient_scope"}, param{"scope", scope}),
		Message:   "The token does not have the scopes this needs: " + scope + ".",
	}
}

// param is one of a challenge's parameters.
type param struct{ name, value string }

// challenge is a value for WWW-Authenticate. RFC 6750 wants a parameter at
// least, and without an issuer there is no metadata to point to.
func (g *Guard) challenge(r *http.Request, params ...param) string {
	first := param{"realm", "conch"}
	if resource := g.resourceOf(r); g.issuer != nil && resource != nil {
		first = param{"resource_metadata", metadataURL(resource)}
	}
	text := "Bearer " + first.name + "=" + quote(first.value)
	for _, p := range params {
		text += ", " + p.name + "=" + quote(p.value)
	}
	return text
}

// quote makes a quoted-string (RFC 9110, section 5.6.4) that no value can end
// early, or leave the header with.
func quote(value string) string {
	quoted := []byte{'"'}
	for _, c := range []byte(value) {
		switch {
		case c < ' ' || c > '~':
			c = '?'
		case c == '"' || c == '\\':
			quoted = append(quoted, '\\')
		}
		quoted = append(quoted, c)
	}
	return string(append(quoted, '"'))
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
