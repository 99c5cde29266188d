package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/wire"
)

// target is a server to be asked: a script, or a command that starts one.
type target struct {
	script  string
	flags   serverFlags
	command []string
}

// newTarget takes the target off the arguments of a subcommand: the first, or
// all behind "--".
func newTarget(cmd *cobra.Command, args []string, flags serverFlags) (t target, rest []string, err error) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		if len(args) == dash {
			return t, nil, errors.New("name a command behind --")
		}
		return target{command: args[dash:]}, args[:dash], nil
	}
	return target{script: args[0], flags: flags}, args[1:], nil
}

func (t target) call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	if t.command == nil {
		var result json.RawMessage
		err := t.withScript(ctx, func(s *server) (err error) {
			result, err = s.ask(ctx, "tools/call", params)
			return err
		})
		return result, err
	}
	return t.askCommand(ctx, func(c *mcp.ClientSession) (any, error) {
		return c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	})
}

// withScript runs f with the script's server.
func (t target) withScript(ctx context.Context, f func(*server) error) error {
	s, err := startServer(ctx, t.script, nil, t.flags)
	if err != nil {
		return err
	}
	defer s.close()
	return f(s)
}

// ask sends one request the way a client would, down to the bytes.
func (s *server) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var request, reply bytes.Buffer
	fmt.Fprintf(&request, `{"jsonrpc":"2.0","id":1,"method":%q,"params":`, method)
	request.Write(withMeta(params))
	request.WriteByte('}')
	err := wire.Serve(ctx, s.host.Server(), &request, &reply, wire.Options{
		MaxLine: math.MaxInt32, Drain: math.MaxInt64, Supported: message.Revisions, Log: s.logs.logger(),
	})
	if err != nil {
		return nil, err
	}
	var response struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(reply.Bytes(), &response); err != nil {
		return nil, fmt.Errorf("read the server's reply: %w", err)
	}
	if response.Error != nil {
		return nil, &exitError{2, errors.New(response.Error.Message)}
	}
	return response.Result, nil
}

// withMeta makes params, a JSON object, those of a request of the stateless
// era.
func withMeta(params json.RawMessage) []byte {
	meta := fmt.Sprintf(`{"_meta":{%q:%q,%q:{}}`, message.MetaProtocolVersion, message.Revision20260728, message.MetaClientCapabilities)
	if string(params) == "{}" {
		return []byte(meta + "}")
	}
	return append([]byte(meta+","), params[1:]...)
}

// askCommand starts the command, connects to it as a client of whatever era it
// speaks, and returns what f got, as JSON.
func (t target) askCommand(ctx context.Context, f func(*mcp.ClientSession) (any, error)) (json.RawMessage, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "conch", Version: buildVersion()}, nil)
	cmd := exec.Command(t.command[0], t.command[1:]...)
	cmd.Stderr = os.Stderr
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}, nil)
	if err != nil {
		return nil, &exitError{2, fmt.Errorf("connect to %s: %w", t.command[0], err)}
	}
	defer session.Close()
	result, err := f(session)
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		return nil, &exitError{2, errors.New(rpc.Message)}
	case err != nil:
		return nil, &exitError{2, err}
	}
	return json.Marshal(result)
}
