package shell

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An Answer is what mcp_before_tool_call made of a call.
type Answer struct {
	Returned bool   // it did, and did not end the shell
	Status   int    // what it returned
	Output   []byte // what it printed on either descriptor, up to maxAnswer bytes
}

// maxAnswer bounds what is read of what mcp_before_tool_call prints.
const maxAnswer = 1 << 20

// Answer tells what mcp_before_tool_call made of a call that has ended. It is
// nil when it was not asked, or let the tool run.
func (w *Worker) Answer() *Answer {
	if !w.asked {
		return nil
	}
	text, err := readAnswer(w.base+beforeSuffix, 64)
	if err != nil {
		// The shell did not come as far.
		return nil
	}
	var a Answer
	if status, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "answered "); ok {
		a.Returned = true
		a.Status, _ = strconv.Atoi(status)
		if a.Status == 0 {
			return nil
		}
	}
	a.Output, _ = readAnswer(w.base+saidSuffix, maxAnswer)
	return &a
}

// readAnswer reads the beginning of a file that a hook may have put anything in
// the place of.
func readAnswer(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
