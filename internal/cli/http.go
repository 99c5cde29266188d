package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/conch-mcp/conch/internal/access"
	"github.com/conch-mcp/conch/internal/listen"
)

// defaultAddress is where --http listens when it names no address.
const defaultAddress = "127.0.0.1:3000"

// defaultBurst is how many requests may come at once where somebody counts them.
const defaultBurst = 50

// httpFlags are the flags of a server on the network.
type httpFlags struct {
	address string // "" is standard input and output
	path    string
	legacy  bool

	certFile, keyFile string
	tokenFile         string
	issuer, audience  string
	resource          string
	allowOrigin       []string
	allowHost         []string
	insecure          bool

	maxBody        size
	maxRequests    int
	maxConnections int
	maxSessions    int
	rate           float64
	burst          int
	headerTimeout  duration
	readTimeout    duration
	idleTimeout    duration
	keepAlive      duration
	sessionTimeout duration

	metrics string
}

// register registers the flags of conch serve.
func (f *httpFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "http", "", "serve HTTP on this `address`: HOST:PORT, PORT, unix:PATH, or systemd for a socket it passes")
	flags.Lookup("http").NoOptDefVal = defaultAddress
	flags.StringVar(&f.path, "path", "/mcp", "the `path` of the endpoint")
	flags.BoolVar(&f.legacy, "legacy", true, "serve clients of revisions before 2026-07-28 too")
	f.registerTokens(flags)
	flags.StringSliceVar(&f.allowOrigin, "allow-origin", nil, "`origins` of web pages that may send requests, such as https://app.example; * is any")
	flags.StringSliceVar(&f.allowHost, "allow-host", nil, "`names` this server has besides localhost, such as mcp.example; * is any")
	flags.BoolVar(&f.insecure, "insecure", false, "listen to others than this machine without asking for tokens")
	f.registerLimits(flags)
	flags.StringVar(&f.metrics, "metrics", "", "serve metrics for Prometheus on this `address`, and health")
}

// registerTokens registers what TLS and tokens take.
func (f *httpFlags) registerTokens(flags *pflag.FlagSet) {
	flags.StringVar(&f.certFile, "tls-cert", "", "the certificate for TLS, a PEM `file`; read again when it changes")
	flags.StringVar(&f.keyFile, "tls-key", "", "the key of --tls-cert, a PEM `file`")
	flags.StringVar(&f.tokenFile, "token-file", "", "a `file` of bearer tokens, one a line, one of which clients must send")
	flags.StringVar(&f.issuer, "oauth-issuer", "", "the `URL` of the OAuth 2.1 authorization server whose tokens are taken")
	flags.StringVar(&f.audience, "oauth-audience", "", "the `audience` that tokens must be meant for (default: --public-url)")
	flags.StringVar(&f.resource, "public-url", "", "the endpoint's `URL` as clients know it (default: told by each request)")
}

func (f *httpFlags) registerLimits(flags *pflag.FlagSet) {
	f.maxBody = 4 << 20
	flags.Var(&f.maxBody, "max-body", "how large the body of a request may be")
	flags.IntVar(&f.maxRequests, "max-requests", 256, "how many requests are answered at once; others get 503")
	flags.IntVar(&f.maxConnections, "max-connections", 2048, "how many connections there may be; the one idle for longest makes room")
	flags.IntVar(&f.maxSessions, "max-sessions", 1000, "how many sessions there may be; the one idle for longest makes room")
	flags.Float64Var(&f.rate, "rate", 0, "how many requests a second each token or address may send; others get 429; 0 is any number")
	flags.IntVar(&f.burst, "burst", defaultBurst, "how many requests may come at once within --rate")
	for _, d := range []struct {
		variable *duration
		name     string
		value    time.Duration
		usage    string
	}{
		{&f.headerTimeout, "header-timeout", 10 * time.Second, "how long the header of a request may take to arrive"},
		{&f.readTimeout, "read-timeout", 30 * time.Second, "how long the body of a request may take to arrive"},
		{&f.idleTimeout, "idle-timeout", 2 * time.Minute, "how long a connection is kept without a request"},
		{&f.keepAlive, "keep-alive", 15 * time.Second, "after how long a silent answer gets a comment, so that nobody in between gives it up"},
		{&f.sessionTimeout, "session-timeout", 30 * time.Minute, "how long a session is kept that nobody uses; 0s is for ever"},
	} {
		*d.variable = duration(d.value)
		flags.Var(d.variable, d.name, d.usage)
	}
}

func (f *httpFlags) check() error {
	if err := (listen.Options{Addr: f.address}).Check(); err != nil {
		return err
	}
	if f.metrics != "" {
		if err := f.metricsOptions().Check(); err != nil {
			return err
		}
	}
	if err := checkPath(f.path); err != nil {
		return fmt.Errorf("--path is %q; %w", f.path, err)
	}
	if _, err := access.NewOrigins(f.allowOrigin, f.allowHost, true); err != nil {
		return err
	}
	if err := f.checkValues(); err != nil {
		return err
	}
	return f.checkReach()
}

// metricsOptions say where metrics are served.
func (f *httpFlags) metricsOptions() listen.Options {
	return listen.Options{Addr: f.metrics, Name: "--metrics"}
}

// taken are paths at which something else than the endpoint answers.
var taken = []string{"/healthz", "/readyz"}

// checkPath refuses a path that no request would have, or that would have it
// answered by something else.
func checkPath(path string) error {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("?#%", r) }
	segments := strings.Split(path, "/")
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("it must begin with /")
	case strings.ContainsFunc(path, odd):
		return errors.New("there must be no ?, # or %, no blank and no control character in it, since it is a path alone and stands as it is")
	case slices.Contains(segments, ".") || slices.Contains(segments, ".."):
		return errors.New("there must be no . and no .. in it, which clients take away")
	case slices.Contains(taken, path) || strings.HasPrefix(path, "/.well-known/"):
		return errors.New("the server answers something else there; choose another")
	}
	return nil
}

// checkTransport refuses flags that say nothing where clients come another way.
func checkTransport(given, http *pflag.FlagSet) error {
	if given.Changed("http") {
		if given.Changed("max-line") {
			return errors.New("--max-line is for standard input; over HTTP --max-body says how large a message may be")
		}
		return nil
	}
	var err error
	given.Visit(func(f *pflag.Flag) {
		if err == nil && http.Lookup(f.Name) != nil {
			err = fmt.Errorf("--%s is for --http; give that too, or leave it out", f.Name)
		}
	})
	return err
}

// checkValues looks at the flags that have nothing to do with where is listened.
func (f *httpFlags) checkValues() error {
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return errors.New("--tls-cert and --tls-key belong together; give both")
	case f.maxBody < 1 || f.maxBody > math.MaxInt32:
		return fmt.Errorf("--max-body must be from 1 to %d bytes", math.MaxInt32)
	case f.maxRequests < 1 || f.maxConnections < 1 || f.maxSessions < 1:
		return errors.New("--max-requests, --max-connections and --max-sessions must be at least 1")
	case !(f.rate >= 0) || math.IsInf(f.rate, 0) || f.burst < 1:
		return errors.New("--rate must be at least 0, and --burst at least 1")
	case f.rate == 0 && f.burst != defaultBurst:
		return errors.New("--burst is how many requests may come at once within --rate; give --rate too")
	case f.keepAlive < duration(100*time.Millisecond):
		return errors.New("--keep-alive must be at least 100ms")
	case f.headerTimeout == 0 || f.readTimeout == 0 || f.idleTimeout == 0:
		return errors.New("--header-timeout, --read-timeout and --idle-timeout must be more than 0s, or slow clients would hold connections for ever")
	}
	return access.Check(access.Options{Issuer: f.issuer, Audience: f.audience, Resource: f.resource})
}

// checkReach refuses to let anybody on the network call tools.
func (f *httpFlags) checkReach() error {
	if listen.Loopback(f.address) || f.address == systemdAddress || f.guarded() || f.insecure {
		return nil
	}
	return fmt.Errorf("--http %s can be reached from other machines, and anybody there could call the tools: ask for tokens with --token-file or --oauth-issuer, or say --insecure", f.address)
}

// guarded reports whether clients have to say who they are.
func (f *httpFlags) guarded() bool { return f.tokenFile != "" || f.issuer != "" }

const systemdAddress = "systemd"

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
