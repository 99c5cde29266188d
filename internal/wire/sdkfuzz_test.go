package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/conch-mcp/conch/internal/message"
)

// FuzzServeBashSDK feeds any lines to a server with the manner BashSDK. Every line
// of its own must say what it answers, and be the same however the bytes come.
func FuzzServeBashSDK(f *testing.F) {
	for _, tt := range sdkLines {
		f.Add([]byte(tt.line + "\n" + ping("1") + "\n"))
	}
	f.Add([]byte(initialize(message.Revision20250326) + "\n[" + ping("1") + "," + call("2", "fast", "") + ",[],5]\n[]\n" + ping("3")))
	f.Add([]byte(call("1", "fast", modernMeta) + "\n" + `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{` + modernMeta + `}}}`))
	f.Add([]byte(strings.Repeat("x", fuzzMaxLine+1) + "\n" + ping("1")))
	f.Fuzz(func(t *testing.T, input []byte) {
		input = append(input, '\n')
		atOnce := serveSDK(t, bytes.NewReader(input))
		for line := range strings.Lines(atOnce) {
			if line[0] == '[' {
				line = line[1:]
			}
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`) {
				t.Errorf("no answer with an id: %s", line)
			}
		}
		// What a cancellation finds depends on when it comes.
		if bytes.Contains(input, []byte("cancel")) || bytes.Contains(input, []byte(`\u`)) {
			return
		}
		if byByte := serveSDK(t, iotest.OneByteReader(bytes.NewReader(input))); byByte != atOnce {
			t.Errorf("byte by byte it says\n%s\nat once\n%s", byByte, atOnce)
		}
	})
}

func serveSDK(t *testing.T, in io.Reader) string {
	t.Helper()
	var out safeBuffer
	ts := newSDKTools()
	close(ts.let)
	opts := options()
	opts.MaxLine, opts.CallTool = fuzzMaxLine, ts.call
	opts.Manner = &BashSDK{Log: func(string, string) {}}
	guard(t, func() {
		if err := Serve(t.Context(), tools{}.server(), in, &out, opts); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return out.String()
}
