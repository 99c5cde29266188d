package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/conch-mcp/conch/internal/access"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/httpd"
	"github.com/conch-mcp/conch/internal/listen"
	"github.com/conch-mcp/conch/internal/subscription"
)

// maxBodies bounds what the bodies of all requests may hold at once.
const maxBodies = 256 << 20

// maxSenders is how many senders are told apart by how much they send.
const maxSenders = 10_000

// network is what stands between a socket and the host of a server.
type network struct {
	flags   httpFlags
	log     *slog.Logger
	guard   *access.Guard
	origins *access.Origins
	rate    *access.Rate
	conns   *listen.Conns
	scopes  func(tool string) []string
}

// serveHTTP serves s on the network until ctx ends. hub tells clients of changes.
func serveHTTP(ctx context.Context, s *server, hub *subscription.Hub, flags httpFlags, drain time.Duration) error {
	log := s.logs.logger()
	l, err := listen.Open(ctx, listen.Options{Addr: flags.address, CertFile: flags.certFile, KeyFile: flags.keyFile, Log: log})
	if err != nil {
		return err
	}
	defer l.Close()
	n := &network{flags: flags, log: log, scopes: s.host.Scopes, conns: listen.NewConns(flags.maxConnections, log.With("flag", "--max-connections"))}
	if err := n.open(ctx, l.Addr(), s.host.AllScopes); err != nil {
		return err
	}
	endpoint, err := httpd.New(httpd.Options{
		Path: flags.path, Server: s.host.Server(), Supported: s.host.Supported, CallTool: s.host.CallTool,
		CheckParams: checkParams(s.host), Admit: n.admit, Hub: hub, Legacy: flags.legacy,
		MaxRequests: flags.maxRequests, MaxBody: int64(flags.maxBody), MaxBodies: maxBodies,
		ReadTimeout: time.Duration(flags.readTimeout), KeepAlive: time.Duration(flags.keepAlive),
		SessionTimeout: time.Duration(flags.sessionTimeout), MaxSessions: flags.maxSessions, Log: log,
	})
	if err != nil {
		return err
	}
	server := httpd.NewServer(httpd.ServerOptions{
		Endpoint: endpoint, Front: n.front, Prepare: n.conns.Attach, Busy: n.conns.Busy, Seen: s.observer.seen,
		HeaderTimeout: time.Duration(flags.headerTimeout), IdleTimeout: time.Duration(flags.idleTimeout),
		Drain: drain, Log: log,
	})
	if flags.metrics != "" {
		s.observer.startMetrics(s.shell, endpoint, n.conns)
		stop, err := s.observer.serveMetrics(ctx, flags.metrics, server)
		if err != nil {
			endpoint.Close()
			return err
		}
		defer stop()
	}
	log.Info("listening", "address", l.Addr().String(), "path", flags.path)
	return server.Serve(ctx, l)
}

// open sets up who may speak on a socket.
func (n *network) open(ctx context.Context, addr net.Addr, scopes func() []string) (err error) {
	loopback := listen.IsLoopback(addr)
	if !loopback && !n.flags.guarded() && !n.flags.insecure {
		return fmt.Errorf("the socket at %s can be reached from other machines: ask for tokens with --token-file or --oauth-issuer, or say --insecure", addr)
	}
	if !loopback && n.flags.guarded() && n.flags.certFile == "" {
		n.log.Warn("tokens travel in the clear, unless something in front of this server speaks TLS (--tls-cert)")
	}
	allowHost := n.flags.allowHost
	if addr.Network() == "unix" {
		allowHost = []string{"*"}
	}
	if n.origins, err = access.NewOrigins(n.flags.allowOrigin, allowHost, loopback); err != nil {
		return err
	}
	n.guard, err = access.New(ctx, access.Options{
		TokenFile: n.flags.tokenFile, Issuer: n.flags.issuer, Audience: n.flags.audience,
		Resource: n.flags.resource, Path: n.flags.path, Scopes: scopes, Log: n.log,
	})
	n.rate = access.NewRate(n.flags.rate, n.flags.burst, maxSenders)
	return err
}

// front refuses what comes from strange web pages, and answers what is none of
// the endpoint's business.
func (n *network) front(w http.ResponseWriter, r *http.Request) (answered bool) {
	for _, path := range n.guard.MetadataPaths() {
		if r.URL.Path == path {
			n.guard.Metadata().ServeHTTP(w, r)
			return true
		}
	}
	if err := n.origins.Check(r); err != nil {
		httpd.Deny(w, r, &httpd.Denial{Status: http.StatusForbidden, Message: err.Error()})
		return true
	}
	return n.origins.CORS(w, r)
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
		required := n.scopes(tool)
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
