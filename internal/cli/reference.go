package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What the reference has to know of a flag beyond its help: annotations of pflag.
const (
	// FlagGroup is the heading that the flag stands under.
	FlagGroup = "conch_group"
	// FlagDefault says in words what holds without the flag, where the value in the
	// help is that of one machine, or no value at all.
	FlagDefault = "conch_default"
)

// Command is the conch command with all that it has, for those who document it. It
// is not to be executed: [Main] does more.
func Command() *cobra.Command { return newRoot() }

// annotate sets an annotation of a flag that is there.
func annotate(flags *pflag.FlagSet, name, key, words string) {
	f := flags.Lookup(name)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{words}
}
