package examples_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/conch-mcp/conch/test/harness"
)

const modern = "2026-07-28"

// tableDeadline is how long all calls of a table may take together.
const tableDeadline = 4 * harness.Deadline

// overHTTP makes the calls of a table side by side, each with a request of the
// stateless era. Nothing may be left.
func (e example) overHTTP(table []asked) []answer {
	e.t.Helper()
	s := harness.ServeHTTP(e.t, append(e.flags, e.script)...)
	ctx, cancel := context.WithTimeout(context.Background(), tableDeadline)
	defer cancel()
	replies, errs := make([]string, len(table)), make([]error, len(table))
	var calls sync.WaitGroup
	for i, c := range table {
		calls.Go(func() { replies[i], errs[i] = c.post(ctx, s.URL(), i) })
	}
	calls.Wait()
	answers := make([]answer, len(table))
	for i, c := range table {
		if errs[i] != nil {
			e.t.Fatalf("%s %s: %v", c.tool, c.arguments, errs[i])
		}
		reply := harness.ParseReply(e.t, replies[i])
		if string(reply.ID) != fmt.Sprint(i) {
			e.t.Fatalf("call %d was answered %s", i, reply.Raw)
		}
		answers[i].text, answers[i].isError = reply.ToolText(e.t)
	}
	s.Terminate()
	return answers
}

// post sends the call and returns the message that answers it.
func (c asked) post(ctx context.Context, url string, id int) (string, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`, id, c.tool, c.arguments, modern)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": c.tool,
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	return message(response)
}

// message is the message that answers a request.
func message(response *http.Response) (string, error) {
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return lastEvent(response.Body)
	}
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// lastEvent is the data of a stream's last event, which is the answer.
func lastEvent(stream io.Reader) (data string, err error) {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadString('\n')
		if text, found := strings.CutPrefix(line, "data: "); found {
			data = strings.TrimSuffix(text, "\n")
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return "", err
		}
	}
}
