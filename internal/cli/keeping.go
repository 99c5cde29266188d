package cli

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/keep"
	"github.com/conch-mcp/conch/internal/process"
)

// lengthFlags are the flags of calls that take long, or say much. Where they are
// not registered, nothing is told and nothing shortened.
type lengthFlags struct {
	heartbeat  duration
	maxText    size
	keepOutput duration
}

func (f *lengthFlags) register(flags *pflag.FlagSet) {
	f.heartbeat = duration(10 * time.Second)
	flags.Var(&f.heartbeat, "heartbeat", "how long a call may be silent before a client that follows its progress is told that it goes on; 0s means for ever")
	f.maxText = 100_000
	flags.Var(&f.maxText, "max-text", "how much of a text reaches the client, head and tail, when a result has more; 0B means all")
	f.keepOutput = duration(10 * time.Minute)
	flags.Var(&f.keepOutput, "keep-output", "how long the whole of a text that --max-text has cut can be read; 0s means not at all")
}

// open makes what a host needs for long texts. The directory is below tmp, and
// gone when this process is.
func (f *lengthFlags) open(tmp string, l *process.Lifeline) (host.Long, error) {
	long := host.Long{MaxText: int(f.maxText)}
	if f.maxText == 0 || f.keepOutput == 0 {
		return long, nil
	}
	tmp, err := filepath.Abs(tmp)
	if err != nil {
		return long, fmt.Errorf("find the temporary directory: %w", err)
	}
	dir := filepath.Join(tmp, "conch-output-"+rand.Text()[:12])
	if l.Remove(dir) != nil {
		// Where calls cannot have directories either, which is told.
		return long, nil
	}
	long.Keeper = keep.New(keep.Options{Dir: dir, TTL: time.Duration(f.keepOutput)})
	return long, nil
}
