package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/doctor"
	"github.com/conch-mcp/conch/internal/regular"
)

// doctorFlags are what is to be looked at.
type doctorFlags struct {
	config, client, server string
	timeout                duration
	json                   bool
}

func newDoctor() *cobra.Command {
	f := doctorFlags{timeout: duration(10 * time.Second)}
	cmd := &cobra.Command{
		Use:                   "doctor [flags] [SCRIPT]\n  conch doctor [flags] -- COMMAND [ARG...]",
		DisableFlagsInUseLine: true,
		Short:                 "Find out why a server does not start",
		Long: `Doctor looks at what servers depend on, and says what is wrong and what to do
about it. Alone it looks at this machine and at the configurations of clients, and
starts nothing.

With --config it starts the servers in a client's configuration, as the client
whose file that is would: by the command, arguments, directory and variables of
the entry, and with the environment that the client has. A client with windows is
taken to be started from a menu, with the system's PATH. With --client it does so
for that client's own files, yours and that of the current directory.

SCRIPT or COMMAND is started as the entry would be that conch install writes for
it, by --client or by most clients.

What was started is ended again. The exit status is 1 if something fails.`,
		Example: `  conch doctor
  conch doctor --client claude-desktop
  conch doctor --config .mcp.json --server notes
  conch doctor --client cursor server.sh`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args, cmd.ArgsLenAtDash())
		},
	}
	f.register(cmd)
	return cmd
}

func (f *doctorFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "start the servers in this `FILE`")
	flags.StringVar(&f.client, "client", "", "start the servers of this `CLIENT`, or start them as it would: "+strings.Join(clients.Names(), ", "))
	flags.StringVar(&f.server, "server", "", "start the server of this `NAME` there alone")
	flags.Var(&f.timeout, "timeout", "how long a server may take to answer")
	flags.BoolVar(&f.json, "json", false, "print what was found as JSON")
	// The flag is there.
	_ = cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clients.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses arguments and flags that make no sense together.
func (f *doctorFlags) check(args []string, dash int) error {
	switch {
	case f.timeout <= 0:
		return errors.New("--timeout must be longer than nothing")
	case f.config != "" && len(args) > 0:
		return fmt.Errorf("what is %q for? With --config the servers are those of the file", args[0])
	case dash >= 0 && len(args) == dash:
		return errors.New("name a command behind --")
	case dash > 0:
		return fmt.Errorf("what is %q for? A command behind -- is the server", args[0])
	case dash < 0 && len(args) > 1:
		return fmt.Errorf("what is %q for? conch doctor takes one script; behind -- stands a command with its arguments", args[1])
	case f.client != "" && !slices.Contains(clients.Names(), f.client):
		return fmt.Errorf("there is no client %q; there is %s", f.client, strings.Join(clients.Names(), ", "))
	case f.server != "" && (len(args) > 0 || f.config == "" && f.client == ""):
		return errors.New("--server names one of a configuration; name that with --config or --client")
	}
	return nil
}

// patients are servers of one source.
type patients struct {
	from    doctor.Source
	title   string
	servers []clients.Server
	wrong   *doctor.Section // instead of servers: what is wrong with the file
}

func (f *doctorFlags) run(args []string, dash int) error {
	if err := f.check(args, dash); err != nil {
		return err
	}
	s, err := surroundings()
	if err != nil {
		return err
	}
	all, err := f.patients(s, args, dash >= 0)
	if err != nil {
		return err
	}
	out := newFindings(f.json)
	err = dieBySignal(func(ctx context.Context) error {
		out.show(doctor.Machine(ctx, s))
		if all == nil {
			out.show(doctor.Clients(s))
			return nil
		}
		return f.treat(ctx, s, all, out)
	})
	if err != nil {
		return err
	}
	return out.end()
}

// surroundings are those of this process.
func surroundings() (s doctor.Surroundings, err error) {
	s.Machine, err = thisMachine()
	if err != nil {
		return s, err
	}
	s.Environ, s.Version = os.Environ(), buildVersion()
	if s.Conch, err = ownPath(); err != nil {
		return s, err
	}
	s.Control, err = controlParent()
	return s, err
}

// patients are the servers that are to be started; nil for none.
func (f *doctorFlags) patients(s doctor.Surroundings, args []string, isCommand bool) ([]patients, error) {
	client := clients.Any()
	var err error
	if f.client != "" {
		if client, err = clients.Of(f.client); err != nil {
			return nil, err
		}
	}
	var all []patients
	switch {
	case len(args) > 0:
		return f.newPatient(s, client, args, isCommand)
	case f.config != "":
		one, err := f.fromFile(s, client)
		if err != nil {
			return nil, err
		}
		all = []patients{one}
	case f.client != "":
		all = ownFiles(s, client)
	default:
		return nil, nil
	}
	return all, f.choose(all)
}

// newPatient is a server that no configuration has yet.
func (f *doctorFlags) newPatient(s doctor.Surroundings, client clients.Client, args []string, isCommand bool) ([]patients, error) {
	l, err := newLaunch(args, isCommand)
	if err != nil {
		return nil, err
	}
	entry, err := installFlags{}.complete(l.entry, client)
	if err != nil {
		return nil, err
	}
	name := l.title
	if name == "" {
		name = filepath.Base(args[0])
	}
	from := doctor.Source{Client: client}
	title := fmt.Sprintf("%s, as %s it once conch install has put it there", brief(strings.Join(args, " ")), doctor.Starts(client))
	return []patients{{from: from, title: title, servers: []clients.Server{{Name: name, Entry: entry}}}}, nil
}

// maxConfiguration is more than any client's configuration has.
const maxConfiguration = 64 << 20

func (f *doctorFlags) fromFile(s doctor.Surroundings, client clients.Client) (patients, error) {
	path, err := filepath.Abs(f.config)
	if err != nil {
		return patients{}, fmt.Errorf("find %s: %w", f.config, err)
	}
	text, _, err := regular.Read(path, maxConfiguration)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return patients{}, fmt.Errorf("there is no file %s", f.config)
	case err != nil:
		return patients{}, fmt.Errorf("read %s: %w", f.config, err)
	}
	owner, scope := clients.Owner(s.Machine, path, text)
	if f.client == "" {
		client = owner
	}
	from := doctor.Source{Client: client, File: path}
	if scope == clients.Project {
		from.Project = owner.ProjectOf(path)
	}
	return readPatients(s, from), nil
}

// ownFiles are those of a client that are there.
func ownFiles(s doctor.Surroundings, client clients.Client) []patients {
	var all []patients
	var missing []string
	for _, scope := range []clients.Scope{clients.User, clients.Project} {
		place, err := client.Place(s.Machine, scope)
		if err != nil {
			continue
		}
		if _, err := os.Stat(place.File); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, place.File)
			continue
		}
		from := doctor.Source{Client: client, File: place.File}
		if scope == clients.Project {
			from.Project = s.Dir
		}
		all = append(all, readPatients(s, from))
	}
	if len(all) > 0 {
		return all
	}
	return []patients{{wrong: &doctor.Section{Title: "servers of " + client.Title, Checks: []doctor.Check{{
		Mark: doctor.Fail, Subject: "the file", Finding: "there is no " + strings.Join(missing, ", and no "),
		Remedy: "put a server there: conch install --client " + client.Name + " SCRIPT",
	}}}}}
}

func readPatients(s doctor.Surroundings, from doctor.Source) patients {
	p := patients{from: from, title: s.Title(from)}
	p.servers, p.wrong = s.Read(from)
	return p
}

// choose leaves the server that is asked for.
func (f *doctorFlags) choose(all []patients) error {
	if f.server == "" {
		return nil
	}
	var names []string
	found, broken := false, false
	for i, p := range all {
		for _, server := range p.servers {
			names = append(names, server.Name)
		}
		all[i].servers = slices.DeleteFunc(p.servers, func(server clients.Server) bool { return server.Name != f.server })
		found = found || len(all[i].servers) > 0
		broken = broken || p.wrong != nil
	}
	if found || broken {
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no server %s there, nor any other", printable(f.server))
	}
	return fmt.Errorf("there is no server %s there; there is %s", printable(f.server), printable(strings.Join(names, ", ")))
}

// treat starts the servers one after the other.
func (f *doctorFlags) treat(ctx context.Context, s doctor.Surroundings, all []patients, out *findings) error {
	lifeline, _, _, err := newLifeline()
	if err != nil {
		return &exitError{1, err}
	}
	defer lifeline.Close()
	prober := doctor.Prober{Lifeline: lifeline, Timeout: time.Duration(f.timeout), Version: buildVersion()}
	for _, p := range all {
		if p.wrong != nil {
			out.show(*p.wrong)
			continue
		}
		f.treatAll(ctx, s, p, prober, out)
	}
	return nil
}

func (f *doctorFlags) treatAll(ctx context.Context, s doctor.Surroundings, p patients, prober doctor.Prober, out *findings) {
	var names []string
	for _, server := range p.servers {
		names = append(names, server.Name)
	}
	out.begin(p.title, names)
	if len(p.servers) == 0 && f.server == "" {
		out.add(doctor.Check{Mark: doctor.Note, Subject: "servers", Finding: "there are none"})
	}
	for _, server := range p.servers {
		if ctx.Err() != nil {
			return
		}
		if server.Disabled && f.server == "" {
			out.add(doctor.Skipped(server))
			continue
		}
		stop := startSpinner(os.Stderr, func() string { return printable(server.Name) })
		checks := prober.Try(ctx, s, p.from, server)
		stop()
		for _, c := range checks {
			out.add(c)
		}
	}
}

// thisMachine is what the places of clients' files depend on.
func thisMachine() (clients.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return clients.Machine{}, fmt.Errorf("find the home directory: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return clients.Machine{}, fmt.Errorf("find the current directory: %w", err)
	}
	return clients.Machine{OS: runtime.GOOS, Home: home, Dir: dir, Getenv: os.Getenv}, nil
}
