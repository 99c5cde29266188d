package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/check"
	"github.com/conch-mcp/conch/internal/check/render"
	"github.com/conch-mcp/conch/internal/message"
)

// checkFlags say what is checked, and how it is told.
type checkFlags struct {
	tools, config, resources, prompts string
	bash                              string
	format                            string
	strict                            bool
	disabled                          []string
	rules                             bool
}

func newCheck() *cobra.Command {
	var flags checkFlags
	cmd := &cobra.Command{
		Use:   "check [flags] TARGET...",
		Short: "Look for mistakes in servers, without running them",
		Long: `Check reads scripts, and what stands beside them, for what is wrong: lists that
cannot be read, lists, tags and functions that disagree, schemas that are wrong
or tell a model too little, code that Bash cannot read, and arguments that become
more than data, in eval say, or without quotes. shellcheck is asked as well where
it is installed.

TARGET is a Bash script with its lists, a script with tags, or a folder: all
scripts in it with tags, or with tool_… functions beside a tools.json, are
checked. Nothing of them is run, so that anybody's script may be checked.

A comment, # conch-check disable=RULE, in a line or right above it has a rule be
silent there. --rules lists the rules.

The exit status is 0 without errors, 1 with some (with --strict: or warnings), and
2 when a target cannot be checked.`,
		Example: `  conch check server.sh
  conch check --strict examples
  conch check --format github servers/*.sh
  conch check --format sarif . >check.sarif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.rules {
				return nil
			}
			return atLeast(1, "name the TARGET to check, a script or a folder")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if flags.rules {
				return listRules()
			}
			// A signal ends it at once: there is nothing that it would leave behind, and
			// scripts of others may keep it busy.
			return status2(flags.run(context.Background(), args))
		},
	}
	flags.register(cmd)
	return cmd
}

func (f *checkFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", "how to report: text, json, sarif or github")
	flags.BoolVar(&f.strict, "strict", false, "count warnings as errors")
	flags.StringSliceVar(&f.disabled, "disable", nil, "`rules` to leave out, with commas between them")
	flags.BoolVar(&f.rules, "rules", false, "list the rules and check nothing")
	flags.StringVar(&f.tools, "tools", "", "the list of tools (default: what the script says, or tools.json beside it)")
	flags.StringVar(&f.config, "config", "", "the server's description (default: what the script says, or config.json beside it)")
	flags.StringVar(&f.resources, "resources", "", "the list of resources (default: what the script says, or resources.json beside it)")
	flags.StringVar(&f.prompts, "prompts", "", "the list of prompts (default: what the script says, or prompts.json beside it)")
	flags.StringVar(&f.bash, "bash", "bash", "the bash whose syntax counts")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(render.Formats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("disable", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, r := range check.Rules() {
			names = append(names, r.ID+"\t"+r.About)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

func (f *checkFlags) check() error {
	if !slices.Contains(render.Formats, f.format) {
		return fmt.Errorf("--format is %q; it must be one of %s", f.format, strings.Join(render.Formats, ", "))
	}
	if _, err := exec.LookPath(f.bash); err != nil && f.bash != "bash" {
		return fmt.Errorf("there is no %s to read scripts with (--bash)", f.bash)
	}
	for _, name := range f.disabled {
		known := slices.ContainsFunc(check.Rules(), func(r check.Rule) bool { return r.ID == name })
		if !known && !strings.HasPrefix(name, "SC") {
			return fmt.Errorf("--disable: there is no rule %q; conch check --rules lists them", name)
		}
	}
	return nil
}

func listRules() error {
	for _, r := range check.Rules() {
		if _, err := fmt.Printf("%-19s %-8s %s\n", r.ID, r.Severity, r.About); err != nil {
			return err
		}
	}
	return nil
}

func (f *checkFlags) run(ctx context.Context, targets []string) error {
	result, err := check.Check(ctx, targets, f.options())
	if err != nil {
		return &exitError{2, err}
	}
	if err := render.Render(os.Stdout, f.format, result, buildVersion()); err != nil {
		return &exitError{1, fmt.Errorf("write the report: %w", err)}
	}
	if result.Count(check.Error) > 0 || f.strict && result.Count(check.Warning) > 0 {
		return &exitError{1, nil}
	}
	return nil
}

// options are those of the check, with what this machine has.
func (f *checkFlags) options() check.Options {
	o := check.Options{
		Tools: f.tools, Config: f.config, Resources: f.resources, Prompts: f.prompts,
		Revisions: message.Revisions(), Disabled: f.disabled, Getenv: os.LookupEnv,
		Find: func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		},
	}
	o.Bash, _ = exec.LookPath(f.bash)
	o.Shellcheck, _ = exec.LookPath("shellcheck")
	return o
}
