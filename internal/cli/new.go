package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/conch-mcp/conch/internal/scaffold"
)

// newFlags are what is asked for. A template that is not named is empty.
type newFlags struct {
	template string
	list     bool
}

func newNew() *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:                   "new [--template TEMPLATE] NAME\n  conch new --list",
		DisableFlagsInUseLine: true,
		Short:                 "Begin a server",
		Long: `New makes the directory NAME with a server that runs, its test cases and a README.

TEMPLATE is what the server begins with:

` + templateTable() + `
NAME may be a path. Its last part is the server's name: letters from a to z,
digits, - and _. What is missing of NAME and TEMPLATE is asked for on a terminal;
without one, NAME has to be there, and TEMPLATE is ` + defaultTemplate().Name + `.

Nothing is ever written over. A directory that is there is used if it has none of
the files; otherwise those that it has are named, and none is made.`,
		Example: `  conch new disks
  conch new --template git src/history
  conch new --template files .          in the current directory`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return listTemplates(os.Stdout, args, f.template)
			}
			return f.run(cmd.Flags().Changed("template"), args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().StringVar(&f.template, "template", "", "the `TEMPLATE` to begin with: "+strings.Join(templateNames(), ", "))
	cmd.Flags().BoolVar(&f.list, "list", false, "list the templates, and make nothing")
	// The flag is there.
	_ = cmd.RegisterFlagCompletionFunc("template", completeTemplate)
	return cmd
}

func defaultTemplate() scaffold.Template { return scaffold.Templates()[0] }

func templateNames() (names []string) {
	for _, t := range scaffold.Templates() {
		names = append(names, t.Name)
	}
	return names
}

// templateTable has a line for each template.
func templateTable() string {
	var table strings.Builder
	for _, t := range scaffold.Templates() {
		fmt.Fprintf(&table, "  %-8s  %s\n", t.Name, t.About)
	}
	return table.String()
}

func completeTemplate(*cobra.Command, []string, string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, t := range scaffold.Templates() {
		all = append(all, cobra.CompletionWithDesc(t.Name, t.About))
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func listTemplates(out io.Writer, args []string, template string) error {
	if len(args) > 0 || template != "" {
		return errors.New("--list lists the templates, and makes nothing; leave the rest out")
	}
	for _, t := range scaffold.Templates() {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", t.Name, t.About); err != nil {
			return &exitError{1, fmt.Errorf("print the templates: %w", err)}
		}
	}
	return nil
}

func (f newFlags) run(isChosen bool, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("what is %q for? conch new takes one NAME", args[1])
	}
	template := defaultTemplate()
	if isChosen {
		var err error
		if template, err = scaffold.Find(f.template); err != nil {
			return err
		}
	}
	dir := ""
	if len(args) > 0 {
		dir = args[0]
		if _, err := scaffold.NameOf(dir); err != nil {
			return err
		}
	}
	if !isChosen || len(args) == 0 {
		var err error
		if template, dir, err = complete(template, isChosen, dir, len(args) > 0); err != nil {
			return err
		}
	}
	// Once it has begun it makes all of it, whatever signal comes.
	return dieBySignal(func(context.Context) error {
		return begin(os.Stdout, template, dir)
	})
}

// complete asks for what is missing, if there is somebody to ask.
func complete(template scaffold.Template, isChosen bool, dir string, isNamed bool) (scaffold.Template, string, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		if !isNamed {
			return template, "", errors.New("name the directory to make: conch new NAME; see conch new --help")
		}
		return template, dir, nil
	}
	d := dialogue{bufio.NewReader(os.Stdin), os.Stderr}
	var err error
	if !isNamed {
		if dir, err = askFor(d, "The server's name, or a path that ends in it: ", readName); err != nil {
			return template, "", err
		}
	}
	if !isChosen {
		d.tellTemplates()
		prompt := fmt.Sprintf("Number or name [%s]: ", template.Name)
		if template, err = askFor(d, prompt, readTemplate); err != nil {
			return template, "", err
		}
	}
	return template, dir, nil
}

// dialogue is with a person at a terminal.
type dialogue struct {
	in  *bufio.Reader
	out io.Writer
}

// askFor asks until read takes the answer, which has no blanks around it.
func askFor[T any](d dialogue, prompt string, read func(answer string) (T, error)) (T, error) {
	for {
		fmt.Fprint(d.out, prompt)
		line, err := d.in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(d.out)
			var none T
			return none, &exitError{1, errors.New("there was no answer, and nothing was made")}
		}
		answer, err := read(strings.TrimSpace(line))
		if err == nil {
			return answer, nil
		}
		fmt.Fprintf(d.out, "%v.\n", err)
	}
}

func readName(answer string) (string, error) {
	_, err := scaffold.NameOf(answer)
	return answer, err
}

func (d dialogue) tellTemplates() {
	fmt.Fprintln(d.out, "What is it to begin with?")
	for i, t := range scaffold.Templates() {
		fmt.Fprintf(d.out, "  %d  %-8s  %s\n", i+1, t.Name, t.About)
	}
}

// readTemplate takes the number of a template or its name, or nothing for the
// default.
func readTemplate(answer string) (scaffold.Template, error) {
	all := scaffold.Templates()
	if answer == "" {
		return defaultTemplate(), nil
	}
	if n, err := strconv.Atoi(answer); err == nil {
		if n < 1 || n > len(all) {
			return scaffold.Template{}, fmt.Errorf("there is no template %d; they are numbered from 1 to %d", n, len(all))
		}
		return all[n-1], nil
	}
	return scaffold.Find(answer)
}

// begin makes the server, and says what to do with it.
func begin(out io.Writer, t scaffold.Template, dir string) error {
	files, err := t.Make(dir)
	if err != nil {
		return &exitError{1, err}
	}
	fmt.Fprintf(out, "made %s:\n", printable(filepath.Clean(dir)))
	for _, f := range files {
		fmt.Fprintf(out, "  %s\n", f)
	}
	fmt.Fprintln(out, "\nnext:")
	for _, words := range nextCommands(t, dir) {
		fmt.Fprintf(out, "  %s\n", commandLine(words))
	}
	return nil
}

// nextCommands are good for whoever has just made a server: call it, test it, put
// it into a client.
func nextCommands(t scaffold.Template, dir string) [][]string {
	conch := toType()
	dir = filepath.Clean(dir)
	if strings.HasPrefix(dir, "-") {
		// It would be taken for a flag.
		dir = "./" + dir
	}
	server := dir + "/" + t.Server
	if dir == "." {
		server = t.Server
	}
	try := []string{conch, "tools", server}
	if len(t.Call) > 0 {
		try = append([]string{conch, "call", server}, t.Call...)
	}
	return [][]string{
		try,
		{conch, "test", dir},
		{conch, "install", "--print", server},
	}
}

// toType is what to type for this conch: its name alone where the shell finds it.
func toType() string {
	own, err := ownPath()
	if err != nil {
		return "conch"
	}
	if found, err := exec.LookPath("conch"); err == nil && isSame(found, own) {
		return "conch"
	}
	return own
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./=:,@%+-]+$`)

// commandLine is what to type into a shell for these words.
func commandLine(words []string) string {
	var line []string
	for _, word := range words {
		if !plainWord.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line = append(line, word)
	}
	return strings.Join(line, " ")
}
