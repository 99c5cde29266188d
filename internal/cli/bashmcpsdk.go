package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/wire"
	"github.com/conch-mcp/conch/lib"
)

// bashMCPSDK is the framework of that name: one call at a time, and a journal in
// its words.
func bashMCPSDK() framework {
	return framework{
		name: lib.BashMCPSDK, journal: newJournal, concurrency: 1, drain: math.MaxInt64,
		inOrder: true, layout: call.Rooted,
		host: func(o host.Options) host.Options {
			o.Manner = host.BashMCPSDK
			return o
		},
		manner: func(j *journal, oneRequest bool) wire.Manner {
			return &wire.BashSDK{Log: j.write, AlwaysAnswerLast: oneRequest}
		},
		call: bashMCPSDKCall,
		asks: map[string]asked{
			"response": {2, func(f []string, out io.Writer) error { return printResponse(out, f[0], []byte(f[1])) }},
			"error":    {4, printGivenError},
			"object":   {1, printObject},
			"initialize": askHost(bashMCPSDK, 2, func(h *host.Host, f []string, out io.Writer) error {
				result, err := h.Initialize(json.RawMessage(f[1]))
				return printOutcome(out, f[0], result, err)
			}),
			"list": askHost(bashMCPSDK, 1, func(h *host.Host, f []string, out io.Writer) error {
				result, err := h.ListTools(false)
				return printOutcome(out, f[0], result, err)
			}),
			"validate": askHost(bashMCPSDK, 2, printVerdict),
		},
	}
}

// bashMCPSDKCall takes the id and the params of a call, which need not be JSON.
func bashMCPSDKCall(fields []string) (json.RawMessage, error) {
	params := json.RawMessage(trimSpace(fields[1]))
	if !json.Valid(params) || params[0] != '{' {
		newJournal().write("ERROR", "tools/call params is not a JSON object")
		return nil, invalidParams("Invalid params: expected an object")
	}
	return params, nil
}

// printVerdict prints what is wrong with a tool's arguments, and fails then.
func printVerdict(h *host.Host, f []string, out io.Writer) error {
	diagnostic := h.Validate(f[0], json.RawMessage(f[1]))
	if diagnostic == "" {
		return nil
	}
	fmt.Fprint(out, diagnostic)
	return &exitError{status: 1}
}

// printObject prints a file that holds one JSON object.
func printObject(f []string, out io.Writer) error {
	object, err := bashsdk.ReadObject(f[0])
	if err != nil {
		newJournal().write("ERROR", err.Error())
		return &exitError{status: 1}
	}
	_, err = fmt.Fprintf(out, "%s\n", object)
	return err
}

// verbatimFiles are the script's list of tools and its configuration, as the
// environment names them.
func verbatimFiles() (tools *bashsdk.ToolsFile, config *bashsdk.ConfigFile) {
	list, described := os.Getenv("MCP_TOOLS_LIST_FILE"), os.Getenv("MCP_CONFIG_FILE")
	return bashsdk.NewVerbatimToolsFile(list, list), bashsdk.NewVerbatimConfigFile(described, described, message.Revisions())
}
