package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/wire"
	"github.com/conch-mcp/conch/lib"
)

// mcpServerBashSDK is the framework of that name: calls run beside each other,
// and what tools say on standard error is the server's.
func mcpServerBashSDK() framework {
	return framework{
		name: lib.MCPServerBashSDK, journal: newKeptJournal, concurrency: defaultConcurrency(), drain: duration(time.Minute),
		stderrApart: true, endsAtOnce: true, overHTTP: true,
		host: func(o host.Options) host.Options {
			o.Manner, o.Name, o.Version = host.MCPServerBashSDK, "BashMCPServer", "0.0.0"
			o.TTLMs, o.CacheScope = defaultCaching()
			o.Unchecked = os.Getenv("MCP_VALIDATE") == "0"
			return o
		},
		manner: func(_ *journal, oneRequest bool) wire.Manner { return &wire.ServerBashSDK{OneRequest: oneRequest} },
		call:   mcpServerBashSDKCall,
		asks: map[string]asked{
			"response": askHost(mcpServerBashSDK, 2, printCompleted),
			"error":    {4, printGivenError},
			"document": {1, printDocument},
			"parse":    {1, printParts},
			"decode":   {1, printDecoded},
			"info": askHost(mcpServerBashSDK, 1, func(h *host.Host, _ []string, out io.Writer) error {
				_, err := fmt.Fprintf(out, "%s\n", h.ServerInfo())
				return err
			}),
			"discover": askHost(mcpServerBashSDK, 1, func(h *host.Host, f []string, out io.Writer) error {
				result, err := h.Discover()
				return printOutcome(out, f[0], result, err)
			}),
			"list": askHost(mcpServerBashSDK, 1, func(h *host.Host, f []string, out io.Writer) error {
				result, err := h.ListTools(true)
				return printOutcome(out, f[0], result, err)
			}),
		},
	}
}

// defaultCaching is what the variables say of how long and by whom lists may be
// kept. One that makes no sense is as good as none.
func defaultCaching() (ttlMs int64, scope string) {
	ttlMs, err := strconv.ParseInt(os.Getenv("MCP_DEFAULT_TTL_MS"), 10, 64)
	if err != nil || ttlMs < 0 {
		ttlMs = 60000
	}
	if scope = os.Getenv("MCP_DEFAULT_CACHE_SCOPE"); scope != "private" {
		scope = "public"
	}
	return ttlMs, scope
}

// mcpServerBashSDKCall takes the id, the tool and its arguments, which may be
// none.
func mcpServerBashSDKCall(fields []string) (json.RawMessage, error) {
	if len(fields) != 3 {
		return nil, &exitError{2, fmt.Errorf("a call has 3 fields, not %d", len(fields))}
	}
	arguments := trimSpace(fields[2])
	if len(arguments) == 0 {
		arguments = []byte(`{}`)
	}
	if err := message.Check(arguments); err != nil {
		return nil, invalidParams("Invalid params: the arguments are no JSON")
	}
	name, err := encode(fields[1])
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"name":%s,"arguments":%s,"_meta":{%q:%q}}`,
		name, arguments, message.MetaProtocolVersion, message.Revision20260728), nil
}

// printCompleted prints a response with what every result has.
func printCompleted(h *host.Host, f []string, out io.Writer) error {
	result := trimSpace(f[1])
	if !json.Valid(result) || result[0] != '{' {
		return errors.New("the result of a response must be a JSON object")
	}
	return printResponse(out, f[0], h.Completed(result))
}

// printDocument prints a file that holds one JSON document.
func printDocument(f []string, out io.Writer) error {
	document, err := bashsdk.ReadDocument(f[0])
	if err != nil {
		newKeptJournal().write("ERROR", err.Error())
		return &exitError{status: 1}
	}
	_, err = fmt.Fprintf(out, "%s\n", document)
	return err
}

// unitSeparator stands between the parts of a message.
const unitSeparator = "\x1f"

// printParts takes a message apart for a script: jsonrpc, id, method, revision,
// tool and arguments. What could be taken for the end of a part is a blank.
func printParts(f []string, out io.Writer) error {
	text := trimSpace(f[0])
	if message.Check(text) != nil {
		return &exitError{status: 1}
	}
	params := message.Member(text, "params")
	arguments := message.Member(params, "arguments")
	if arguments == nil || string(arguments) == "null" || string(arguments) == "false" {
		arguments = json.RawMessage(`{}`)
	}
	parts := []string{
		shown(message.Member(text, "jsonrpc")), string(compact(message.Member(text, "id"))), shown(message.Member(text, "method")),
		shown(message.Member(message.Member(params, "_meta"), message.MetaProtocolVersion)), shown(message.Member(params, "name")),
		string(compact(arguments)),
	}
	_, err := io.WriteString(out, strings.Join(parts, unitSeparator))
	return err
}

var partEnds = strings.NewReplacer("\n", " ", "\r", " ", unitSeparator, " ", "\x00", "")

// shown is a value as a part of a message: the text of a string, the JSON of
// anything else, and nothing for null and false.
func shown(value json.RawMessage) string {
	switch {
	case len(value) == 0, string(value) == "null", string(value) == "false":
		return ""
	case value[0] == '"':
		return partEnds.Replace(message.Text(value))
	}
	return string(compact(value))
}

func compact(value json.RawMessage) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, value)
	return b.Bytes()
}

// printDecoded prints what the base64 in a header's value stands for.
func printDecoded(f []string, out io.Writer) error {
	text := strings.TrimSuffix(strings.TrimPrefix(f[0], "=?base64?"), "?=")
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || !utf8.Valid(decoded) || bytes.IndexByte(decoded, 0) >= 0 {
		return &exitError{status: 1}
	}
	_, err = out.Write(decoded)
	return err
}
