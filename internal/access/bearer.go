package access

import (
	"fmt"
	"net/http"
	"strings"
)

// maxToken is how long a token may be: several times what issuers make, and
// little enough to judge for everybody who knocks.
const maxToken = 16 << 10

// bearerToken returns the token of a request, "" where it has none or offers
// another scheme. The error is for the sender.
func bearerToken(r *http.Request) (string, error) {
	// What is in a URL gets into logs and histories.
	if r.URL.Query().Has("access_token") {
		return "", refusal("a token belongs in the Authorization header and not in the URL")
	}
	headers := r.Header.Values("Authorization")
	switch len(headers) {
	case 0:
		return "", nil
	case 1:
		return parseBearer(headers[0])
	}
	return "", fmt.Errorf("there are %d Authorization headers; send one", len(headers))
}

// parseBearer takes any visible ASCII characters for a token: RFC 6750 knows
// fewer, but a token file may hold them.
func parseBearer(header string) (string, error) {
	scheme, token, _ := strings.Cut(strings.Trim(header, " \t"), " ")
	switch {
	case !isToken(scheme):
		return "", refusal("the Authorization header does not begin with the name of a scheme, such as Bearer")
	case !strings.EqualFold(scheme, "Bearer"):
		return "", nil
	}
	token = strings.TrimLeft(token, " ")
	switch {
	case token == "":
		return "", refusal("the Authorization header has no token behind Bearer")
	case len(token) > maxToken:
		return "", fmt.Errorf("the token is longer than %d bytes", maxToken)
	case !isVisible(token):
		return "", refusal("the token in the Authorization header holds characters that no token has")
	}
	return token, nil
}

// isVisible tells whether text is ASCII without blanks and control characters.
func isVisible(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
