package cli

import (
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/wire"
)

// serverFlags are the flags of everything that runs a server script.
type serverFlags struct {
	tools, config      string
	resources, prompts string
	pageSize           int
	bash               string
	concurrency        count
	timeout            duration
	maxOutput          size
	asking             askingFlags
	length             lengthFlags
	roots              []string // nil where the flag is not given
	log                logFlags
}

func (f *serverFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tools, "tools", "", "the list of tools (default: $MCP_TOOLS_LIST_FILE, or tools.json beside SCRIPT)")
	flags.StringVar(&f.config, "config", "", "the server's description (default: $MCP_CONFIG_FILE, or config.json beside SCRIPT)")
	flags.StringVar(&f.resources, "resources", "", "the list of resources (default: $MCP_RESOURCES_LIST_FILE, or resources.json beside SCRIPT, which need not be there)")
	flags.StringVar(&f.prompts, "prompts", "", "the list of prompts (default: $MCP_PROMPTS_LIST_FILE, or prompts.json beside SCRIPT, which need not be there)")
	flags.IntVar(&f.pageSize, "page-size", 0, "how many entries of a list clients get at once; 0 is all")
	flags.StringVar(&f.bash, "bash", "bash", "the bash to run scripts with")
	f.concurrency = defaultConcurrency()
	flags.Var(&f.concurrency, "concurrency", "how many calls may run at once; others wait")
	annotate(flags, "concurrency", FlagDefault, "2 × CPUs, at least 4")
	flags.Var(&f.timeout, "timeout", "how long a call may take, such as 30s; 0s means as long as it likes")
	f.maxOutput = 10 << 20
	flags.Var(&f.maxOutput, "max-output", "how much a call may print")
	flags.StringSliceVar(&f.roots, "roots", nil, "the `directories` that are in scope for clients that name none, with commas between them (default: $CONCH_ROOTS, config/roots.json or SCRIPT's directory)")
	f.asking.register(flags)
	f.log.register(flags)
}

func (f *serverFlags) check() error {
	switch {
	case f.maxOutput < 1:
		return fmt.Errorf("--max-output must be at least 1")
	case f.pageSize < 0:
		return fmt.Errorf("--page-size must be at least 0")
	}
	if _, err := exec.LookPath(f.bash); err != nil {
		return fmt.Errorf("there is no %s to run scripts with (--bash)", f.bash)
	}
	if err := f.asking.check(); err != nil {
		return err
	}
	return f.log.check()
}

// maxConcurrency is more shells than any machine should run for one server.
const maxConcurrency = 1024

// connectionFlags are the flags of a client's connection.
type connectionFlags struct {
	maxLine size
	drain   duration
}

func (f *connectionFlags) register(cmd *cobra.Command) {
	f.maxLine = wire.DefaultMaxLine
	cmd.Flags().Var(&f.maxLine, "max-line", "how long a line of a client may be")
	f.drain = duration(10 * time.Second)
	cmd.Flags().Var(&f.drain, "drain", "how long calls may go on once a client has closed its end, or an HTTP server is told to end")
}

func (f *connectionFlags) check() error {
	if f.maxLine < 1 || f.maxLine > math.MaxInt32 {
		return fmt.Errorf("--max-line must be from 1 to %d bytes", math.MaxInt32)
	}
	return nil
}

// duration is a span of time as a flag.
type duration time.Duration

// String implements pflag.Value.
func (d *duration) String() string { return time.Duration(*d).String() }

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	n, err := time.ParseDuration(text)
	if err != nil || n < 0 {
		return fmt.Errorf("expected a span of time such as 500ms, 30s or 1m30s")
	}
	*d = duration(n)
	return nil
}

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }

// count is a number of calls as a flag.
type count int

// String implements pflag.Value.
func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Set implements pflag.Value.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxConcurrency {
		return fmt.Errorf("expected a number from 1 to %d", maxConcurrency)
	}
	*c = count(n)
	return nil
}

// Type implements pflag.Value.
func (c *count) Type() string { return "count" }

// atLeast takes so many arguments, or tells what is missing.
func atLeast(n int, missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= n || cmd.ArgsLenAtDash() >= 0 {
			return nil
		}
		return fmt.Errorf("%s; see %s --help", missing, cmd.CommandPath())
	}
}

// maxWords is more arguments than anybody gives.
const maxWords = 1 << 20

// takes takes so many arguments, or tells how the command is used.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return fmt.Errorf("it is used so: %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
	}
}

// size is a number of bytes as a flag.
type size int64

var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String implements pflag.Value.
func (s *size) String() string {
	for _, u := range units {
		if n := int64(*s); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	number, factor := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, factor = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("expected a number of bytes, or one with KiB, MiB or GiB behind it")
	}
	*s = size(n * factor)
	return nil
}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }

// defaultConcurrency is how many calls run at once where nobody says otherwise.
func defaultConcurrency() count { return count(max(4, 2*runtime.NumCPU())) }
