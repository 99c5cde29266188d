package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		if name := scriptFlag(cmd); name != "" {
			return t, nil, fmt.Errorf("--%s is for scripts; a command behind -- takes its own flags", name)
		}
		return target{command: args[dash:]}, args[:dash], nil
	}
	return target{script: args[0], flags: flags}, args[1:], nil
}

func (t target) call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	params, err := encode(map[string]any{"name": tool, "arguments": arguments})
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
	var result json.RawMessage
	err = t.withCommand(ctx, func(c *mcp.ClientSession, last func() json.RawMessage) error {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		result = last()
		return err
	})
	return result, err
}

// scriptFlag names a flag that was given and that only a script's server has.
func scriptFlag(cmd *cobra.Command) (name string) {
	script := &cobra.Command{}
	new(serverFlags).register(script)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if script.Flags().Lookup(f.Name) != nil {
			name = f.Name
		}
	})
	return name
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
		MaxLine: math.MaxInt32, Drain: math.MaxInt64, Supported: message.Revisions,
		CallTool: s.host.CallTool, Log: s.logs.logger(),
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
		return nil, &exitError{2, errors.New(strings.TrimPrefix(response.Error.Message, "Invalid params: "))}
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

// withCommand starts the command, connects to it as a client of whatever era it
// speaks, and runs f. last returns the latest result as the command sent it.
func (t target) withCommand(ctx context.Context, f func(c *mcp.ClientSession, last func() json.RawMessage) error) error {
	if _, err := exec.LookPath(t.command[0]); err != nil {
		return &exitError{2, fmt.Errorf("there is no command %s", t.command[0])}
	}
	cmd := exec.Command(t.command[0], t.command[1:]...)
	cmd.Stderr = os.Stderr
	tap := &tap{Transport: &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}}
	client := mcp.NewClient(&mcp.Implementation{Name: "conch", Version: buildVersion()}, nil)
	session, err := client.Connect(ctx, tap, nil)
	if err != nil {
		return &exitError{2, connectError(t.command[0], err)}
	}
	defer session.Close()
	err = f(session, tap.last)
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc):
		return &exitError{2, errors.New(rpc.Message)}
	case err != nil:
		return &exitError{2, err}
	}
	return nil
}

func connectError(command string, err error) error {
	var rpc *jsonrpc.Error
	var syntax *json.SyntaxError
	switch text := err.Error(); {
	case errors.As(err, &rpc):
		return fmt.Errorf("%s is no MCP server: it refused to begin", command)
	case errors.As(err, &syntax), strings.Contains(text, "invalid character"):
		return fmt.Errorf("%s is no MCP server: what it printed is not MCP", command)
	case errors.Is(err, io.EOF), strings.HasSuffix(text, "EOF"), strings.HasSuffix(text, "broken pipe"):
		return fmt.Errorf("%s ended without answering; is it an MCP server?", command)
	}
	return fmt.Errorf("connect to %s: %w", command, err)
}

// tap is a transport that keeps the latest result as it came.
type tap struct {
	mcp.Transport
	result atomic.Pointer[json.RawMessage]
}

func (t *tap) last() json.RawMessage {
	if p := t.result.Load(); p != nil {
		return *p
	}
	return nil
}

// Connect implements [mcp.Transport].
func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &tappedConnection{c, t}, err
}

type tappedConnection struct {
	mcp.Connection
	tap *tap
}

// Read implements [mcp.Connection].
func (c *tappedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil {
		c.tap.result.Store(&r.Result)
	}
	return m, err
}
