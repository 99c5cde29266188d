package attacks_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// dial opens a connection, with TLS where the target has it, that the end of
// the test closes.
func (e *target) dial() net.Conn {
	e.t.Helper()
	conn, err := e.tryDial("")
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { conn.Close() })
	return conn
}

// tryDial opens a connection from an address of this machine, "" for any.
func (e *target) tryDial(from string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: harness.Deadline}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	if strings.HasPrefix(e.base, "https:") {
		return tls.DialWithDialer(&dialer, "tcp", e.Address, &tls.Config{InsecureSkipVerify: true})
	}
	return dialer.Dial("tcp", e.Address)
}

// write sends bytes, of which the server may not want all.
func write(conn net.Conn, text string) error {
	_ = conn.SetWriteDeadline(time.Now().Add(harness.Deadline))
	_, err := io.WriteString(conn, text)
	return err
}

// closed waits until the server has closed all connections, whatever it says
// before; false when it has not in time.
func closed(conns []net.Conn, within time.Duration) bool {
	end := time.Now().Add(within)
	for _, conn := range conns {
		_ = conn.SetReadDeadline(end)
		_, err := io.Copy(io.Discard, conn)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			return false
		}
	}
	return true
}

// statuses reads responses up to the end of a connection. What is no response
// ends them with a 0.
func statuses(t testing.TB, conn net.Conn, method string) (all []int) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(harness.Deadline))
	r := bufio.NewReader(conn)
	for {
		if _, err := r.Peek(1); err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Errorf("the server neither answers nor closes, after %v", all)
			}
			return all
		}
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return append(all, 0)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		all = append(all, resp.StatusCode)
	}
}

// head is the head of a POST to the endpoint with header lines beside the usual
// ones.
func (e *target) head(lines ...string) string {
	all := append([]string{"POST " + e.Path + " HTTP/1.1", "Host: " + e.Address}, lines...)
	return strings.Join(append(all, "Content-Type: application/json", "Accept: */*"), "\r\n") + "\r\n\r\n"
}

// call is a whole POST that calls echo.
func (e *target) call(word string, lines ...string) string {
	header, body := harness.ModernRequest("1", "tools/call", fmt.Sprintf(`"name":"echo","arguments":{"v":%q}`, word))
	for name, value := range header {
		lines = append(lines, name+": "+value)
	}
	return e.head(append(lines, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
}
