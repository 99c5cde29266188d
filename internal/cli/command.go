package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// This file is the server that a command starts, of which nothing is known
// before it answers, and what can be said when it does not.

// withCommand starts the command, connects to it as a client of whatever era it
// speaks, and runs f. last returns the latest result as the command sent it.
func (t target) withCommand(ctx context.Context, f func(c *mcp.ClientSession, last func() json.RawMessage) error) error {
	name := t.command[0]
	if _, err := exec.LookPath(name); err != nil {
		return &exitError{2, notThere(name, err)}
	}
	cmd := exec.Command(name, t.command[1:]...)
	cmd.Stderr = os.Stderr
	tap := &tap{Transport: &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}}
	client := mcp.NewClient(&mcp.Implementation{Name: "conch", Version: buildVersion()}, nil)
	session, err := client.Connect(ctx, tap, nil)
	if err != nil {
		return &exitError{2, connectError(name, err, tap.ended())}
	}
	err = f(session, tap.last)
	// How the command ended is known once the session is closed.
	_ = session.Close()
	var rpc *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rpc):
		return &exitError{2, newRefusal(rpc.Code, rpc.Message)}
	case isEnd(err):
		return &exitError{2, fmt.Errorf("%s ended before it had answered%s", name, tap.ended())}
	}
	return &exitError{2, err}
}

// notThere says why a command cannot be started that is not to be found, and
// what would do instead.
func notThere(name string, err error) error {
	info, missing := os.Stat(name)
	isPath := strings.ContainsRune(name, '/')
	switch {
	case missing != nil && errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be started: %w", name, fs.ErrPermission)
	case missing != nil:
		return fmt.Errorf("there is no command %s", name)
	case info.IsDir() && isPath:
		return fmt.Errorf("%s is a directory, and no command", name)
	case info.IsDir():
		return fmt.Errorf("there is no command %s", name)
	case info.Mode()&0o111 == 0 && isPath:
		return fmt.Errorf("%s is not executable; chmod +x it, or write -- bash %s if it is a Bash script", name, name)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("there is no command %s; for the file of that name here, chmod +x it and write ./%s, or write -- bash %s if it is a Bash script", name, name, name)
	}
	return fmt.Errorf("there is no command %s; for the file of that name here write ./%s", name, name)
}

// connectError says why there is no session. ended tells how the command ended.
func connectError(command string, err error, ended string) error {
	var rpc *jsonrpc.Error
	var syntax *json.SyntaxError
	switch text := err.Error(); {
	case errors.As(err, &rpc) && rpc.Code == message.CodeMethodNotFound:
		return fmt.Errorf("%s is no MCP server: it refused to begin", command)
	case errors.As(err, &rpc):
		return fmt.Errorf("%s refused initialize: %s", command, printable(rpc.Message))
	case errors.As(err, &syntax), strings.Contains(text, "invalid character"):
		return fmt.Errorf("%s is no MCP server: what it printed is not MCP", command)
	case isEnd(err):
		return fmt.Errorf("%s ended without answering%s; is it an MCP server?", command, ended)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s cannot be started: it is no program, nor does its first line begin with #!; write -- bash %s if it is a Bash script", command, command)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s cannot be started: there is no such program as its first line, #!, names", command)
	}
	return fmt.Errorf("connect to %s: %w", command, err)
}

// isEnd reports whether an error is that of a command that is gone.
func isEnd(err error) bool {
	text := err.Error()
	return errors.Is(err, io.EOF) || strings.HasSuffix(text, "EOF") || strings.HasSuffix(text, "broken pipe")
}

// tap is a transport that keeps the latest result as it came, and how the
// command ended.
type tap struct {
	mcp.Transport
	result atomic.Pointer[json.RawMessage]
	end    atomic.Pointer[string]
}

func (t *tap) last() json.RawMessage {
	if p := t.result.Load(); p != nil {
		return *p
	}
	return nil
}

// ended is how the command ended, in brackets behind a blank; "" if that is not
// known.
func (t *tap) ended() string {
	if p := t.end.Load(); p != nil {
		return " (" + *p + ")"
	}
	return ""
}

// Connect implements [mcp.Transport].
func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tappedConnection{c, t}, nil
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

// Close implements [mcp.Connection]. Closing waits for the command.
func (c *tappedConnection) Close() error {
	err := c.Connection.Close()
	var exit *exec.ExitError
	switch {
	case err == nil:
		end := "exit status 0"
		c.tap.end.Store(&end)
	case errors.As(err, &exit):
		end := exit.String()
		c.tap.end.Store(&end)
	}
	return err
}
