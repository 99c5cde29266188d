package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/access"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/httpd"
	"github.com/conch-mcp/conch/internal/listen"
	"github.com/conch-mcp/conch/internal/subscription"
)

// What the bodies of all requests may hold at once, and the answers to them. The
// least is a body, or an answer, as large as one may be.
const (
	maxBodies  = 128 << 20
	maxAnswers = 128 << 20
	// escaped is how many times its size an output may have in an answer.
	escaped = 7
)

// maxSenders is how many senders are told apart by how much they send.
const maxSenders = 10_000

// network is what stands between a socket and the host of a server.
type network struct {
	host     *host.Host
	flags    httpFlags
	log      *slog.Logger
	guard    *access.Guard
	origins  *access.Origins // nil where others look at them
	rate     *access.Rate
	conns    *listen.Conns
	endpoint *httpd.Handler
}

func newNetwork(h *host.Host, flags httpFlags, log *slog.Logger) *network {
	conns := listen.NewConns(flags.maxConnections, log.With("flag", "--max-connections"))
	return &network{host: h, flags: flags, log: log, conns: conns}
}

// serveHTTP serves s on the network until ctx ends. Calls at work are not waited
// for once hurry ends. hub tells clients of changes.
func serveHTTP(ctx, hurry context.Context, s *server, hub *subscription.Hub, flags httpFlags, drain time.Duration) error {
	log := s.logs.logger()
	l, err := listen.Open(ctx, listen.Options{Addr: flags.address, CertFile: flags.certFile, KeyFile: flags.keyFile, Log: log})
	if err != nil {
		return err
	}
	defer l.Close()
	n := newNetwork(s.host, flags, log)
	n.conns = listen.NewConns(connections(flags.maxConnections, s.concurrency, log), log.With("flag", "--max-connections"))
	if err := n.open(ctx, l.Addr()); err != nil {
		return err
	}
	endpointOpts := n.endpointOptions(s.limits.MaxOutput)
	endpointOpts.Hub, endpointOpts.Meet = hub, n.host.Meet
	if n.endpoint, err = httpd.New(endpointOpts); err != nil {
		return err
	}
	opts := n.serverOptions()
	opts.Front, opts.Seen, opts.Drain, opts.Hurry = n.front, s.observer.seen, drain, hurry
	server := httpd.NewServer(opts)
	if flags.metrics != "" {
		s.observer.startMetrics(s.shell, n.endpoint, n.conns)
		stop, err := s.observer.serveMetrics(ctx, flags.metricsOptions(), server)
		if err != nil {
			n.endpoint.Close()
			return err
		}
		defer stop()
	}
	log.Info("listening", where(l.Addr(), flags)...)
	return server.Serve(ctx, l)
}

// where tells where an endpoint is, as attributes for the log.
func where(addr net.Addr, flags httpFlags) []any {
	attrs := []any{"address", addr.String(), "path", flags.path}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		attrs = append(attrs, "url", urlOf(tcp, flags.path, flags.certFile != ""))
	}
	return attrs
}

// urlOf is the URL of an endpoint for clients on this machine.
func urlOf(addr *net.TCPAddr, path string, secure bool) string {
	u := url.URL{Scheme: "http", Host: addr.String(), Path: path}
	if secure {
		u.Scheme = "https"
	}
	if addr.IP.IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", strconv.Itoa(addr.Port))
	}
	return u.String()
}

// endpointOptions are those of an endpoint for the host, whose calls print at
// most so much.
func (n *network) endpointOptions(maxOutput int64) httpd.Options {
	return httpd.Options{
		Path: n.flags.path, Server: n.host.Server(), Supported: n.host.Supported, CallTool: n.host.CallTool,
		CheckParams: checkParams(n.host), Admit: n.admit, Legacy: n.flags.legacy,
		MaxRequests: n.flags.maxRequests, MaxBody: int64(n.flags.maxBody), MaxBodies: max(maxBodies, int64(n.flags.maxBody)), MaxAnswers: max(maxAnswers, escaped*maxOutput),
		KeepAlive:      time.Duration(n.flags.keepAlive),
		SessionTimeout: time.Duration(n.flags.sessionTimeout), MaxSessions: n.flags.maxSessions, Log: n.log,
	}
}

// serverOptions are those of a server before the endpoint.
func (n *network) serverOptions() httpd.ServerOptions {
	return httpd.ServerOptions{
		Endpoint: n.endpoint, Prepare: n.conns.Attach, Busy: n.conns.Busy,
		HeaderTimeout: time.Duration(n.flags.headerTimeout), ReadTimeout: time.Duration(n.flags.readTimeout), IdleTimeout: time.Duration(n.flags.idleTimeout), Log: n.log,
	}
}

// connections is how many there may be, so that files enough can be opened for
// calls: a full house must not keep those who are in it from being served.
func connections(wanted, concurrency int, log *slog.Logger) int {
	const own, each, least = 80, 9, 16
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return wanted
	}
	room := int(min(limit.Cur, math.MaxInt32)) - own - each*concurrency
	if room >= wanted {
		return wanted
	}
	room = max(room, least)
	log.Warn("there may be fewer connections than --max-connections says, since this process may have too few files open; raise `ulimit -n`",
		"connections", room, "files", limit.Cur)
	return min(room, wanted)
}

// open sets up who may speak on a socket.
func (n *network) open(ctx context.Context, addr net.Addr) (err error) {
	loopback := listen.IsLoopback(addr)
	if !loopback && !n.flags.guarded() && !n.flags.insecure {
		return fmt.Errorf("the socket at %s can be reached from other machines: ask for tokens with --token-file or --oauth-issuer, or say --insecure", addr)
	}
	n.warnOfClearText(addr)
	allowHost := n.flags.allowHost
	if addr.Network() == "unix" {
		allowHost = []string{"*"}
	}
	if n.origins, err = access.NewOrigins(n.flags.allowOrigin, allowHost, loopback); err != nil {
		return err
	}
	return n.openGuard(ctx)
}

func (n *network) warnOfClearText(addr net.Addr) {
	if !listen.IsLoopback(addr) && n.flags.guarded() && n.flags.certFile == "" {
		n.log.Warn("tokens travel in the clear, unless something in front of this server speaks TLS (--tls-cert)")
	}
}

// openGuard sets up who is asked for what, and how often one may ask.
func (n *network) openGuard(ctx context.Context) (err error) {
	n.guard, err = access.New(ctx, access.Options{
		TokenFile: n.flags.tokenFile, Issuer: n.flags.issuer, Audience: n.flags.audience,
		Resource: n.flags.resource, Path: n.flags.path, Scopes: n.host.AllScopes, Log: n.log,
	})
	n.rate = access.NewRate(n.flags.rate, n.flags.burst, maxSenders)
	return err
}

// front refuses what comes from strange web pages, and answers what is none of
// the endpoint's business.
func (n *network) front(w http.ResponseWriter, r *http.Request) (answered bool) {
	if n.tellMetadata(w, r) {
		return true
	}
	if err := n.origins.Check(r); err != nil {
		n.endpoint.Deny(w, r, &httpd.Denial{Status: http.StatusForbidden, Message: err.Error()})
		return true
	}
	return n.origins.CORS(w, r)
}

// tellMetadata tells clients where tokens are to be had.
func (n *network) tellMetadata(w http.ResponseWriter, r *http.Request) (answered bool) {
	if !slices.Contains(n.guard.MetadataPaths(), r.URL.Path) {
		return false
	}
	n.guard.Metadata().ServeHTTP(w, r)
	return true
}

// admit tells why a request may not be sent, by who sends it.
func (n *network) admit(r *http.Request) (httpd.Sender, *httpd.Denial) {
	id, denied := n.guard.Authenticate(r)
	if denied != nil {
		return httpd.Sender{}, denial(denied)
	}
	if ok, later := n.rate.Allow(access.Key(r, id)); !ok {
		return httpd.Sender{}, &httpd.Denial{Status: http.StatusTooManyRequests, Message: "Too many requests (--rate)", RetryAfter: later}
	}
	return httpd.Sender{Name: nameOf(id), Permit: func(tool string) *httpd.Denial {
		required := n.host.Scopes(tool)
		if len(id.Lacks(required)) == 0 {
			return nil
		}
		return denial(n.guard.InsufficientScope(r, required))
	}}, nil
}

func denial(d *access.Denial) *httpd.Denial {
	return &httpd.Denial{Status: d.Status, Message: d.Message, Challenge: d.Challenge, RetryAfter: d.RetryAfter}
}

// nameOf names a sender so that no two have the same name.
func nameOf(id access.Identity) string {
	if id.Issuer == "" {
		return id.Subject
	}
	return id.Subject + " of " + id.Issuer
}

// checkParams tells where the headers of a call differ from its arguments.
func checkParams(h *host.Host) func(string, json.RawMessage, http.Header) string {
	return func(tool string, arguments json.RawMessage, header http.Header) string {
		params, err := h.HeaderParams(tool)
		if err != nil {
			// The call will tell why.
			return ""
		}
		for _, p := range params {
			if reason := p.Differs(arguments, header.Values("Mcp-Param-"+p.Name)); reason != "" {
				return reason
			}
		}
		return ""
	}
}
