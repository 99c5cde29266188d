package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/talkback"
)

// server is a running server script: everything between a transport and Bash.
type server struct {
	host   *host.Host
	source source
	script *shell.Script // as it was at the start
	lists  lists
	logs   *logs
	limits call.Limits
	long   host.Long

	concurrency int

	observer observer
	lifeline *process.Lifeline
	updates  *talkback.Listener
	shell    *shell.Server
	runner   *call.Runner
}

// startServer starts the script. What it leaves running and lying about is
// gone after close, or when this process is.
func startServer(ctx context.Context, script string, args []string, flags serverFlags) (*server, error) {
	if err := flags.check(); err != nil {
		return nil, err
	}
	if err := checkTarget(script); err != nil {
		return nil, &exitError{1, err}
	}
	p, err := newPlace()
	if err != nil {
		return nil, &exitError{1, err}
	}
	return p.start(ctx, script, args, flags)
}

// place is where a server is started, and what it finds there.
type place struct {
	lifeline  *process.Lifeline
	self, dir string   // the path of conch, the control directory
	env       []string // beside this process's environment, "name=value"
	stderr    *os.File
}

func newPlace() (p place, err error) {
	p.stderr = os.Stderr
	p.lifeline, p.self, p.dir, err = newLifeline()
	return p, err
}

// getenv is [os.Getenv] of whatever is started here.
func (p place) getenv(name string) string {
	value, _ := p.lookup(name)
	return value
}

// lookup is [os.LookupEnv] of whatever is started here.
func (p place) lookup(name string) (value string, ok bool) {
	for _, entry := range slices.Backward(p.env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return os.LookupEnv(name)
}

// start starts the script there. The lifeline is the server's from then on, also
// where there is none in the end.
func (p place) start(ctx context.Context, script string, args []string, flags serverFlags) (_ *server, err error) {
	s := &server{logs: newLogs(flags.log, p.stderr), concurrency: int(flags.concurrency), lifeline: p.lifeline}
	s.observer.log = s.logs.logger()
	defer func() {
		if err != nil {
			s.close()
			err = &exitError{1, err}
		}
	}()
	log := s.logs.logger()
	if s.source, err = openSource(script, whereabouts{p.lookup, s.isSet, flags.tools}); err != nil {
		return nil, err
	}
	inScope, warnings, err := scope(s.source, flags.roots, p.getenv)
	if err != nil {
		return nil, err
	}
	if err = s.observer.startTracing(ctx); err != nil {
		return nil, err
	}
	jqPath, err := p.pathWithJQ()
	if err != nil {
		return nil, err
	}
	if s.updates, err = talkback.NewListener(filepath.Join(p.dir, "updates")); err != nil {
		return nil, err
	}
	if s.shell, err = s.startShell(ctx, p, args, flags, slices.Concat(jqPath, tellRoots(inScope))); err != nil {
		return nil, err
	}
	s.script = s.shell.Script()
	if err := s.openLog(flags.log); err != nil {
		return nil, err
	}
	for _, warning := range warnings {
		log.Warn(warning)
	}
	asking, err := flags.asking.open()
	if err != nil {
		return nil, err
	}
	s.limits = call.Limits{Timeout: time.Duration(flags.timeout), MaxOutput: int64(flags.maxOutput)}
	if s.runner, err = call.NewRunner(s.shell, call.Options{Limits: s.limits, Tmp: s.tmpdir(), Lifeline: s.lifeline, Log: log}); err != nil {
		return nil, err
	}
	if s.long, err = flags.length.open(s.tmpdir(), s.lifeline); err != nil {
		return nil, err
	}
	s.lists = s.findLists(flags)
	s.host = host.New(host.Options{
		Name: s.source.name(), Version: s.source.version(),
		Tools: s.lists.readTools, Resources: s.lists.resources, Prompts: s.lists.prompts, Config: s.lists.readConfig,
		Functions: s.toolFunctions, Tagged: s.source.isTagged(), HasProgram: s.hasProgram,
		Exists:  func(tool string) bool { return s.shell.Script().Functions["tool_"+tool] },
		Defined: func(function string) bool { return s.shell.Script().Functions[function] },
		Folder:  s.lists.folder, PageSize: flags.pageSize,
		Run: s.observer.run(s.runner.Run), Invalid: s.observer.invalid, Limits: s.limits, Asking: asking,
		Heartbeat: time.Duration(flags.length.heartbeat), Long: s.long, Roots: inScope, Log: log,
	})
	s.updates.Listen(s.host.Hear, log)
	return s, s.source.check(s.lists.readList)
}

// startShell starts the shell of the source. more is of its environment.
func (s *server) startShell(ctx context.Context, p place, args []string, flags serverFlags, more []string) (*shell.Server, error) {
	started, err := shell.Start(ctx, shell.Options{
		Bash: flags.bash, Script: s.source.script(), Args: args, Dir: p.dir, Output: p.stderr,
		Env:  slices.Concat(s.source.environment(), p.env, p.findable(), more, []string{talkback.UpdatesVariable + "=" + s.updates.Path()}),
		Talk: true, Commands: s.source.isTagged(), Wanted: s.source.wanted(), Parked: flags.asking.maxParked,
		Workers: int(flags.concurrency), Lifeline: s.lifeline, Log: s.logs.logger(),
	})
	if err != nil && flags.bash != "bash" {
		err = fmt.Errorf("%w (run by --bash %s)", err, flags.bash)
	}
	return started, err
}

// findable tells a script that sources the drop-in file where conch is, unless
// somebody has said so.
func (p place) findable() []string {
	if p.getenv("CONCH_BIN") != "" {
		return nil
	}
	return []string{"CONCH_BIN=" + p.self}
}

// newLifeline starts the lifeline of a new control directory. self is the path
// of conch.
func newLifeline() (l *process.Lifeline, self, dir string, err error) {
	if self, err = os.Executable(); err != nil {
		return nil, "", "", fmt.Errorf("find conch itself: %w", err)
	}
	parent, err := controlParent()
	if err != nil {
		return nil, "", "", err
	}
	dir = filepath.Join(parent, "conch-"+rand.Text()[:12])
	l, err = process.NewLifeline(dir, []string{self, sentinelCommand})
	return l, self, dir, err
}

// controlParent is where control files go: in memory, where the system has
// such a place. The path is absolute, since others read it from elsewhere.
func controlParent() (string, error) {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if filepath.IsAbs(dir) && unix.Access(dir, unix.W_OK|unix.X_OK) == nil {
			return dir, nil
		}
	}
	dir, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", fmt.Errorf("find the temporary directory: %w", err)
	}
	return dir, nil
}

// isSet reports whether a variable is there once the script has been sourced.
func (s *server) isSet(name string) bool { return s.shell != nil && s.shell.Script().Set[name] }

// hasProgram reports whether calls would find a program, or a function of the
// script's in its place.
func (s *server) hasProgram(program string) bool {
	script := s.shell.Script()
	if strings.ContainsRune(program, filepath.Separator) {
		return process.IsProgram(program)
	}
	return script.Functions[program] || process.Find(script.Variables["PATH"], script.Variables["PWD"], program) != ""
}

// file is the path of one of the server's files: the flag's, the script's, or the
// one beside the script, which nobody has named.
func (s *server) file(flag, variable, name string) (path string, named bool) {
	if flag != "" {
		return flag, true
	}
	if path := s.script.Variables[variable]; path != "" {
		return s.inScriptDir(path), true
	}
	return s.source.beside(name), false
}

// beside is the path of a file beside a script.
func beside(script, name string) string {
	beside := filepath.Join(filepath.Dir(script), name)
	if _, err := os.Stat(beside); err != nil {
		// A link to a script may stand where its files do not.
		if real, err := filepath.EvalSymlinks(script); err == nil {
			return filepath.Join(filepath.Dir(real), name)
		}
	}
	return beside
}

// inScriptDir resolves a path the script gave, as the script would.
func (s *server) inScriptDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.script.Variables["PWD"], path)
}

func (s *server) tmpdir() string {
	if dir := s.script.Variables["TMPDIR"]; dir != "" {
		return s.inScriptDir(dir)
	}
	return os.TempDir()
}

func (s *server) openLog(flags logFlags) error {
	path, from := flags.file, "--log-file"
	if path == "" {
		path, from = s.script.Variables["MCP_LOG_FILE"], "MCP_LOG_FILE"
		if path != "" {
			path = s.inScriptDir(path)
		}
	}
	if err := s.logs.open(path, s.script.Variables["MCP_LOG_STDERR"] == "1"); err != nil {
		return fmt.Errorf("cannot write the log: %w (%s)", err, from)
	}
	return nil
}

// toolFunctions lists the tools that are implemented, sorted.
func (s *server) toolFunctions() []string {
	var names []string
	for f := range s.shell.Script().Functions {
		if name, ok := strings.CutPrefix(f, "tool_"); ok && name != "" && !s.source.owns(f) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// close ends the script and removes everything. What was never started has
// nothing to close.
func (s *server) close() {
	if s.host != nil {
		s.host.EndParked()
	}
	s.observer.close()
	if s.shell != nil {
		s.shell.Close()
	}
	s.updates.Close()
	if s.runner != nil {
		s.runner.Close()
	}
	if err := s.long.Close(); err != nil {
		s.logs.logger().Warn(err.Error())
	}
	if s.lifeline != nil {
		s.lifeline.Close()
	}
	s.logs.close()
}
