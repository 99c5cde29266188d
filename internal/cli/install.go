package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/inplace"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/swap"
)

// installFlags are what is asked for.
type installFlags struct {
	client, scope, name string
	print, uninstall    bool
	env                 []string
	path                bool
	pathGiven           bool
}

func newInstall() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:                   "install --client CLIENT [flags] SCRIPT\n  conch install --client CLIENT [flags] -- COMMAND [ARG...]",
		DisableFlagsInUseLine: true,
		Short:                 "Put a server into a client's configuration",
		Long: `Install writes the entry that has a client start a server into the client's own
configuration, and leaves the rest of the file as it is, to the byte. What the
file was before is kept beside it, in a file ending in ` + swap.BackupSuffix + `.

CLIENT is one of ` + strings.Join(clients.Names(), ", ") + `.

The server is SCRIPT, or a folder of tools in its place, run by conch serve, or by
itself where it calls run_mcp_server; or any MCP server that COMMAND starts on its standard input and
output. All paths are written out, since a client may have another PATH and
another directory. For clients with windows, the PATH of this shell is written
too, where it leads further than that of the system.

An entry that is there by the name is replaced as far as it says how the server
is started; what else it holds stays, and so do its other variables.`,
		Example: `  conch install --client claude-code server.sh
  conch install --client cursor --scope project --env API_KEY server.sh
  conch install --client codex --name notes -- conch serve --timeout 30s "$PWD/server.sh"
  conch install --client claude-desktop --print server.sh   show it, and write nothing
  conch install --print server.sh                           for any other client
  conch install --client claude-code --uninstall server.sh`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.pathGiven = cmd.Flags().Changed("path")
			return f.run(args, cmd.ArgsLenAtDash())
		},
	}
	f.register(cmd)
	return cmd
}

func (f *installFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.client, "client", "", "whose configuration: "+strings.Join(clients.Names(), ", "))
	flags.StringVar(&f.scope, "scope", string(clients.User), "user: wherever you run the client; project: in the current directory")
	flags.StringVar(&f.name, "name", "", "the server's name there (default: that of config.json beside SCRIPT, or of the file or its folder)")
	flags.StringArrayVar(&f.env, "env", nil, "a variable for the server, `KEY=VALUE`, or KEY with its present value; may be repeated")
	flags.BoolVar(&f.path, "path", false, "give the server the PATH of this shell (default: for clients with windows, where it is needed)")
	flags.BoolVar(&f.print, "print", false, "print what would be written, and write nothing")
	flags.BoolVar(&f.uninstall, "uninstall", false, "remove the server")
	// Both flags are there.
	_ = cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clients.Names(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{string(clients.User), string(clients.Project)}, cobra.ShellCompDirectiveNoFileComp))
}

func (f installFlags) run(args []string, dash int) error {
	if err := f.check(args, dash); err != nil {
		return err
	}
	client, place, err := f.where()
	if err != nil {
		return err
	}
	if f.uninstall {
		name, err := f.nameOnly(client, args)
		if err != nil {
			return err
		}
		return uninstall(os.Stdout, client, place, name)
	}
	l, err := newLaunch(args, dash >= 0)
	if err != nil {
		return err
	}
	name, err := f.nameOf(client, l.title)
	if err != nil {
		return err
	}
	entry, err := f.complete(l.entry, client)
	if err == nil {
		err = client.Check(name, entry)
	}
	if err != nil {
		return err
	}
	defer l.tellNeeds(os.Stderr, entry)
	if f.print {
		return printEntry(client, place, name, entry)
	}
	return install(os.Stdout, client, place, name, entry, f.mode())
}

// check refuses arguments and flags that make no sense together.
func (f installFlags) check(args []string, dash int) error {
	switch {
	case f.print && f.uninstall:
		return errors.New("--print and --uninstall exclude each other")
	case f.uninstall && (len(f.env) > 0 || f.pathGiven):
		return errors.New("--uninstall removes the whole entry; leave --env and --path out")
	case f.client == "" && !f.print:
		return fmt.Errorf("name the client with --client: %s; for any other, see what to write with --print", strings.Join(clients.Names(), ", "))
	case dash >= 0 && len(args) == dash && !f.uninstall:
		return errors.New("name a command behind --")
	case dash > 0:
		return fmt.Errorf("what is %q for? A command behind -- is the server", args[0])
	case dash < 0 && len(args) > 1:
		return fmt.Errorf("what is %q for? conch install takes one script; behind -- stands a command with its arguments", args[1])
	case len(args) == 0 && !(f.uninstall && f.name != ""):
		return errors.New("name the SCRIPT to install, or a command behind --; see conch install --help")
	}
	return nil
}

// where is the client with its file. Without a client there is no file.
func (f installFlags) where() (clients.Client, clients.Place, error) {
	if f.client == "" {
		return clients.Any(), clients.Place{}, nil
	}
	client, err := clients.Of(f.client)
	if err != nil {
		return client, clients.Place{}, err
	}
	machine, err := thisMachine()
	if err != nil {
		return client, clients.Place{}, err
	}
	place, err := client.Place(machine, clients.Scope(f.scope))
	return client, place, err
}

// mode is that of a new file: one's own may hold what is nobody else's business.
func (f installFlags) mode() fs.FileMode {
	if clients.Scope(f.scope) == clients.Project {
		return 0o644
	}
	return 0o600
}

func printEntry(client clients.Client, place clients.Place, name string, entry clients.Entry) error {
	text, err := client.Snippet(name, entry)
	if err != nil {
		return err
	}
	if place.File != "" {
		fmt.Fprintf(os.Stderr, "%s reads this in %s:\n", client.Title, place.File)
	} else {
		fmt.Fprintf(os.Stderr, "%s read this in a file of their own:\n", client.Title)
	}
	_, err = os.Stdout.Write(text)
	return err
}

func install(out io.Writer, client clients.Client, place clients.Place, name string, entry clients.Entry, mode fs.FileMode) error {
	if err := checkFound(client, place); err != nil {
		return err
	}
	file, err := swap.Open(place.File)
	if err != nil {
		return err
	}
	defer file.Close()
	change, err := client.Add(file.Text, name, entry)
	if err != nil {
		return broken(place.File, err)
	}
	if !file.Missing && string(change.Text) == string(file.Text) {
		fmt.Fprintf(out, "nothing to write: %s is in %s already\n", printable(name), place.File)
		return nil
	}
	if err := file.Write(change.Text, mode); err != nil {
		return &exitError{1, err}
	}
	tellInstalled(out, place, name, entry, change)
	tellBackup(out, file)
	fmt.Fprintf(out, "next: %s\n", client.Next)
	return nil
}

func tellInstalled(out io.Writer, place clients.Place, name string, entry clients.Entry, change clients.Change) {
	switch change.Was {
	case "":
		fmt.Fprintf(out, "added %s to %s\n", printable(name), place.File)
	case entry.String():
		fmt.Fprintf(out, "changed %s in %s\n", printable(name), place.File)
	default:
		fmt.Fprintf(out, "replaced %s in %s, which started %s\n", printable(name), place.File, brief(change.Was))
	}
}

// checkFound refuses to make a directory for a client that has never run: it
// might look for it elsewhere.
func checkFound(client clients.Client, place clients.Place) error {
	for _, sign := range place.Signs {
		if _, err := os.Stat(sign); err == nil {
			return nil
		}
	}
	if len(place.Signs) == 0 {
		return nil
	}
	return fmt.Errorf("%s was not found: there is no %s; start it once, or see with --print what to write, and where", client.Title, strings.Join(place.Signs, ", nor "))
}

func broken(file string, err error) error {
	var fault *inplace.Error
	if errors.As(err, &fault) {
		return fmt.Errorf("%s, %w; mend that first, nothing was changed; or see with --print what to write", file, err)
	}
	return fmt.Errorf("%s: %w; see with --print what to write", file, err)
}

func tellBackup(out io.Writer, file *swap.File) {
	if !file.Missing {
		fmt.Fprintf(out, "what it was before is in %s\n", file.Backup())
	}
}

// brief is a command line for a message.
func brief(command string) string { return printable(message.Clip(command)) }

func uninstall(out io.Writer, client clients.Client, place clients.Place, name string) error {
	file, err := swap.Open(place.File)
	if err != nil {
		return err
	}
	defer file.Close()
	change, err := client.Remove(file.Text, file.ReadBackup(), name)
	switch {
	case err != nil:
		return broken(place.File, err)
	case change.Was == "":
		fmt.Fprintf(out, "nothing to remove: there is no %s in %s\n", printable(name), place.File)
		return nil
	case change.Emptied:
		err = file.Remove()
	default:
		err = file.Write(change.Text, 0)
	}
	if err != nil {
		return &exitError{1, err}
	}
	if change.Emptied {
		fmt.Fprintf(out, "removed %s, which held %s alone; it started %s\n", place.File, printable(name), brief(change.Was))
	} else {
		fmt.Fprintf(out, "removed %s from %s, which started %s\n", printable(name), place.File, brief(change.Was))
	}
	tellBackup(out, file)
	return nil
}
