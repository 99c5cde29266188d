package roots

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// FromJSON reads what [Set.JSON] has written, which has been judged already.
func FromJSON(text string) (Set, error) {
	var list []Root
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return Set{}, errors.New(`it is not a list of roots like [{"uri":"file:///srv","name":"srv","path":"/srv"}]`)
	}
	var g gathering
	for _, r := range list {
		if !filepath.IsAbs(r.Path) || strings.ContainsAny(r.Path, "\x00\n") {
			return Set{}, errors.New("the path of a root in it is not absolute, or is none")
		}
		if err := g.add(r); err != nil {
			return Set{}, err
		}
	}
	return g.set, nil
}
