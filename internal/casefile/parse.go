package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Directory stands in texts of a file for a directory of its own.
const Directory = "${CONCH_TEST_DIR}"

// Parse reads a file. dir is what [Directory] stands for. The error joins all
// faults, each an [Error].
func Parse(path string, text []byte, dir string) (File, error) {
	p := &parser{
		file: File{Path: path}, dir: dir, lines: 1 + bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")),
		left: mostNodes, names: map[string]int{},
	}
	if root := p.load(text); root != nil {
		p.top(root)
	}
	return p.file, errors.Join(p.faults...)
}

type parser struct {
	file   File
	dir    string
	lines  int // of the text
	left   int // how many values may still become JSON
	names  map[string]int
	faults []error
}

// load returns the only document there is; nil where there is none.
func (p *parser) load(text []byte) *yaml.Node {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		p.broken(err)
		return nil
	}
	var document, more yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		p.fault(1, "there are no cases; expected a list of them")
		return nil
	} else if err != nil {
		p.broken(err)
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil:
		p.fault(more.Line, "a second document begins; a file of cases is one")
		return nil
	case !errors.Is(err, io.EOF):
		p.broken(err)
		return nil
	}
	root := &document
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	return root
}

// broken tells of a text that is no YAML.
func (p *parser) broken(err error) {
	var load *yaml.LoadError
	if errors.As(err, &load) {
		p.fault(max(load.Mark.Line, load.ContextMark.Line), "it is no YAML: %s", load.Message)
		return
	}
	p.fault(1, "it is no YAML: %v", err)
}

// fault notes what is wrong. The end of a text is on its last line.
func (p *parser) fault(line int, format string, args ...any) {
	line = min(max(line, 1), p.lines)
	p.faults = append(p.faults, &Error{p.file.Path, line, fmt.Sprintf(format, args...)})
}

// top reads a list of cases, or a mapping that has one.
func (p *parser) top(n *yaml.Node) {
	n = resolve(n)
	if n.Kind == yaml.SequenceNode {
		p.cases(n)
		return
	}
	if n.Kind != yaml.MappingNode {
		p.fault(n.Line, "expected a list of cases, or a mapping with cases; this is %s", kindOf(n))
		return
	}
	p.mapping(n, "a file of cases", []member{
		{"command", func(n *yaml.Node) { p.file.Command = p.texts(n, "command", 1) }},
		{"env", p.env},
		{"setup", func(n *yaml.Node) { p.file.Setup, _ = p.scalar(n, "setup") }},
		{"inOrder", func(n *yaml.Node) { p.file.InOrder = p.boolean(n, "inOrder") }},
		{"cases", p.cases},
	})
	if len(p.file.Cases) == 0 && len(p.faults) == 0 {
		p.fault(n.Line, "there are no cases; expected a list of them as cases")
	}
}

func (p *parser) env(n *yaml.Node) {
	p.pairs(n, "env", func(key, value *yaml.Node) {
		switch {
		case value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null":
			p.fault(value.Line, "%s must be text, and is %s", key.Value, kindOf(value))
		case key.Value == "" || strings.ContainsAny(key.Value, "=\x00") || strings.Contains(value.Value, "\x00"):
			p.fault(key.Line, "%q cannot be a variable of the environment", key.Value)
		default:
			p.file.Env = append(p.file.Env, key.Value+"="+p.expand(value.Value))
		}
	})
}

func (p *parser) cases(n *yaml.Node) {
	p.each(n, "cases", func(n *yaml.Node) {
		if c, ok := p.oneCase(n); ok {
			p.file.Cases = append(p.file.Cases, c)
		}
	})
	if n = resolve(n); n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.fault(n.Line, "the list of cases is empty")
	}
}

func (p *parser) oneCase(n *yaml.Node) (Case, bool) {
	before := len(p.faults)
	c := Case{Line: n.Line, Args: []byte("{}"), Within: DefaultWithin, Expect: Expect{Line: n.Line}}
	if !p.mapping(n, "a case", []member{
		{"name", func(n *yaml.Node) { c.Name = p.name(n) }},
		{"tool", func(n *yaml.Node) { c.Tool = p.text(n, "tool") }},
		{"args", func(n *yaml.Node) { c.Args = p.object(n, "args") }},
		{"within", func(n *yaml.Node) { c.Within = p.span(n) }},
		{"answers", func(n *yaml.Node) { c.Answers = p.answers(n) }},
		{"expect", func(n *yaml.Node) { c.Expect = p.expect(n) }},
	}) {
		return c, false
	}
	if len(p.faults) > before {
		return c, false
	}
	if c.Name == "" {
		p.fault(n.Line, "the case has no name")
	}
	if c.Tool == "" {
		p.fault(n.Line, "the case names no tool to call")
	}
	return c, len(p.faults) == before
}

// name reads a case's name, by which reports tell it from others.
func (p *parser) name(n *yaml.Node) string {
	name, ok := p.scalar(n, "name")
	if !ok {
		return ""
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.fault(n.Line, "a name is one line of text")
		return ""
	}
	if line, taken := p.names[name]; taken {
		p.fault(n.Line, "the case in line %d has the name %q already", line, name)
		return ""
	}
	p.names[name] = n.Line
	return name
}

// span reads a span of time.
func (p *parser) span(n *yaml.Node) time.Duration {
	d, err := time.ParseDuration(resolve(n).Value)
	if err != nil || d <= 0 {
		p.fault(n.Line, "within must be a span of time such as 500ms or 30s")
		return DefaultWithin
	}
	return d
}

// expand puts the directory where a text speaks of it.
func (p *parser) expand(text string) string { return strings.ReplaceAll(text, Directory, p.dir) }

// fileURI returns the URI of a path; what is one stays as it is. A path that leads
// on from somewhere does so from the file.
func (p *parser) fileURI(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.file.Path), path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return "file://" + escapePath(path)
}
