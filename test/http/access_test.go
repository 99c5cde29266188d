package http_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

type header = map[string]string

func TestWebPagesAndNamesAreCheckedAtTheDoor(t *testing.T) {
	e := serve(t, "--allow-origin", "https://app.example", "--allow-host", "mcp.example")
	call := func(h header) sent { return modernRequest("1", "tools/call", `"name":"echo"`, h) }
	tests := []struct {
		name   string
		header header
		host   string
		status int
	}{
		{"no origin", nil, "", 200},
		{"a local page", header{"Origin": "http://localhost:5173"}, "", 200},
		{"another local page", header{"Origin": "http://127.0.0.1"}, "", 200},
		{"an allowed page", header{"Origin": "https://app.example"}, "", 200},
		{"the same without TLS", header{"Origin": "http://app.example"}, "", 403},
		{"a hostile page", header{"Origin": "https://evil.example"}, "", 403},
		{"a page whose name begins like ours", header{"Origin": "http://localhost.evil.example"}, "", 403},
		{"no page in particular", header{"Origin": "null"}, "", 403},
		{"two origins", header{"Origin": "http://localhost\nhttps://evil.example"}, "", 403},
		{"a name that leads here", nil, "evil.example", 403},
		{"an allowed name", nil, "mcp.example:8443", 200},
		{"localhost", nil, "LocalHost:1", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := call(tt.header).request(t.Context(), e)
			r.Host = tt.host
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("got %v", resp.Status)
			}
			if origin := tt.header["Origin"]; tt.status == 200 && resp.Header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("the page may not read it: %v", resp.Header)
			}
		})
	}
	preflight := sent{method: http.MethodOptions, header: header{
		"Origin": "https://app.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type, mcp-method, mcp-protocol-version",
	}}
	answer := e.send(preflight)
	if answer.status != 204 || !strings.Contains(strings.ToLower(answer.header.Get("Access-Control-Allow-Headers")), "mcp-method") {
		t.Errorf("a preflight: %+v", answer)
	}
	preflight.header["Origin"] = "https://evil.example"
	if answer := e.send(preflight); answer.status != 403 || answer.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a hostile preflight: %+v", answer)
	}
}

const (
	goodToken  = "correct-horse-battery-staple"
	otherToken = "another-token-of-some-length"
)

func TestTokensOfAFileOpenTheDoor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# who may\nada " + goodToken + "\n" + otherToken + "\n")
	e := serve(t, "--token-file", file)
	ping := func(authorization string) got {
		return e.post("1", "tools/list", "", header{"Authorization": authorization})
	}
	tests := []struct {
		name, authorization string
		status              int
		challenge           string
	}{
		{"none", "", 401, `Bearer`},
		{"a good one", "Bearer " + goodToken, 200, ""},
		{"another", "bearer " + otherToken, 200, ""},
		{"a guess", "Bearer correct-horse-battery-stapl", 401, `error="invalid_token"`},
		{"a longer guess", "Bearer " + goodToken + "x", 401, `error="invalid_token"`},
		{"its name", "Bearer ada", 401, `error="invalid_token"`},
		{"another scheme", "Basic YTpi", 401, ``},
		{"two headers", "Bearer " + goodToken + "\nBearer " + goodToken, 400, `error="invalid_request"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := ping(tt.authorization)
			if answer.status != tt.status || !strings.Contains(answer.header.Get("WWW-Authenticate"), tt.challenge) {
				t.Errorf("got %+v", answer)
			}
			if strings.Contains(answer.body, goodToken) {
				t.Error("the answer shows a token")
			}
		})
	}
	if answer := e.send(sent{method: http.MethodGet, path: "/healthz"}); answer.status != 200 {
		t.Errorf("health needs a token: %+v", answer)
	}
	// A session is for who has begun it.
	mine := sent{header: header{"Authorization": "Bearer " + goodToken}, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`}
	id := e.send(mine).header.Get("Mcp-Session-Id")
	for token, status := range map[string]int{goodToken: 200, otherToken: 404} {
		answer := e.send(sent{header: header{"Authorization": "Bearer " + token, "Mcp-Session-Id": id}, body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`})
		if answer.status != status {
			t.Errorf("the session with %s: %+v", token, answer)
		}
	}
	write("grace " + otherToken + "\n")
	harness.Eventually(t, harness.Deadline, "a token that was taken away opens no more", func() bool { return ping("Bearer "+goodToken).status == 401 })
	if answer := ping("Bearer " + otherToken); answer.status != 200 {
		t.Errorf("the other: %+v", answer)
	}
	if strings.Contains(e.Stderr(), otherToken) || !strings.Contains(e.Stderr(), "by=ada") {
		t.Errorf("the log is %s", e.Stderr())
	}
}

// authority is an authorization server of the test's own.
type authority struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, a.URL, a.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		point, err := key.PublicKey.Bytes()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(w, `{"keys":[{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"k","x":%q,"y":%q}]}`, b64(point[1:33]), b64(point[33:]))
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func b64(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

// token is one with these claims besides the usual ones.
func (a *authority) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": a.URL, "aud": "https://mcp.example/mcp", "sub": "ada", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	body, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	text := b64([]byte(`{"alg":"ES256","kid":"k","typ":"at+jwt"}`)) + "." + b64(body)
	hash := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, a.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + b64(signature)
}

func TestTokensOfAnIssuerOpenTheDoorAndScopesTheTools(t *testing.T) {
	a := newAuthority(t)
	list := strings.Replace(toolsList, `"name":"fail"`, `"name":"fail","scopes":["tools:fail"]`, 1)
	e := serveScript(t, script, list, "{}", "--oauth-issuer", a.URL, "--oauth-audience", "https://mcp.example/mcp", "--public-url", "https://mcp.example/mcp")
	call := func(tool, token string) got {
		h := header{}
		if token != "" {
			h["Authorization"] = "Bearer " + token
		}
		return e.post("1", "tools/call", `"name":"`+tool+`"`, h)
	}
	const metadata = `resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"`
	tests := []struct {
		name, tool, token string
		status            int
		challenge         []string
	}{
		{"none", "echo", "", 401, []string{metadata}},
		{"a good one", "echo", a.token(t, nil), 200, nil},
		{"another audience", "echo", a.token(t, map[string]any{"aud": "https://other.example"}), 401, []string{metadata, `error="invalid_token"`}},
		{"another issuer", "echo", a.token(t, map[string]any{"iss": "https://other.example"}), 401, []string{`error="invalid_token"`}},
		{"expired", "echo", a.token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), 401, []string{`error="invalid_token"`}},
		{"no JWT", "echo", "abc.def.ghi", 401, []string{`error="invalid_token"`}},
		{"a scope is lacking", "fail", a.token(t, map[string]any{"scope": "tools:other"}), 403, []string{metadata, `error="insufficient_scope"`, `scope="tools:fail"`}},
		{"the scope is there", "fail", a.token(t, map[string]any{"scope": "x tools:fail"}), 200, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := call(tt.tool, tt.token)
			if answer.status != tt.status {
				t.Errorf("got %+v", answer)
			}
			if tt.status == 403 && !strings.Contains(answer.body, `"id":1,`) {
				t.Errorf("it is not told which call is refused: %s", answer.body)
			}
			for _, want := range tt.challenge {
				if !strings.Contains(answer.header.Get("WWW-Authenticate"), want) {
					t.Errorf("the challenge is %s", answer.header.Get("WWW-Authenticate"))
				}
			}
		})
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		answer := e.send(sent{method: http.MethodGet, path: path})
		var about struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal([]byte(answer.body), &about); err != nil || answer.status != 200 {
			t.Fatalf("%s: %+v", path, answer)
		}
		if about.Resource != "https://mcp.example/mcp" || len(about.Servers) != 1 || about.Servers[0] != a.URL || len(about.Scopes) != 1 {
			t.Errorf("got %+v", about)
		}
	}
}

func TestTheNetworkIsServedOnlyToWhoeverHasAToken(t *testing.T) {
	run := func(args ...string) (string, int) {
		cmd := exec.Command(harness.Binary(t), append(append([]string{"serve"}, args...), harness.Script(t, script, toolsList, "{}"))...)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%v was served", args)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	missing := filepath.Join(t.TempDir(), "none")
	taken := serve(t).Address
	tests := []struct {
		args   []string
		want   []string
		status int
	}{
		{[]string{"--http=0.0.0.0:0"}, []string{"--token-file", "--oauth-issuer", "--insecure"}, 2},
		{[]string{"--http=:0"}, []string{"--insecure"}, 2},
		{[]string{"--http=[::]:0"}, []string{"--insecure"}, 2},
		{[]string{"--http=192.0.2.1:0", "--tls-cert=a", "--tls-key=b"}, []string{"--token-file"}, 2},
		{[]string{"--http=127.0.0.1:0", "--tls-cert=a"}, []string{"--tls-key"}, 2},
		{[]string{"--http=127.0.0.1:0", "--tls-cert=" + missing, "--tls-key=" + missing}, []string{"--tls-cert", missing}, 1},
		{[]string{"--http=127.0.0.1:0", "--token-file=" + missing}, []string{"token", missing}, 1},
		{[]string{"--http=127.0.0.1:0", "--oauth-issuer=http://issuer.example", "--oauth-audience=a"}, []string{"--oauth-issuer", "https"}, 2},
		{[]string{"--http=127.0.0.1:0", "--oauth-issuer=https://issuer.example"}, []string{"--oauth-audience", "--public-url"}, 2},
		{[]string{"--http=127.0.0.1:0", "--oauth-audience=a"}, []string{"--oauth-audience", "--oauth-issuer"}, 2},
		{[]string{"--http=127.0.0.1:0", "--public-url=mcp.example"}, []string{"--public-url"}, 2},
		{[]string{"--http=nonsense:x"}, []string{"--http"}, 2},
		{[]string{"--http=127.0.0.1:99999"}, []string{"--http"}, 2},
		{[]string{"--http=systemd"}, []string{"--http", "systemd"}, 1},
		{[]string{"--http=127.0.0.1:0", "--allow-origin=app.example"}, []string{"--allow-origin"}, 2},
		{[]string{"--http=127.0.0.1:0", "--allow-origin=https://app.example/x"}, []string{"--allow-origin"}, 2},
		{[]string{"--http=127.0.0.1:0", "--allow-host=a/b"}, []string{"--allow-host"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=mcp"}, []string{"--path"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/healthz"}, []string{"--path", "something else"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/readyz"}, []string{"--path"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/mcp?x=1"}, []string{"--path", "?"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/mcp#x"}, []string{"--path", "#"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/a%20b"}, []string{"--path", "%"}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/a/../b"}, []string{"--path", ".."}, 2},
		{[]string{"--http=127.0.0.1:0", "--path=/.well-known/oauth-protected-resource"}, []string{"--path"}, 2},
		{[]string{"--http=127.0.0.1:0", "--metrics=" + taken}, []string{"conch: --metrics \"" + taken + "\": another program"}, 1},
		{[]string{"--http=" + taken}, []string{"conch: --http \"" + taken + "\": another program"}, 1},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			out, status := run(tt.args...)
			if status != tt.status {
				t.Errorf("status %d", status)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in %s", want, out)
				}
			}
		})
	}
	if e := serve(t, "--http=0.0.0.0:0", "--insecure"); e.post("1", "tools/list", "", nil).status != 200 {
		t.Error("with --insecure it is not served")
	}
}

func TestTheLogTellsTheURLOfTheEndpoint(t *testing.T) {
	port := func(e *endpoint) string {
		_, port, err := net.SplitHostPort(e.Address)
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	e := serve(t, "--path", "/x")
	e.Said(regexp.MustCompile(`msg=listening address=127\.0\.0\.1:` + port(e) + ` path=/x url=http://127\.0\.0\.1:` + port(e) + `/x\n`))
	e = serve(t, "--http=0.0.0.0:0", "--insecure")
	e.Said(regexp.MustCompile(`msg=listening address=0\.0\.0\.0:` + port(e) + ` path=/mcp url=http://localhost:` + port(e) + `/mcp\n`))
}

func TestAUnixSocketIsServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	e := serve(t, "--http=unix:"+path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket has mode %v, %v", info.Mode(), err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	e.url = "http://anything/mcp"
	resp, err := client.Do(modernRequest("1", "tools/call", `"name":"echo"`, nil).request(t.Context(), e))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("got %s", resp.Status)
	}
	client.CloseIdleConnections()
	e.Terminate()
	if exists(path) {
		t.Error("the socket is left")
	}
}

func TestWhoeverSendsTooMuchIsToldWhenToComeBack(t *testing.T) {
	e := serve(t, "--rate", "0.01", "--burst", "3")
	for i := range 5 {
		answer := e.post("1", "tools/list", "", nil)
		switch {
		case i < 3 && answer.status != 200:
			t.Errorf("request %d: %+v", i, answer)
		case i >= 3 && (answer.status != 429 || answer.header.Get("Retry-After") == "" || !strings.Contains(answer.body, "--rate")):
			t.Errorf("request %d: %+v", i, answer)
		}
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	e := serve(t, "--max-requests", "1", "--keep-alive", "100ms")
	file := filepath.Join(t.TempDir(), "f")
	r := e.open(modernRequest("1", "tools/call", `"name":"wait","arguments":{"file":"`+file+`"}`, nil))
	if answer := e.post("2", "tools/list", "", nil); answer.status != 503 || answer.header.Get("Retry-After") == "" || !strings.Contains(answer.body, "--max-requests") {
		t.Errorf("got %+v", answer)
	}
	awaitFile(t, file)
	remove(t, file)
	r.message()
	harness.Eventually(t, harness.Deadline, "the next is taken", func() bool { return e.post("2", "tools/list", "", nil).status == 200 })
}
