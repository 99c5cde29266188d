package access

import (
	"net/http"
	"strings"
)

const (
	exposedHeaders = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"
	// preflightAge is in seconds. Browsers keep an answer for two hours at most.
	preflightAge = "7200"
	// maxRequested is how many bytes of header names a preflight is granted.
	maxRequested = 4 << 10
)

// CORS has a browser show the response to a page whose origin is allowed. True
// says that the request only asked for that and has been answered. It asks
// without a token, so this comes before Authenticate, and behind Check.
func (o *Origins) CORS(w http.ResponseWriter, r *http.Request) (preflight bool) {
	// No cache may show one origin what was meant for another.
	w.Header().Add("Vary", "Origin")
	sent, err := originHeader(r)
	if err != nil || sent == "" || !o.allows(sent) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", sent)
	if !isPreflight(r) {
		w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
		return false
	}
	answerPreflight(w, r, "GET, POST, DELETE")
	return true
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight grants the headers that were asked for: which of them mean
// something is for whoever reads them.
func answerPreflight(w http.ResponseWriter, r *http.Request, methods string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	if names := headerNames(r.Header.Values("Access-Control-Request-Headers")); names != "" {
		h.Set("Access-Control-Allow-Headers", names)
	}
	h.Set("Access-Control-Max-Age", preflightAge)
	w.WriteHeader(http.StatusNoContent)
}

// headerNames returns those in lists that are names of headers, as one list.
func headerNames(lists []string) string {
	var names []string
	size := 0
	for name := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		name = strings.Trim(name, " \t")
		size += len(name)
		if isToken(name) && size <= maxRequested {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// isToken is about a token of RFC 9110, section 5.6.2.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		if !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return text != ""
}
