package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/seal"
)

// askingFlags are the flags of calls that ask their clients.
type askingFlags struct {
	parkTimeout duration
	maxParked   int
	stateKey    string
}

func (f *askingFlags) register(flags *pflag.FlagSet) {
	f.parkTimeout = duration(5 * time.Minute)
	flags.Var(&f.parkTimeout, "park-timeout", "how long a call that has asked its client may wait for the answer")
	flags.IntVar(&f.maxParked, "max-parked", 100, "how many calls may wait for their clients; others begin anew with the answers")
	flags.StringVar(&f.stateKey, "state-key", "", "a file with the key of what clients carry while they are asked, 32 bytes in base64 or hex; servers with the same key go on with each other's calls (default: a random one)")
}

// mostParked is more calls than any machine should keep waiting: each is a shell.
const mostParked = 10_000

func (f *askingFlags) check() error {
	switch {
	case f.maxParked < 0 || f.maxParked > mostParked:
		return fmt.Errorf("--max-parked must be from 0 to %d", mostParked)
	case f.parkTimeout <= 0:
		return errors.New("--park-timeout must be more than 0s")
	}
	return nil
}

// open returns what a host needs to know of asking.
func (f *askingFlags) open() (host.Asking, error) {
	key := seal.Random()
	if f.stateKey != "" {
		text, err := os.ReadFile(f.stateKey)
		if err != nil {
			return host.Asking{}, fmt.Errorf("read --state-key: %w", err)
		}
		if key, err = seal.ParseKey(string(text)); err != nil {
			return host.Asking{}, fmt.Errorf("--state-key %s: %w", f.stateKey, err)
		}
	}
	sealer, err := seal.New(key)
	return host.Asking{Sealer: sealer, Timeout: time.Duration(f.parkTimeout), Most: f.maxParked}, err
}
