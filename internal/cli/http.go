package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/httpd"
)

// defaultAddress is where --http listens when it names no address.
const defaultAddress = "127.0.0.1:3000"

// httpFlags are the flags of a server on the network.
type httpFlags struct {
	address        string // "" is standard input and output
	path           string
	legacy         bool
	maxBody        size
	maxRequests    int
	maxConnections int
	maxSessions    int
	headerTimeout  duration
	readTimeout    duration
	idleTimeout    duration
	keepAlive      duration
	sessionTimeout duration
}

func (f *httpFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "", "serve HTTP on this address instead: HOST:PORT, unix:PATH, or systemd for an activated socket")
	flags.Lookup("http").NoOptDefVal = defaultAddress
	flags.StringVar(&f.path, "path", "/mcp", "the path of the HTTP endpoint")
	flags.BoolVar(&f.legacy, "legacy", true, "serve HTTP clients of revisions before 2026-07-28 too")
	f.maxBody = 4 << 20
	flags.Var(&f.maxBody, "max-body", "how large the body of an HTTP request may be")
	flags.IntVar(&f.maxRequests, "max-requests", 256, "how many HTTP requests are answered at once; others get 503")
	flags.IntVar(&f.maxConnections, "max-connections", 2048, "how many HTTP connections there may be; the one idle for longest makes room")
	flags.IntVar(&f.maxSessions, "max-sessions", 1000, "how many HTTP sessions there may be; the one idle for longest makes room")
	f.headerTimeout = duration(10 * time.Second)
	flags.Var(&f.headerTimeout, "header-timeout", "how long the header of an HTTP request may take to arrive")
	f.readTimeout = duration(30 * time.Second)
	flags.Var(&f.readTimeout, "read-timeout", "how long the body of an HTTP request may take to arrive")
	f.idleTimeout = duration(2 * time.Minute)
	flags.Var(&f.idleTimeout, "idle-timeout", "how long an HTTP connection is kept without a request")
	f.keepAlive = duration(15 * time.Second)
	flags.Var(&f.keepAlive, "keep-alive", "after how long a silent HTTP answer gets a comment, so that nobody in between gives it up")
	f.sessionTimeout = duration(30 * time.Minute)
	flags.Var(&f.sessionTimeout, "session-timeout", "how long an HTTP session is kept that nobody uses; 0s is for ever")
}

func (f *httpFlags) check() error {
	switch {
	case !strings.HasPrefix(f.path, "/"):
		return fmt.Errorf("--path is %q; it must begin with /", f.path)
	case f.maxBody < 1 || f.maxBody > math.MaxInt32:
		return fmt.Errorf("--max-body must be from 1 to %d bytes", math.MaxInt32)
	case f.maxRequests < 1 || f.maxConnections < 1 || f.maxSessions < 1:
		return fmt.Errorf("--max-requests, --max-connections and --max-sessions must be at least 1")
	case f.keepAlive < duration(100*time.Millisecond):
		return fmt.Errorf("--keep-alive must be at least 100ms")
	}
	return nil
}

// addressForm is what an address looks like, and the path of a script does not.
var addressForm = regexp.MustCompile(`^([^/\s]*:\d+|\d+|unix:.+|systemd)$`)

// withAddress joins --http and the address behind it, which the flag can also do
// without.
func withAddress(args []string) []string {
	for i, arg := range args {
		if arg == "--" {
			return args
		}
		if arg != "--http" || i+1 == len(args) || !addressForm.MatchString(args[i+1]) {
			continue
		}
		if _, err := os.Stat(args[i+1]); err == nil {
			return args
		}
		joined := append([]string{}, args[:i]...)
		joined = append(joined, "--http="+args[i+1])
		return append(joined, args[i+2:]...)
	}
	return args
}

// serveHTTP serves s on the network until ctx ends.
func serveHTTP(ctx context.Context, s *server, flags httpFlags, drain time.Duration) error {
	log := s.logs.logger()
	endpoint, err := httpd.New(httpd.Options{
		Path: flags.path, Server: s.host.Server(), Supported: s.host.Supported, CallTool: s.host.CallTool,
		CheckParams: func(string, json.RawMessage, http.Header) string { return "" },
		Legacy:      flags.legacy,
		MaxRequests: flags.maxRequests, MaxBody: int64(flags.maxBody), MaxBodies: maxBodies,
		ReadTimeout: time.Duration(flags.readTimeout), KeepAlive: time.Duration(flags.keepAlive),
		SessionTimeout: time.Duration(flags.sessionTimeout), MaxSessions: flags.maxSessions, Log: log,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", flags.address)
	if err != nil {
		endpoint.Close()
		return fmt.Errorf("listen on %s (--http): %w", flags.address, err)
	}
	log.Info("listening", "address", l.Addr().String(), "path", flags.path)
	return httpd.NewServer(httpd.ServerOptions{
		Endpoint: endpoint, HeaderTimeout: time.Duration(flags.headerTimeout),
		IdleTimeout: time.Duration(flags.idleTimeout), Drain: drain, Log: log,
	}).Serve(ctx, l)
}

// maxBodies bounds what the bodies of all requests may hold at once.
const maxBodies = 256 << 20
