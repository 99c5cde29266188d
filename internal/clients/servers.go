package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/inplace"
)

// A Server is an entry of a configuration, as far as it says how the server is
// started or reached.
type Server struct {
	Name string
	Entry
	Dir      string   // where it is to run; "" for where the client says
	URL      string   // where it is reached, "" for one that is started
	Disabled bool     // it is there, and is not started
	HandedOn []string // names of variables that it is to have of the client's
	// Faults say what in the entry is not as the client reads it.
	Faults []string
}

// Servers lists what a configuration has, in its order. dir is a project, of which
// some clients keep servers beside those of the user; "" for none.
func (c Client) Servers(text []byte, dir string) ([]Server, error) {
	d, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := serversAt(d, c.servers)
	if err != nil || !c.keepsProjects || dir == "" {
		return servers, err
	}
	own, err := serversAt(d, "projects", dir, c.servers)
	if err != nil {
		// What else is kept of projects is the client's business.
		return servers, nil
	}
	// The project's stand in front of the user's of the same name.
	servers = slices.DeleteFunc(servers, func(s Server) bool {
		return slices.ContainsFunc(own, func(o Server) bool { return o.Name == s.Name })
	})
	return append(servers, own...), nil
}

func serversAt(d inplace.Document, path ...string) ([]Server, error) {
	value, err := d.Get(path...)
	if err != nil || value == nil {
		return nil, err
	}
	table, ok := value.(inplace.Table)
	if !ok {
		return nil, fmt.Errorf("%s holds no servers", path[len(path)-1])
	}
	var servers []Server
	for _, m := range table {
		servers = append(servers, serverOf(m))
	}
	return servers, nil
}

func serverOf(m inplace.Member) Server {
	s := Server{Name: m.Name}
	table, ok := m.Value.(inplace.Table)
	if !ok {
		s.fault("it is no table of members")
		return s
	}
	s.read(table)
	switch {
	case s.Command != "":
		s.URL = ""
	case s.URL == "" && len(s.Faults) == 0:
		s.fault("it has neither a command nor a url")
	}
	return s
}

func (s *Server) fault(format string, args ...any) {
	s.Faults = append(s.Faults, fmt.Sprintf(format, args...))
}

func (s *Server) read(table inplace.Table) {
	for _, m := range table {
		switch m.Name {
		case "command":
			s.readCommand(m.Value)
		case "path":
			// Beside args and env, within the command, as older versions of Zed have it.
			s.text(m, &s.Command)
		case "args":
			s.texts(m, &s.Args)
		case "env":
			s.readEnv(m.Value)
		case "cwd":
			s.text(m, &s.Dir)
		case "env_vars":
			s.texts(m, &s.HandedOn)
		case "url", "httpUrl", "serverUrl":
			s.text(m, &s.URL)
		case "disabled":
			s.Disabled = s.Disabled || m.Value == inplace.Other("true")
		case "enabled":
			s.Disabled = s.Disabled || m.Value == inplace.Other("false")
		}
	}
}

func (s *Server) readCommand(value any) {
	switch v := value.(type) {
	case string:
		if s.Command = v; v == "" {
			s.fault("its command is empty")
		}
	case inplace.Table:
		s.read(v)
	case []string:
		s.fault("its command is an array; the program goes into command, the rest into args")
	default:
		s.fault("its command is no text")
	}
}

func (s *Server) text(m inplace.Member, to *string) {
	v, ok := m.Value.(string)
	if !ok {
		s.fault("its %s is no text", m.Name)
	}
	*to = v
}

func (s *Server) texts(m inplace.Member, to *[]string) {
	v, ok := m.Value.([]string)
	if !ok && m.Value != inplace.Other("null") {
		s.fault("its %s are no array of texts", m.Name)
	}
	*to = v
}

func (s *Server) readEnv(value any) {
	table, ok := value.(inplace.Table)
	if !ok {
		if value != inplace.Other("null") {
			s.fault("its env is no table of texts")
		}
		return
	}
	for _, m := range table {
		v, ok := m.Value.(string)
		if !ok {
			s.fault("the value of %s in its env is no text; put it in quotes", m.Name)
			continue
		}
		s.Env = append(s.Env, Variable{Name: m.Name, Value: v, Typed: true})
	}
}

// Owner guesses whose configuration a file is: by its place, by the end of its
// name, and by what it holds. Where nothing tells, it is that of most clients.
func Owner(m Machine, file string, text []byte) (Client, Scope) {
	for _, c := range All() {
		for _, scope := range []Scope{User, Project} {
			place, err := c.Place(m, scope)
			if err == nil && place.File == file {
				return c, scope
			}
		}
	}
	for _, c := range All() {
		place, err := c.Place(Machine{OS: m.OS, Home: m.Home, Getenv: m.Getenv}, Project)
		if err == nil && strings.HasSuffix(file, string(filepath.Separator)+place.File) {
			return c, Project
		}
	}
	if filepath.Ext(file) == ".toml" {
		codex, _ := Of("codex")
		return codex, User
	}
	for _, c := range All() {
		// The others have their servers where most have them.
		if c.servers == Any().servers {
			continue
		}
		if d, err := c.parse(text); err == nil {
			if there, err := d.Get(c.servers); err == nil && there != nil {
				return c, User
			}
		}
	}
	return Any(), User
}

// ProjectOf is the directory of a project whose file this is.
func (c Client) ProjectOf(file string) string {
	name := c.project(Machine{}).File
	return filepath.Clean(strings.TrimSuffix(file, name))
}
