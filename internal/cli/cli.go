// Package cli is the conch command: a file for each subcommand, which parses
// flags, puts the other packages together and reports, and the requests of the
// drop-in files, which are no subcommands.
package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/jq"
	"github.com/conch-mcp/conch/internal/process"
)

// sentinelCommand is how conch starts itself as the sentinel of a lifeline. It
// is no subcommand: nobody is meant to type it, and it has to be up at once.
const sentinelCommand = "__sentinel"

// exitError ends conch with a status of its own. A nil err has been told.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// Main runs conch with its command line, the name it is called by first, and
// returns its exit status: 0; 1 for a failure; 2 for arguments that make no sense.
// Called jq, it is conch jq, with the statuses of that.
func Main(line []string) int {
	if isJQ(line) {
		return jq.Main("jq", line[1:], processStreams())
	}
	args := line[min(1, len(line)):]
	if len(args) == 2 && args[0] == sentinelCommand {
		if err := process.Sentinel(args[1]); err != nil {
			return 1
		}
		return 0
	}
	process.KeepDescriptors()
	if len(args) > 0 {
		if f, ok := frameworkOf(args[0]); ok {
			return dropIn(f, args[1:])
		}
	}
	root := newRoot()
	args = withServe(root, withAddress(args))
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	err = flagError(cmd, args, err)
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{2, err}
	}
	if exit.err != nil {
		fmt.Fprintf(os.Stderr, "conch: %v\n", exit.err)
	}
	return exit.status
}

// withServe puts "serve" before a first argument that is a path, which makes
// "#!/usr/bin/env conch" work as a script's first line.
func withServe(root *cobra.Command, args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args
	}
	isCommand := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
		return c.Name() == args[0] || c.HasAlias(args[0])
	})
	if isCommand && !strings.ContainsRune(args[0], '/') {
		return args
	}
	if _, err := os.Stat(args[0]); err == nil || strings.ContainsRune(args[0], '/') {
		return append([]string{"serve"}, args...)
	}
	return args
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "conch [SCRIPT [[--] ARG...]]",
		Short: "Serve shell functions as MCP servers",
		Long: `Conch serves the functions of a Bash script to Model Context Protocol clients.

Write a function in a file, with a comment above it that says what it takes, and
run conch with the file's name. conch new begins one for you. Every revision of
the protocol is spoken.`,
		Example: `  conch new disks                       make a server to begin with
  conch serve server.sh                 answer a client on standard input and output
  conch server.sh                       the same
  conch tools server.sh                 show what it offers
  conch call server.sh greet name=Ada   call one tool and print what it says`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       buildVersion(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no command and no script %q%s; see conch --help", args[0], meant(cmd, args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(versionText() + "\n")
	root.SetHelpCommand(newHelp())
	root.AddCommand(newServe(), newCall(), newTools(), newTest(), newCheck(), newJQ(), newTool(), newVendor(), newNew(), newInstall(), newDoctor(), newVersion())
	// Cobra adds these two at execution; withServe must know them before.
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			limitCompletion(c)
		}
	}
	return root
}

// meant names the command that a word is nearly.
func meant(root *cobra.Command, word string) string {
	// Two letters that have changed places are two steps.
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return " (perhaps " + strings.Join(near, " or ") + ")"
	}
	return ""
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how to use a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("there is no command %q to help with", strings.Join(args, " "))
			}
			return about.Help()
		},
	}
}

// limitCompletion leaves the shells that people who write shell functions use.
func limitCompletion(completion *cobra.Command) {
	for _, c := range completion.Commands() {
		if c.Name() == "powershell" {
			completion.RemoveCommand(c)
		}
	}
	completion.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New("name the shell: bash, zsh or fish")
		}
		return fmt.Errorf("there is no completion for %q; there is for bash, zsh and fish", args[0])
	}
	completion.Run = func(*cobra.Command, []string) {}
}
