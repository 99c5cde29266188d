package tags

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// A Type is what a notation says of a value.
type Type int

const (
	String  Type = iota // any other notation, FILE, DIR and PATH among them
	Integer             // INT
	Number              // NUM
	URL
	Date
	JSON // any JSON value; in Bash its text
)

var typeNames = map[string]Type{"INT": Integer, "NUM": Number, "URL": URL, "DATE": Date, "JSON": JSON}

// Type goes by the notation's name, in capitals or not.
func (n Notation) Type() Type { return typeNames[strings.ToUpper(n.Name)] }

// schema is the one of a value of the type, without what the parameter says of it.
func (t Type) schema() object {
	switch t {
	case Integer:
		return object{{"type", "integer"}}
	case Number:
		return object{{"type", "number"}}
	case URL:
		return object{{"type", "string"}, {"format", "uri"}}
	case Date:
		return object{{"type", "string"}, {"format", "date"}}
	case JSON:
		return object{}
	default:
		return object{{"type", "string"}}
	}
}

var (
	wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)
	anyNumber   = regexp.MustCompile(`^([+-]?)([0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)
)

// literal is a value of the type that is written in a tag, as JSON.
func (t Type) literal(text string) (json.RawMessage, error) {
	switch t {
	case Integer:
		if n, ok := new(big.Int).SetString(text, 10); ok && wholeNumber.MatchString(text) {
			return json.RawMessage(n.String()), nil
		}
		return nil, fmt.Errorf("%.40q is no whole number, as <INT> says", text)
	case Number:
		if number, ok := numeral(text); ok {
			return number, nil
		}
		return nil, fmt.Errorf("%.40q is no number, as <NUM> says", text)
	case JSON:
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(text)); err != nil {
			return nil, fmt.Errorf("%.40q is no JSON, as <JSON> says: %w", text, err)
		}
		return compact.Bytes(), nil
	default:
		return encode(text), nil
	}
}

// numeral spells a number as JSON does: people also write .5, 5. and 007.
func numeral(text string) (json.RawMessage, bool) {
	parts := anyNumber.FindStringSubmatch(text)
	if parts == nil || parts[2] == "" && len(parts[3]) < 2 {
		return nil, false
	}
	sign, integer, fraction, exponent := strings.Trim(parts[1], "+"), strings.TrimLeft(parts[2], "0"), parts[3], parts[4]
	if integer == "" {
		integer = "0"
	}
	if fraction == "." {
		fraction = ""
	}
	return json.RawMessage(sign + integer + fraction + exponent), true
}

// A member is one of a JSON object, whose members stay in their order.
type member struct {
	name  string
	value any
}

type object []member

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON for people to read, too: < and > stay what they are. It is
// for values that have a form in JSON.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Literal is a value that is no JSON, as one from the environment is, as JSON.
func (n Notation) Literal(text string) (json.RawMessage, error) { return n.Type().literal(text) }
