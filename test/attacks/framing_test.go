package attacks_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// What does not say clearly where it ends, or where the next request begins, is
// answered once and then cut off.
func TestRequestsWithDoubtfulBoundsAreRefused(t *testing.T) {
	t.Parallel()
	e := serve(t, "--read-timeout", "500ms", "--idle-timeout", "500ms", "--header-timeout", "500ms")
	whole := e.call("smuggled")
	ok, bad := []int{200}, []int{400}
	tests := []struct {
		name, text string
		want       []int
	}{
		{"as it should be", e.call("x", "Connection: close"), ok},
		{"three in a row", e.call("x") + e.call("y") + e.call("z"), []int{200, 200, 200}},
		{"a body shorter than announced", e.head("Content-Length: 500") + "{}", []int{408}},
		{"a body longer than announced", e.head("Content-Length: 2") + "{}{}", bad},
		{"two lengths", e.head("Content-Length: 2", "Content-Length: 300") + "{}" + whole, bad},
		{"the same length twice", e.head("Content-Length: 2", "Content-Length: 2", "Connection: close") + "{}", bad},
		{"two lengths in one", e.head("Content-Length: 2, 300") + "{}" + whole, bad},
		{"a length below nothing", e.head("Content-Length: -1") + whole, bad},
		{"a length with a sign", e.head("Content-Length: +2") + "{}" + whole, bad},
		{"a length in hexadecimal", e.head("Content-Length: 0x2") + "{}" + whole, bad},
		{"a length beyond all numbers", e.head("Content-Length: 99999999999999999999") + whole, bad},
		{"a coding nobody knows", e.head("Transfer-Encoding: xchunked") + whole, []int{501}},
		{"two codings", e.head("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + "0\r\n\r\n" + whole, []int{501}},
		{"a coding and a space", e.head("Transfer-Encoding : chunked") + "0\r\n\r\n" + whole, bad},
		{"chunks that are none", e.head("Transfer-Encoding: chunked") + "zz\r\n{}\r\n0\r\n\r\n" + whole, bad},
		{"a chunk below nothing", e.head("Transfer-Encoding: chunked") + "-2\r\n{}\r\n0\r\n\r\n" + whole, bad},
		{"a chunk beyond all numbers", e.head("Transfer-Encoding: chunked") + "fffffffffffffffff\r\n{}\r\n0\r\n\r\n" + whole, bad},
		{"a chunk without its end", e.head("Transfer-Encoding: chunked") + "2\r\n{}GET / HTTP/1.1\r\n\r\n", bad},
		{"no chunk", e.head("Transfer-Encoding: chunked", "Connection: close") + "0\r\n\r\n", bad},
		{"a 100 that is waited for", e.call("x", "Expect: 100-continue", "Connection: close"), []int{100, 200}},
		{"an expectation nobody knows", e.call("x", "Expect: 200-ok"), []int{417}},
		{"a gigabyte announced", e.head("Content-Length: 1073741824"), []int{413}},
		{"a gigabyte announced and expected", e.head("Content-Length: 1073741824", "Expect: 100-continue"), []int{413}},
		{"a gigabyte in one chunk", e.head("Transfer-Encoding: chunked") + "40000000\r\n{}", []int{408}},
	}
	e.withstands(bound, func() {
		each(len(tests), 8, func(i int) {
			conn := e.dial()
			if err := write(conn, tests[i].text); err != nil {
				t.Errorf("%s: %v", tests[i].name, err)
			}
			if got := statuses(t, conn, "POST"); !slices.Equal(got, tests[i].want) {
				t.Errorf("%s: answered with %v, want %v", tests[i].name, got, tests[i].want)
			}
		})
	})
	e.Terminate()
}

// With a length and chunks both, the chunks count, as RFC 9112 has it, and the
// connection carries nothing more.
func TestALengthBesideChunksSmugglesNothing(t *testing.T) {
	t.Parallel()
	e := serve(t)
	conn := e.dial()
	text := e.head("Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n" + e.call("smuggled")
	if err := write(conn, text); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	if got := statuses(t, conn, "POST"); strings.Contains(e.Stderr(), "tool=echo") || !slices.Equal(got, []int{400}) {
		t.Errorf("answered with %v", got)
	}
	e.Terminate()
}

// A body that has grown too large is read no further, however it comes.
func TestABodyThatNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	e := serve(t, "--max-body", "1MiB")
	e.withstands(bound, func() {
		each(20, 10, func(int) {
			conn := e.dial()
			if err := write(conn, e.head("Transfer-Encoding: chunked")); err != nil {
				t.Error(err)
				return
			}
			chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10))
			sent := 0
			for sent < 1<<30 {
				_ = conn.SetWriteDeadline(time.Now().Add(soon))
				n, err := io.WriteString(conn, chunk)
				if sent += n; err != nil {
					break
				}
			}
			if sent > 32<<20 {
				t.Errorf("%d MiB were taken", sent>>20)
			}
		})
	})
	e.Terminate()
}

func TestBodiesAreNotUnpacked(t *testing.T) {
	t.Parallel()
	e := serve(t)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.Copy(w, io.LimitReader(spaces{}, 30<<20)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	e.withstands(bound, func() {
		each(50, 10, func(i int) {
			coding := []string{"gzip", "deflate", "br", "zstd", "gzip, gzip"}[i%5]
			answer, err := e.try(t.Context(), "POST", bomb.String(), map[string]string{"Content-Encoding": coding})
			if err != nil || answer.status != 415 || !strings.Contains(answer.body, "Content-Encoding") {
				t.Errorf("%s: %+v, %v", coding, answer, err)
			}
		})
	})
	header, body := harness.ModernRequest("1", "tools/list", "")
	header["Content-Encoding"] = "identity"
	if answer := e.post(body, header); answer.status != 200 {
		t.Errorf("identity: %+v", answer)
	}
	e.Terminate()
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Bodies of many that do not end take no more memory than all may together.
func TestHalfBodiesShareOneBound(t *testing.T) {
	t.Parallel()
	e := serve(t, "--read-timeout", "3s")
	e.withstands(3*bound, func() {
		conns := make([]net.Conn, 150)
		for i := range conns {
			conns[i] = e.dial()
		}
		part := strings.Repeat(" ", 4<<20-1)
		each(len(conns), 20, func(i int) { _ = write(conns[i], e.head("Content-Length: 4194304")+part) })
		if !closed(conns, 3*soon) {
			t.Error("bodies that never end are still waited for")
		}
	})
	e.Terminate()
}
