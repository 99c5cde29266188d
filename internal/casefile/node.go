package casefile

import (
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// member is a member that a mapping may have.
type member struct {
	name string
	read func(*yaml.Node)
}

// mapping reads a mapping that may have these members and no others. What is
// wrong with it as a whole makes it false.
func (p *parser) mapping(n *yaml.Node, what string, members []member) bool {
	return p.pairs(n, what, func(key, value *yaml.Node) {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == key.Value })
		if i < 0 {
			p.fault(key.Line, "%s has no member %q; it may have %s", what, key.Value, names(members))
			return
		}
		members[i].read(value)
	})
}

func names(members []member) string {
	var list []string
	for _, m := range members {
		list = append(list, m.name)
	}
	return strings.Join(list, ", ")
}

// pairs reads any mapping. No key may be there twice.
func (p *parser) pairs(n *yaml.Node, what string, each func(key, value *yaml.Node)) bool {
	if n = resolve(n); n.Kind != yaml.MappingNode {
		p.fault(n.Line, "%s must be a mapping, and is %s", what, kindOf(n))
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode:
			p.fault(key.Line, "a key must be text, and is %s", kindOf(key))
		case key.ShortTag() == "!!merge":
			p.fault(key.Line, "merge keys (<<) are not for files of cases")
		case seen[key.Value]:
			p.fault(key.Line, "%q is there twice", key.Value)
		default:
			seen[key.Value] = true
			each(key, value)
		}
	}
	return true
}

// each reads a list.
func (p *parser) each(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		p.fault(n.Line, "%s must be a list, and is %s", what, kindOf(n))
		return
	}
	for _, item := range n.Content {
		read(resolve(item))
	}
}

// text reads a text in which the directory may be spoken of.
func (p *parser) text(n *yaml.Node, what string) string {
	text, _ := p.scalar(n, what)
	return p.expand(text)
}

// scalar reads a text as it stands.
func (p *parser) scalar(n *yaml.Node, what string) (string, bool) {
	switch n = resolve(n); {
	case n.Kind != yaml.ScalarNode:
		p.fault(n.Line, "%s must be text, and is %s", what, kindOf(n))
		return "", false
	case !isText(n):
		p.fault(n.Line, "%s must be text, and is %s; write it in quotes if that is meant", what, kindOf(n))
		return "", false
	}
	return n.Value, true
}

// texts reads a list of at least so many texts.
func (p *parser) texts(n *yaml.Node, what string, least int) []string {
	list := []string{}
	p.each(n, what, func(n *yaml.Node) { list = append(list, p.text(n, "what is in "+what)) })
	if n = resolve(n); n.Kind == yaml.SequenceNode && len(list) < least {
		p.fault(n.Line, "%s is empty", what)
	}
	return list
}

// oneOrMore reads one text, or a list of them.
func (p *parser) oneOrMore(n *yaml.Node, what string) (list []Text) {
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return []Text{{p.text(n, what), n.Line}}
	}
	p.each(n, what, func(n *yaml.Node) { list = append(list, Text{p.text(n, "what is in "+what), n.Line}) })
	return list
}

func (p *parser) boolean(n *yaml.Node, what string) bool {
	if n = resolve(n); n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		p.fault(n.Line, "%s must be true or false", what)
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// isText reports whether a scalar is text. A date is: JSON has no others.
func isText(n *yaml.Node) bool {
	tag := n.ShortTag()
	return tag == "!!str" || tag == "!!timestamp"
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
	default:
		return "nothing"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	default:
		return "of the type " + tag
	}
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }
