package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
	if !strings.HasPrefix(s.path, "/") {
		return s, &exitError{2, fmt.Errorf("$MCP_HTTP_PATH is %q; it must begin with a slash", s.path)}
	}
	for origin := range strings.SplitSeq(os.Getenv("MCP_ALLOWED_ORIGINS"), ",") {
		if origin = strings.TrimSpace(origin); origin != "" {
			s.origins = append(s.origins, origin)
		}
	}
	return s, nil
}

// serveHTTP serves clients over HTTP until a signal ends the server.
func (d *dropInServer) serveHTTP(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	end := d.watchEnd(d.stop)
	defer end()
	return d.transportHTTP(ctx, settings, nil, nil)
}

// answerConnection answers the one request on standard input.
func (d *dropInServer) answerConnection(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	return d.transportHTTP(ctx, settings, os.Stdin, protocol())
}

// httpLimits bound a server that has no flags of its own for it; see httpFlags.
func httpLimits() httpFlags {
	var f httpFlags
	f.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	return f
}

// transportHTTP serves d.host over HTTP until ctx ends; or, where in is not nil,
// answers the one HTTP request in it on out.
func (d *dropInServer) transportHTTP(ctx context.Context, s httpSettings, in io.Reader, out io.Writer) error {
	limits := httpLimits()
	log := d.log()
	endpoint, err := httpd.New(httpd.Options{
		Path: s.path, Server: d.host.Server(), Supported: d.host.Supported, CallTool: d.host.CallTool,
		CheckParams: checkParams(d.host), ServerBashSDK: true, Legacy: true,
		MaxRequests: limits.maxRequests, MaxBody: int64(limits.maxBody), MaxBodies: maxBodies,
		ReadTimeout: time.Duration(limits.readTimeout), KeepAlive: time.Duration(limits.keepAlive),
		SessionTimeout: time.Duration(limits.sessionTimeout), MaxSessions: limits.maxSessions, Log: log,
	})
	if err != nil {
		return err
	}
	conns := listen.NewConns(limits.maxConnections, log)
	server := httpd.NewServer(httpd.ServerOptions{
		Endpoint: endpoint, Front: s.front, Prepare: conns.Attach, Busy: conns.Busy,
		HeaderTimeout: time.Duration(limits.headerTimeout), IdleTimeout: time.Duration(limits.idleTimeout), Log: log,
	})
	if in != nil {
		return server.ServeOne(ctx, in, out)
	}
	address := net.JoinHostPort(s.bind, strconv.Itoa(s.port))
	l, err := listen.Open(ctx, listen.Options{Addr: address, Log: log})
	if err != nil {
		endpoint.Close()
		return fmt.Errorf("serve on MCP_HTTP_BIND and MCP_HTTP_PORT: %w", err)
	}
	if !listen.IsLoopback(l.Addr()) {
		d.journal.write("WARN", "MCP_HTTP_BIND has anybody who reaches this machine call the tools, and nobody is asked for a token")
	}
	started := fmt.Sprintf("MCP HTTP server listening on http://%s%s", l.Addr(), s.path)
	d.journal.write("INFO", started)
	fmt.Fprintln(os.Stderr, started)
	return server.Serve(ctx, l)
}

// front refuses what comes from web pages that MCP_ALLOWED_ORIGINS does not
// list. Any name may lead to the server: what a page of somebody else's has a
// browser post says which page it is, whatever name was asked for.
func (s httpSettings) front(w http.ResponseWriter, r *http.Request) (answered bool) {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && s.allows(origins[0]) {
		return false
	}
	httpd.Deny(w, r, &httpd.Denial{Status: http.StatusForbidden, Message: "The page's origin is not among MCP_ALLOWED_ORIGINS"})
	return true
}

func (s httpSettings) allows(origin string) bool {
	return slices.ContainsFunc(s.origins, func(allowed string) bool {
		port, ok := strings.CutPrefix(origin, allowed+":")
		return origin == allowed || ok && port != "" && strings.Trim(port, "0123456789") == ""
	})
}
