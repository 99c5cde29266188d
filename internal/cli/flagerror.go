package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError words what is wrong with a command's flags for whoever typed them.
func flagError(cmd *cobra.Command, args []string, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		if name := oneDash(cmd.Flags(), args); name != "" {
			return fmt.Errorf("%w; write --%s, with two dashes", err, name)
		}
	}
	if errors.As(err, &unknown) && cmd.Name() == "call" && unknown.GetSpecifiedName() != "" {
		name := strings.ReplaceAll(unknown.GetSpecifiedName(), "-", "_")
		return fmt.Errorf("%w; an argument of the tool is written %s=TEXT or %s:=JSON", err, name, name)
	}
	return valueError(err)
}

// oneDash finds a flag among the arguments that was given with one dash.
func oneDash(flags *pflag.FlagSet, args []string) (name string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		switch {
		case arg == "--":
			return ""
		case !strings.HasPrefix(arg, "-") || len(name) < 2:
		case flags.Lookup(name) != nil:
			return name
		}
	}
	return ""
}

// valueError tells what a flag takes where its value is not of that kind.
func valueError(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	expected := "a number"
	switch invalid.GetFlag().Value.Type() {
	case "bool":
		expected = "true or false"
	case "int":
		expected = "a whole number"
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: expected %s", invalid.GetValue(), invalid.GetFlag().Name, expected)
}
