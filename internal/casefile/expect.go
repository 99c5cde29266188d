package casefile

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// expect reads what is to come of a call.
func (p *parser) expect(n *yaml.Node) Expect {
	e := Expect{Line: n.Line}
	p.mapping(n, "expect", []member{
		{"text", func(n *yaml.Node) { e.Text = &Text{p.text(n, "text"), n.Line} }},
		{"contains", func(n *yaml.Node) { e.Contains = p.oneOrMore(n, "contains") }},
		{"regexp", func(n *yaml.Node) { e.Regexp = p.patterns(n) }},
		{"json", func(n *yaml.Node) { e.JSON = &Value{p.json(n), n.Line} }},
		{"content", func(n *yaml.Node) { e.Content = p.objects(n, "content") }},
		{"isError", func(n *yaml.Node) { e.IsError = p.boolean(n, "isError") }},
		{"error", func(n *yaml.Node) { e.Error = p.refusal(n) }},
		{"progress", func(n *yaml.Node) { e.Progress = p.objects(n, "progress") }},
		{"logs", func(n *yaml.Node) { e.Logs = p.objects(n, "logs") }},
	})
	if e.Error != nil && (e.IsError || e.Text != nil || e.Contains != nil || e.Regexp != nil || e.JSON != nil || e.Content != nil) {
		p.fault(e.Error.Line, "error is an error of the protocol, with which no result comes: text, contains, regexp, json, content and isError are for results")
	}
	return e
}

func (p *parser) patterns(n *yaml.Node) (list []Pattern) {
	for _, text := range p.oneOrMore(n, "regexp") {
		pattern, err := regexp.Compile(text.Value)
		if err != nil {
			p.fault(text.Line, "%v", err)
			continue
		}
		list = append(list, Pattern{pattern, text.Line})
	}
	return list
}

func (p *parser) refusal(n *yaml.Node) *Refusal {
	r := &Refusal{Line: n.Line}
	p.mapping(n, "error", []member{
		{"code", func(n *yaml.Node) {
			code, err := strconv.ParseInt(resolve(n).Value, 10, 64)
			if err != nil {
				p.fault(n.Line, "code must be a whole number such as -32602")
			}
			r.Code = &code
		}},
		{"message", func(n *yaml.Node) {
			text := p.text(n, "message")
			r.Message = &text
		}},
	})
	return r
}

// answers reads what the client says when it is asked.
func (p *parser) answers(n *yaml.Node) (a Answers) {
	p.mapping(n, "answers", []member{
		{"elicit", func(n *yaml.Node) {
			a.Elicit = []Elicitation{}
			p.each(n, "elicit", func(n *yaml.Node) { a.Elicit = append(a.Elicit, p.elicitation(n)) })
		}},
		{"sample", func(n *yaml.Node) { a.Sample = p.samplings(n) }},
		{"roots", func(n *yaml.Node) {
			a.Roots = p.texts(n, "roots", 0)
			for i, root := range a.Roots {
				a.Roots[i] = p.fileURI(root)
			}
		}},
	})
	return a
}

func (p *parser) elicitation(n *yaml.Node) Elicitation {
	e := Elicitation{Question: Question{Line: n.Line}, Action: "accept"}
	p.mapping(n, "an answer of elicit", append(p.question(&e.Question),
		member{"action", func(n *yaml.Node) { e.Action = p.text(n, "action") }},
		member{"content", func(n *yaml.Node) { e.Content = p.object(n, "content") }},
	))
	switch {
	case e.Action != "accept" && e.Action != "decline" && e.Action != "cancel":
		p.fault(n.Line, "action must be accept, decline or cancel")
	case e.Action != "accept" && e.Content != nil:
		p.fault(n.Line, "an answer has content where its action is accept")
	}
	return e
}

// samplings reads one text that answers everything, or a list of answers.
func (p *parser) samplings(n *yaml.Node) []Sampling {
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return []Sampling{{Question{Line: n.Line}, p.text(n, "sample")}}
	}
	list := []Sampling{}
	p.each(n, "sample", func(n *yaml.Node) {
		s := Sampling{Question: Question{Line: n.Line}}
		p.mapping(n, "an answer of sample", append(p.question(&s.Question),
			member{"text", func(n *yaml.Node) { s.Text = p.text(n, "text") }}))
		list = append(list, s)
	})
	return list
}

func (p *parser) question(q *Question) []member {
	return []member{
		{"key", func(n *yaml.Node) { q.Key = p.text(n, "key") }},
		{"message", func(n *yaml.Node) { q.Message = p.text(n, "message") }},
	}
}
