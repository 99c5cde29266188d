package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

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
			return t, nil, fmt.Errorf("--%s is for scripts; a command behind -- takes its own flags (a script with the drop-in file: CONCH_FLAGS)", name)
		}
		return target{command: args[dash:]}, args[:dash], refuseURL(args[dash])
	}
	if err := refuseURL(args[0]); err != nil {
		return t, nil, err
	}
	return target{script: args[0], flags: flags}, args[1:], nil
}

// refuseURL refuses what others take for the place of a server.
func refuseURL(server string) error {
	scheme, _, ok := strings.Cut(server, "://")
	if _, err := os.Stat(server); !ok || err == nil || strings.ContainsRune(scheme, '/') {
		return nil
	}
	return fmt.Errorf("%s is a URL; conch call, conch tools and conch test speak to scripts, and to servers on standard input and output; for a URL see docs/http.md", server)
}

func (t target) call(ctx context.Context, tool string, arguments json.RawMessage) (result json.RawMessage, err error) {
	params, err := encode(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	if t.command == nil {
		err = t.withScript(ctx, func(s *server) (err error) {
			result, err = s.ask(ctx, "tools/call", params)
			return err
		})
	} else {
		err = t.withCommand(ctx, func(c *mcp.ClientSession, last func() json.RawMessage) error {
			_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
			result = last()
			return err
		})
	}
	var refused *refusal
	if errors.As(err, &refused) && refused.isAbout(tool) {
		err = &exitError{2, fmt.Errorf("%w; conch tools shows the tools and their parameters", refused)}
	}
	return result, err
}

// refusal is an error that a server has answered with.
type refusal struct {
	code int64
	text string
}

func newRefusal(code int64, text string) *refusal {
	return &refusal{code, printable(strings.TrimPrefix(text, "Invalid params: "))}
}

func (r *refusal) Error() string { return r.text }

// isAbout reports whether the answer to a call finds fault with the tool's name,
// or with what comes with it. Servers differ in the code for that.
func (r *refusal) isAbout(tool string) bool {
	return (r.code == message.CodeMethodNotFound || r.code == message.CodeInvalidParams) && strings.Contains(r.text, tool)
}

// scriptFlag names a flag that was given and that only a script's server has.
func scriptFlag(cmd *cobra.Command) (name string) {
	script := &cobra.Command{}
	new(serverFlags).register(script)
	new(lengthFlags).register(script.Flags())
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
	return s.source.explain(f(s))
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
		Error  *struct {
			Code    int64
			Message string
		}
	}
	if err := json.Unmarshal(reply.Bytes(), &response); err != nil {
		return nil, fmt.Errorf("read the server's reply: %w", err)
	}
	if e := response.Error; e != nil {
		return nil, &exitError{2, newRefusal(e.Code, e.Message)}
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
