package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/inplace"
	"github.com/conch-mcp/conch/internal/regular"
)

// Clients looks for the clients, and for conch's servers in their configurations.
// Nothing is started.
func Clients(s Surroundings) Section {
	section := Section{Title: "clients"}
	for _, c := range clients.All() {
		for _, scope := range []clients.Scope{clients.User, clients.Project} {
			place, err := c.Place(s.Machine, scope)
			if err != nil {
				continue
			}
			from := Source{Client: c, File: place.File}
			if scope == clients.Project {
				from.Project = s.Dir
			}
			s.look(&section, from, place)
		}
	}
	return section
}

// largest is more than any client's configuration has.
const largest = 64 << 20

// look looks at one file of a client's.
func (s Surroundings) look(section *Section, from Source, place clients.Place) {
	subject := from.Client.Name
	text, _, err := regular.Read(place.File, largest)
	switch {
	case errors.Is(err, fs.ErrNotExist) && from.Project != "":
		return
	case errors.Is(err, fs.ErrNotExist) && !wasHere(place):
		section.add(OK, subject, "", "not found: there is no %s", s.short(place.Signs[0]))
		return
	case errors.Is(err, fs.ErrNotExist):
		section.add(OK, subject, "", "found, and no servers: there is no %s", s.short(place.File))
		return
	case err != nil:
		section.add(Fail, subject, "give yourself the right to read it", "%s cannot be read: %v", s.short(place.File), err)
		return
	}
	servers, err := from.Client.Servers(text, s.Dir)
	if err != nil {
		s.tellBroken(section, subject, place.File, err)
		return
	}
	s.tellServers(section, from, servers)
}

// wasHere reports whether the client has left a sign.
func wasHere(place clients.Place) bool {
	for _, sign := range place.Signs {
		if _, err := os.Stat(sign); err == nil {
			return true
		}
	}
	return false
}

func (s Surroundings) tellBroken(section *Section, subject, file string, err error) {
	var fault *inplace.Error
	if errors.As(err, &fault) {
		section.add(Fail, subject, "mend it there: no server in it is started", "%s, %v", s.short(file), fault)
		return
	}
	section.add(Fail, subject, "mend it: no server in it is started", "%s: %v", s.short(file), err)
}

// tellServers tells which servers are conch's, and which of these do not start.
func (s Surroundings) tellServers(section *Section, from Source, servers []clients.Server) {
	var ours []string
	var broken Section
	for _, server := range servers {
		var about Section
		l, _ := s.examine(&about, from, server)
		if !l.isConch {
			continue
		}
		ours = append(ours, server.Name)
		for _, c := range about.Checks {
			if c.Mark == Fail {
				c.Subject = from.Client.Name + " " + server.Name
				broken.Checks = append(broken.Checks, c)
			}
		}
	}
	which := ", none of them conch's"
	switch {
	case len(servers) == 0:
		which = ""
	case len(ours) > 0:
		which = ", conch's: " + listed(ours)
	}
	section.add(OK, from.Client.Name, "", "%s: %s%s", s.short(from.File), counted(len(servers), "server"), which)
	section.Checks = append(section.Checks, broken.Checks...)
}

// Read reads what is at a source, and says what is wrong with it in a section.
func (s Surroundings) Read(from Source) (servers []clients.Server, wrong *Section) {
	section := Section{Title: s.Title(from)}
	text, _, err := regular.Read(from.File, largest)
	if err == nil {
		servers, err = from.Client.Servers(text, s.Dir)
		if err != nil {
			s.tellBroken(&section, "the file", from.File, err)
			return nil, &section
		}
	} else {
		section.add(Fail, "the file", "", "%s cannot be read: %v", s.short(from.File), err)
		return nil, &section
	}
	return servers, nil
}

// Title is what stands over the servers of a source.
func (s Surroundings) Title(from Source) string {
	return fmt.Sprintf("servers in %s, as %s them", s.short(from.File), Starts(from.Client))
}

// Starts says how a client starts servers, as the beginning of a sentence about
// one.
func Starts(c clients.Client) string {
	switch {
	case c.Name == "":
		return "most clients start"
	case c.Windowed:
		return c.Title + ", started from a menu, starts"
	}
	return c.Title + " starts"
}

// lines are the last lines of a text, made fit for a list.
func lines(text string, most int) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var kept []string
	for _, line := range all[max(0, len(all)-most):] {
		if line = strings.TrimRight(line, "\r \t"); line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}
