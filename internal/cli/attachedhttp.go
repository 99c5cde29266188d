package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conch-mcp/conch/internal/httpd"
	"github.com/conch-mcp/conch/internal/listen"
)

// httpSettings say where a script with a drop-in file is to be served over HTTP.
type httpSettings struct {
	bind    string
	port    int
	path    string
	origins []string // whose pages may ask, each with any port
}

// readHTTPSettings takes them from the environment, into which the drop-in file
// has put the script's variables.
func readHTTPSettings() (httpSettings, error) {
	s := httpSettings{bind: os.Getenv("MCP_HTTP_BIND"), path: os.Getenv("MCP_HTTP_PATH")}
	text := os.Getenv("MCP_HTTP_PORT")
	var err error
	if s.port, err = strconv.Atoi(text); err != nil || s.port < 0 || s.port > 65535 {
		return s, &exitError{2, fmt.Errorf("$MCP_HTTP_PORT is %q; it must be a number from 0 to 65535", text)}
	}
	if err := checkPath(s.path); err != nil {
		return s, &exitError{2, fmt.Errorf("$MCP_HTTP_PATH is %q; %w", s.path, err)}
	}
	if err := s.listenOptions().Check(); err != nil {
		return s, &exitError{2, err}
	}
	for origin := range strings.SplitSeq(os.Getenv("MCP_ALLOWED_ORIGINS"), ",") {
		if origin = strings.TrimSpace(origin); origin != "" {
			s.origins = append(s.origins, origin)
		}
	}
	return s, nil
}

func (s httpSettings) listenOptions() listen.Options {
	return listen.Options{
		Addr: net.JoinHostPort(s.bind, strconv.Itoa(s.port)), Name: "$MCP_HTTP_BIND and $MCP_HTTP_PORT",
	}
}

// serveHTTP serves clients over HTTP until a signal ends the server.
func (d *dropInServer) serveHTTP(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	end := d.watchEnd(d.stop)
	defer end()
	n, server, err := d.newHTTP(ctx, settings)
	if err != nil {
		return err
	}
	on := settings.listenOptions()
	on.CertFile, on.KeyFile, on.Log = d.http.certFile, d.http.keyFile, n.log
	l, err := listen.Open(ctx, on)
	if err != nil {
		n.endpoint.Close()
		return err
	}
	n.warnOfClearText(l.Addr())
	if !listen.IsLoopback(l.Addr()) && !d.http.guarded() {
		d.say("WARN", "anybody who reaches "+l.Addr().String()+" can call the tools; have CONCH_FLAGS ask for tokens with --token-file")
	}
	d.say("INFO", "MCP HTTP server listening on "+settings.url(l.Addr(), d.http.certFile != ""))
	return server.Serve(ctx, l)
}

// say tells the log, and who has started the server.
func (d *dropInServer) say(level, text string) {
	d.journal.write(level, text)
	if !d.journal.toStderr {
		fmt.Fprintln(os.Stderr, text)
	}
}

func (s httpSettings) url(addr net.Addr, secure bool) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s%s", scheme, addr, s.path)
}

// answerConnection answers the one request on standard input. It waits for it no
// longer than a server does.
func (d *dropInServer) answerConnection(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	in, restore := pollableStdin()
	defer restore()
	// Fails for a file, which nobody has to wait for.
	_ = in.SetReadDeadline(time.Now().Add(time.Duration(d.http.headerTimeout + d.http.readTimeout)))
	_, server, err := d.newHTTP(ctx, settings)
	if err != nil {
		return err
	}
	return server.ServeOne(ctx, in, protocol())
}

// newHTTP sets up what answers HTTP. Whoever gets a signal ends at once.
func (d *dropInServer) newHTTP(ctx context.Context, s httpSettings) (*network, *httpd.Server, error) {
	n := newNetwork(d.host, d.http, d.log())
	n.flags.path, n.flags.legacy = s.path, true
	if err := n.openGuard(ctx); err != nil {
		return nil, nil, fmt.Errorf("$CONCH_FLAGS: %w", err)
	}
	opts := n.endpointOptions(d.limits.MaxOutput)
	opts.ServerBashSDK = true
	var err error
	if n.endpoint, err = httpd.New(opts); err != nil {
		return nil, nil, err
	}
	serverOpts := n.serverOptions()
	serverOpts.Front = func(w http.ResponseWriter, r *http.Request) bool {
		return n.tellMetadata(w, r) || s.refuses(n.endpoint, w, r)
	}
	return n, httpd.NewServer(serverOpts), nil
}

// refuses refuses what comes from web pages that MCP_ALLOWED_ORIGINS does not
// list. Any name may lead to the server: what a page of somebody else's has a
// browser post says which page it is, whatever name was asked for.
func (s httpSettings) refuses(endpoint *httpd.Handler, w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && s.allows(origins[0]) {
		return false
	}
	endpoint.Deny(w, r, &httpd.Denial{Status: http.StatusForbidden, Message: "The page's origin is not among MCP_ALLOWED_ORIGINS"})
	return true
}

func (s httpSettings) allows(origin string) bool {
	return slices.ContainsFunc(s.origins, func(allowed string) bool {
		port, ok := strings.CutPrefix(origin, allowed+":")
		return origin == allowed || ok && port != "" && strings.Trim(port, "0123456789") == ""
	})
}
