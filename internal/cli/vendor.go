package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/vendoring"
	"github.com/conch-mcp/conch/lib"
)

func newVendor() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:                   "vendor [--check] [FORMAT [PATH...]]",
		DisableFlagsInUseLine: true,
		Short:                 "Keep copies of conch's files for other frameworks' scripts",
		Long: `Vendor writes the files that serve a framework's scripts with conch to where
they source the framework's own, and records them in .conch.lock in the current
directory. Without a FORMAT it writes every file anew that is recorded there.

FORMAT is one of

  bash-mcp-sdk         mcpserver_core.sh
  mcp-server-bash-sdk  mcpserver_core.sh and mcpserver_http.sh

PATH is a directory for its files, or a file itself if one is there or the name
ends in .sh or .bash. Every PATH is below the current directory. Without one it
is what is recorded for FORMAT, or else lib/ for bash-mcp-sdk and the current
directory for mcp-server-bash-sdk.

With --check nothing is written. The exit status is 0 if every file is what
this conch would write, 1 if not, which a diff shows, or 2 if that could not be
found out.`,
		Example: `  conch vendor bash-mcp-sdk
  conch vendor bash-mcp-sdk billing/lib/ search/lib/
  conch vendor mcp-server-bash-sdk
  conch vendor
  conch vendor --check`,
		ValidArgsFunction: completeFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, paths := "", args
			if len(args) > 0 {
				format, paths = args[0], args[1:]
				if format == "" {
					return errors.New("FORMAT is empty")
				}
			}
			dir, err := vendoring.Open(".")
			if err != nil {
				return err
			}
			defer dir.Close()
			if check {
				return checkVendored(os.Stdout, dir, format, paths)
			}
			return vendor(os.Stdout, dir, format, paths)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "compare, and write nothing")
	return cmd
}

func release() vendoring.Release {
	return vendoring.Release{Conch: buildVersion(), Formats: lib.Formats()}
}

func completeFormat(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []cobra.Completion
	for _, f := range lib.Formats() {
		var files []string
		for _, file := range f.Files {
			files = append(files, file.Name)
		}
		names = append(names, cobra.CompletionWithDesc(f.Name, strings.Join(files, ", ")))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func vendor(out io.Writer, dir *vendoring.Directory, format string, paths []string) error {
	plan, err := dir.Plan(release(), format, paths)
	if err != nil {
		return err
	}
	for _, x := range plan.Differences {
		if err := x.Loss(); err != nil {
			return err
		}
	}
	for _, x := range plan.Differences {
		if err := dir.Write(x); err != nil {
			return &exitError{1, err}
		}
		did, was := "replaced", ""
		if x.Missing {
			did = "wrote"
		}
		if x.Path == vendoring.LockName && otherVersion(plan) {
			was = ", which was of conch " + plan.Recorded
		}
		fmt.Fprintf(out, "%s %s%s\n", did, x.Path, was)
	}
	if len(plan.Differences) == 0 {
		fmt.Fprintf(out, "nothing to write; the same as in conch %s: %s\n", buildVersion(), files(plan.Files))
	}
	return nil
}

func checkVendored(out io.Writer, dir *vendoring.Directory, format string, paths []string) error {
	found, err := dir.Check(release(), format, paths)
	if err != nil {
		return err
	}
	if len(found.Differences) == 0 {
		fmt.Fprintf(out, "the same as in conch %s: %s\n", buildVersion(), files(found.Files))
		return nil
	}
	for _, x := range found.Differences {
		if x.Missing {
			fmt.Fprintln(out, x.Path+" is missing")
			continue
		}
		if _, err := out.Write(x.Diff()); err != nil {
			return &exitError{2, fmt.Errorf("print the difference: %w", err)}
		}
	}
	return &exitError{1, errors.New(howToMend(found))}
}

// howToMend also looks at the version in the lock: beside a newer lock, what is
// to be mended may be this conch.
func howToMend(found vendoring.Comparison) string {
	text := fmt.Sprintf("not the same as in conch %s: %s", buildVersion(), files(len(found.Differences)))
	if otherVersion(found) {
		return fmt.Sprintf("%s, but %s is of conch %s; check with that one, or run this without --check to go with conch %s",
			text, vendoring.LockName, found.Recorded, buildVersion())
	}
	return text + "; run this without --check to mend it"
}

func otherVersion(c vendoring.Comparison) bool {
	return c.Recorded != "" && c.Recorded != buildVersion()
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
