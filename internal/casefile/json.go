package casefile

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v4"
)

// Aliases may make much of little: a file has no more values than mostNodes once
// they are followed, none of them deeper than mostDepth.
const (
	mostNodes = 200_000
	mostDepth = 200
)

// object reads a mapping as JSON.
func (p *parser) object(n *yaml.Node, what string) json.RawMessage {
	if n = resolve(n); n.Kind != yaml.MappingNode {
		p.fault(n.Line, "%s must be a mapping, and is %s", what, kindOf(n))
		return json.RawMessage("{}")
	}
	return p.json(n)
}

// objects reads a list of mappings as JSON.
func (p *parser) objects(n *yaml.Node, what string) []Value {
	list := []Value{}
	p.each(n, what, func(n *yaml.Node) { list = append(list, Value{p.object(n, "what is in "+what), n.Line}) })
	return list
}

// json reads anything as JSON, its numbers with the digits they have.
func (p *parser) json(n *yaml.Node) json.RawMessage {
	var b bytes.Buffer
	p.write(&b, n, 0)
	if !json.Valid(b.Bytes()) {
		// A fault has been noted.
		return json.RawMessage("null")
	}
	return b.Bytes()
}

func (p *parser) write(b *bytes.Buffer, n *yaml.Node, depth int) {
	n = resolve(n)
	if p.left--; p.left < 0 || depth > mostDepth {
		if p.left >= -1 {
			p.fault(n.Line, "there is more here than a file of cases may hold, or it is too deep")
		}
		p.left = min(p.left, -2)
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		p.writeMapping(b, n, depth)
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			p.write(b, item, depth+1)
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		p.writeScalar(b, n)
	}
}

func (p *parser) writeMapping(b *bytes.Buffer, n *yaml.Node, depth int) {
	separator := byte('{')
	p.pairs(n, "it", func(key, value *yaml.Node) {
		b.WriteByte(separator)
		separator = ','
		writeText(b, key.Value)
		b.WriteByte(':')
		p.write(b, value, depth+1)
	})
	if separator == '{' {
		b.WriteByte('{')
	}
	b.WriteByte('}')
}

func (p *parser) writeScalar(b *bytes.Buffer, n *yaml.Node) {
	switch tag := n.ShortTag(); {
	case isText(n):
		writeText(b, p.expand(n.Value))
	case tag == "!!null":
		b.WriteString("null")
	case tag == "!!bool":
		if p.boolean(n, "it") {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(n.Value)):
		b.WriteString(n.Value)
	case tag == "!!int" || tag == "!!float":
		p.fault(n.Line, "JSON has no number %s; write it in decimal digits, or in quotes if text is meant", n.Value)
	default:
		p.fault(n.Line, "JSON has nothing of the type %s", tag)
	}
}

// writeText writes a text as JSON, without the escapes for web pages.
func writeText(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	// A text can always be encoded.
	_ = e.Encode(text)
	b.Truncate(b.Len() - 1)
}
