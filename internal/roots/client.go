package roots

import (
	"fmt"
	"log/slog"

	"github.com/conch-mcp/conch/internal/sparing"
)

// maxNamed is how many roots of a client are looked at.
const maxNamed = 1000

// A ClientRoot is a root as a client names it.
type ClientRoot struct{ URI, Name string }

// FromClient makes a set of what a client has named. What is refused is left out
// and becomes a problem, for a log; where all is refused the set is empty, and
// nothing is in it.
func FromClient(named []ClientRoot) (set Set, problems []string) {
	if len(named) > maxNamed {
		problems = append(problems, fmt.Sprintf("the client has named %d roots, of which all behind the first %d are left out", len(named), maxNamed))
		named = named[:maxNamed]
	}
	var g gathering
	for i, root := range named {
		if err := g.addURI(root); err != nil {
			problems = append(problems, fmt.Sprintf("root %d of the client, %.200q, is left out: %v", i+1, root.URI, err))
		}
	}
	return g.set, problems
}

// Warn has a log tell of the problems, and of no more than a few where there are many.
func Warn(log *slog.Logger, problems []string) {
	warnings := sparing.New(log, "more of the client's roots are left out", 0)
	defer warnings.End()
	for _, problem := range problems {
		warnings.Warn(problem)
	}
}

func (g *gathering) addURI(root ClientRoot) error {
	path, err := pathOf(root.URI)
	if err != nil {
		return err
	}
	place, err := readable(path)
	if err != nil {
		return err
	}
	return g.add(Root{URI: root.URI, Name: root.Name, Path: place})
}
