package access

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Origins are the web pages that may have a browser send requests here, and the
// names under which this server is known.
//
// Without it, any page could send requests to a server on the same machine: it
// need only have its own name lead to 127.0.0.1 once it is loaded.
type Origins struct {
	origins   []origin
	anyOrigin bool
	null      bool
	hosts     []host
	anyHost   bool
}

// origin has port "" for any port.
type origin struct{ scheme, host, port string }

// host has port "" for any port.
type host struct{ name, port string }

// NewOrigins takes origins ("https://app.example", "https://app.example:8443",
// "null", or "*" for all of them) and hosts ("example.org", "example.org:8443",
// or "*"). One without a port stands for every port. Loopback names and addresses
// are always taken.
//
// Loopback tells that the server listens there alone. On other addresses, which
// names lead to it is unknown until somebody tells: without allowHosts any Host
// is taken. For a Unix socket, which no browser reaches and for which a client
// makes up any Host, loopback is true and allowHosts is "*".
func NewOrigins(allowOrigins, allowHosts []string, loopback bool) (*Origins, error) {
	o := &Origins{anyHost: !loopback && len(allowHosts) == 0}
	for _, text := range allowOrigins {
		if err := o.allowOrigin(text); err != nil {
			return nil, err
		}
	}
	for _, text := range allowHosts {
		if err := o.allowHost(text); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *Origins) allowOrigin(text string) error {
	switch text {
	case "*":
		o.anyOrigin = true
		return nil
	case "null":
		o.null = true
		return nil
	}
	parsed, ok := parseOrigin(text)
	if !ok {
		return fmt.Errorf(`--allow-origin %q is none: write it like https://app.example or http://app.example:8080, without a path; "null" and "*" may stand as well`, text)
	}
	o.origins = append(o.origins, parsed)
	return nil
}

func (o *Origins) allowHost(text string) error {
	if text == "*" {
		o.anyHost = true
		return nil
	}
	name, port, ok := splitHost(text)
	if !ok {
		return fmt.Errorf(`--allow-host %q is none: write it like example.org, example.org:8443 or [2001:db8::1]; "*" is any`, text)
	}
	o.hosts = append(o.hosts, host{name, port})
	return nil
}

func parseOrigin(text string) (origin, bool) {
	scheme, rest, _ := strings.Cut(text, "://")
	name, port, ok := splitHost(rest)
	return origin{strings.ToLower(scheme), name, port}, ok && isScheme(scheme)
}

func isScheme(text string) bool {
	for i, c := range []byte(text) {
		if !isAlphanumeric(c) && (i == 0 || !strings.ContainsRune("+-.", rune(c))) {
			return false
		}
	}
	return text != "" && (text[0] < '0' || text[0] > '9')
}

// Check refuses a request whose Host is none of this server's, or that a page
// which is not allowed has a browser send. The error says what to do, and its
// text is fit for an answer.
func (o *Origins) Check(r *http.Request) error {
	if err := o.checkHost(r); err != nil {
		return err
	}
	sent, err := originHeader(r)
	if err != nil || sent == "" {
		return err
	}
	if !o.allows(sent) {
		return fmt.Errorf("requests of web pages of the origin %s are not taken; if they are to be, start the server with --allow-origin and that origin", brief(sent))
	}
	return nil
}

func (o *Origins) checkHost(r *http.Request) error {
	// net/http takes the header away, and answers by itself where there are two.
	if len(r.Header.Values("Host")) > 0 {
		return errors.New("the request has more than one Host")
	}
	if o.anyHost {
		return nil
	}
	name, port, ok := splitHost(r.Host)
	if !ok {
		return fmt.Errorf("the request's Host %s is not a name or address, with or without a port", brief(r.Host))
	}
	if isLoopback(name) || o.allowsHost(name, port) {
		return nil
	}
	return fmt.Errorf("the request's Host %s is not known to be this server's; if it is, start the server with --allow-host and that host", brief(r.Host))
}

// allowsHost takes a Host without a port for either default port: the client's
// scheme is not known behind a proxy.
func (o *Origins) allowsHost(name, port string) bool {
	for _, h := range o.hosts {
		isDefault := port == "" && (h.port == "80" || h.port == "443")
		if h.name == name && (h.port == "" || h.port == port || isDefault) {
			return true
		}
	}
	return false
}

// originHeader returns "" for a request without one, which no page sends.
func originHeader(r *http.Request) (string, error) {
	headers := r.Header.Values("Origin")
	switch {
	case len(headers) == 0:
		return "", nil
	case len(headers) > 1:
		return "", fmt.Errorf("the request has %d Origin headers; there must be one at most", len(headers))
	case headers[0] == "":
		return "", errors.New("the request's Origin header is empty")
	}
	return headers[0], nil
}

func (o *Origins) allows(text string) bool {
	if o.anyOrigin || text == "null" && o.null {
		return true
	}
	sent, ok := parseOrigin(text)
	if !ok {
		return false
	}
	isWeb := sent.scheme == "http" || sent.scheme == "https"
	return isWeb && isLoopback(sent.host) || o.lists(sent)
}

func (o *Origins) lists(sent origin) bool {
	for _, allowed := range o.origins {
		samePort := allowed.port == "" || allowed.effectivePort() == sent.effectivePort()
		if allowed.scheme == sent.scheme && allowed.host == sent.host && samePort {
			return true
		}
	}
	return false
}

// effectivePort is the port that a browser leaves out, where it does.
func (o origin) effectivePort() string {
	switch {
	case o.port == "" && o.scheme == "http":
		return "80"
	case o.port == "" && o.scheme == "https":
		return "443"
	}
	return o.port
}

// brief quotes what somebody has sent.
func brief(text string) string {
	const most = 100
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
