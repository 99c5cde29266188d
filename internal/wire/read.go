package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// read takes lines until the input ends or the connection does.
func (c *conn) read(in io.Reader) error {
	if c.manner.isOneRequest() {
		return c.readWhole(in)
	}
	if c.sdk != nil {
		in = watched{in, c}
	}
	r := bufio.NewReaderSize(in, 64<<10)
	for c.ctx.Err() == nil {
		text, err := readLine(r, c.opts.MaxLine)
		switch {
		case errors.Is(err, errTooLong):
			c.pass(c.tooLong())
			continue
		case !c.manner.isBlank(text) && (err == nil || errors.Is(err, io.EOF)):
			c.pass(c.parse(text, errors.Is(err, io.EOF)))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
	}
	return nil
}

// pass has a line taken up, now or in its turn.
func (c *conn) pass(l *line) {
	if c.opts.InOrder == 0 {
		c.take(l)
		return
	}
	c.enqueue(l)
}

var errTooLong = errors.New("the line is too long")

// readLine returns the next line without its newline. With io.EOF comes what
// the input ended with. A line longer than most is skipped to its end.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(line)+len(bytes.TrimRight(part, "\n")) > most {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && err == nil:
			return nil, errTooLong
		case tooLong && errors.Is(err, io.EOF):
			// The next read tells of the end.
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte{'\n'}), err
	}
}
