package tags

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Fault is one thing in a script's tags that cannot be served.
type Fault struct {
	File     string // as [Parse] was given it
	Line     int    // counted from 1
	Column   int    // in characters, counted from 1; 0 where the whole line is meant
	What     string // what is wrong
	Expected string // what would be right; "" where What says it
}

// Error is like "disks.sh:7:18: the choices have no end; expected a ]".
func (f *Fault) Error() string {
	place := fmt.Sprintf("%s:%d", f.File, f.Line)
	if f.Column > 0 {
		place += fmt.Sprintf(":%d", f.Column)
	}
	if f.Expected == "" {
		return fmt.Sprintf("%s: %s", place, f.What)
	}
	return fmt.Sprintf("%s: %s; expected %s", place, f.What, f.Expected)
}

// Faults is all that is wrong with one script, in the order of its lines.
type Faults []*Fault

// mostTold is how many faults a text tells.
const mostTold = 50

// Error has a line for each, up to so many.
func (f Faults) Error() string {
	var texts []string
	for i, fault := range f {
		if i == mostTold {
			texts = append(texts, fmt.Sprintf("… and %d more", len(f)-i))
			break
		}
		texts = append(texts, fault.Error())
	}
	return strings.Join(texts, "\n")
}

// Unwrap is for [errors.As], which finds the first.
func (f Faults) Unwrap() []error {
	var all []error
	for _, fault := range f {
		all = append(all, fault)
	}
	return all
}

// inOrder sorts by place: some faults show only at the end of the script.
func (f Faults) inOrder() Faults {
	slices.SortStableFunc(f, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f
}

// A flaw is what is wrong in one line, before anybody knows which line that is.
type flaw struct {
	at             int // the byte where it is; -1 for the whole line
	below          int // lines below the tag's, in the comments that go on with it
	what, expected string
}

func whole(what, expected string) *flaw { return &flaw{at: -1, what: what, expected: expected} }
