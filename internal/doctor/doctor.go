// Package doctor looks at what a server depends on: the machine, the
// configurations of clients, and whether what stands there starts, when it is
// started as the client would.
//
// What it finds is data. It knows nothing of terminals and flags, nor where
// conch keeps its files.
package doctor

import (
	"fmt"
	"strings"

	"github.com/conch-mcp/conch/internal/clients"
)

// A Mark says how grave a finding is.
type Mark string

// The marks.
const (
	OK   Mark = "ok"
	Note Mark = "note" // worth knowing, and no fault
	Warn Mark = "warn" // works, and may not elsewhere
	Fail Mark = "fail" // does not work
)

// A Check is one thing that was looked at.
type Check struct {
	Mark    Mark   `json:"mark"`
	Subject string `json:"subject"` // a word or two: what was looked at
	Finding string `json:"finding"`
	Remedy  string `json:"remedy,omitempty"` // what to do about it
	// Said are lines of the server's own about it, the last ones.
	Said []string `json:"said,omitempty"`
}

// A Section is checks that belong together.
type Section struct {
	Title  string  `json:"title"`
	Checks []Check `json:"checks"`
}

func (s *Section) add(mark Mark, subject, remedy, format string, args ...any) {
	s.Checks = append(s.Checks, Check{Mark: mark, Subject: subject, Remedy: remedy, Finding: fmt.Sprintf(format, args...)})
}

// Failed counts the checks that failed.
func Failed(sections []Section) int {
	failed := 0
	for _, s := range sections {
		for _, c := range s.Checks {
			if c.Mark == Fail {
				failed++
			}
		}
	}
	return failed
}

// Surroundings are what the checks look at.
type Surroundings struct {
	clients.Machine
	Environ []string // "name=value"
	Conch   string   // the path of conch, as it was called
	Version string
	Control string // where control files go
}

// path is the PATH of the terminal.
func (s Surroundings) path() string { return s.Getenv("PATH") }

// short is a path as people write it.
func (s Surroundings) short(path string) string {
	if rest, ok := strings.CutPrefix(path, s.Home+"/"); ok && s.Home != "" && s.Home != "/" {
		return "~/" + rest
	}
	return path
}

// listed is a list of names for a sentence, not too long.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
