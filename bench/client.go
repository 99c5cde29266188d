package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/conch-mcp/conch/internal/nowait"
)

// client is a connection to a server on its standard input and output, with as
// little of its own between as will do.
type client struct {
	cmd        *exec.Cmd
	in, from   *end
	out        *bufio.Reader
	tool, args string
	id         int
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// startServer starts a server and shakes hands with it.
func startServer(command []string, tool, args string) (*client, error) {
	c := &client{cmd: exec.Command(command[0], command[1:]...), tool: tool, args: args}
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.in, c.from = newEnd(in), newEnd(out)
	c.out = bufio.NewReaderSize(c.from, 1<<16)
	c.cmd.Stdin, c.cmd.Stdout = stdin, stdout
	err = c.cmd.Start()
	// Or the replies of a server that has ended would not end.
	stdin.Close()
	stdout.Close()
	if err != nil {
		return nil, err
	}
	if _, err = io.WriteString(c.in, handshake); err == nil {
		_, err = c.reply()
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// An end of a pipe is waited for in the kernel, and Go is not told: what its runtime
// does about processes that are idle for moments takes as much as a good part of a
// call, and would be counted as the server's. It holds on to one of this process's
// processors meanwhile, which has nothing else to do.
type end struct {
	file *os.File
	fd   int
}

// newEnd has reads and writes of the file block.
func newEnd(file *os.File) *end { return &end{file, int(file.Fd())} }

func (e *end) Read(p []byte) (n int, err error) {
	if n, err = nowait.Read(e.fd, p); n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (e *end) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var wrote int
		wrote, err = nowait.Write(e.fd, p[n:])
		n += wrote
	}
	return n, err
}

func (c *client) stop() {
	c.in.file.Close()
	defer c.from.file.Close()
	_ = c.cmd.Wait()
}

func (c *client) reply() ([]byte, error) {
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEnded, err)
	}
	return line, nil
}

// call writes one request.
func (c *client) call() error {
	c.id++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`+"\n", c.id, c.tool, c.args)
	return err
}

// result reads one reply, which must be a tool's success: a fast failure is
// not a fast call.
func (c *client) result() error {
	line, err := c.reply()
	if err != nil {
		return err
	}
	if !bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"isError":true`)) {
		return fmt.Errorf("not a result: %s", line)
	}
	return nil
}

// sequential makes n calls, each after the reply to the one before.
func (c *client) sequential(n int) (p50, p99 float64, err error) {
	var took []float64
	for range n {
		start := time.Now()
		if err := c.call(); err != nil {
			return 0, 0, err
		}
		if err := c.result(); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start).Seconds())
	}
	return quantile(took, 0.5), quantile(took, 0.99), nil
}

// throughput makes n calls, keeping so many in flight, and returns how many a
// second were answered.
func (c *client) throughput(n, inFlight int) (float64, error) {
	start := time.Now()
	for i := range n + inFlight {
		if i >= inFlight {
			if err := c.result(); err != nil {
				return 0, err
			}
		}
		if i < n {
			if err := c.call(); err != nil {
				return 0, err
			}
		}
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

// startToReply starts a server, waits for its first reply and returns the
// seconds that took.
func startToReply(command []string) (float64, error) {
	start := time.Now()
	c, err := startServer(command, "", "")
	if err != nil {
		return 0, err
	}
	took := time.Since(start).Seconds()
	c.stop()
	return took, nil
}
