package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/message"
)

// A Manner is how a connection treats its client where frameworks for servers in
// shell differ: from each other, and from Conch. There are [*BashSDK] and
// [*ServerBashSDK]; Conch's own is none.
type Manner interface {
	// judgeText tells what keeps text from being one JSON document, and judge
	// finds the message in one.
	judgeText(text []byte) verdict
	judge(text []byte) verdict
	// isBlank tells what is skipped from lines.
	isBlank(text []byte) bool
	// isOneRequest says that the input is the text of one request, not a stream,
	// and answersLast that what it ends with is answered although it is no JSON
	// and may have been cut off.
	isOneRequest() bool
	answersLast() bool
	// nullIDs reports whether an error without an id says so, in a session that
	// has negotiated a revision.
	nullIDs(negotiated string) bool
	// isMethod tells what may be a request from what never is.
	isMethod(name string, modern bool) bool
	// gate reports what keeps a request from being served in its era.
	gate(m message.Message, meta message.Meta, supported []string) *message.Error
	// heeds gives the params that are to be seen in the place of a request's own,
	// if any are.
	heeds(method string, params json.RawMessage, modern bool) (instead json.RawMessage, ok bool)
}

// plain is Conch's own manner.
type plain struct{}

func (plain) judgeText(text []byte) verdict { return verdict{err: message.Check(text)} }

func (plain) judge(text []byte) verdict {
	m, err := message.Parse(text)
	return verdict{message: m, err: err}
}

func (plain) isBlank(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }
func (plain) isOneRequest() bool       { return false }
func (plain) answersLast() bool        { return false }

func (plain) nullIDs(negotiated string) bool {
	return negotiated != "" && negotiated < message.Revision20251125
}

func (plain) isMethod(name string, _ bool) bool { return !strings.HasPrefix(name, "notifications/") }

func (plain) gate(m message.Message, meta message.Meta, supported []string) *message.Error {
	return checkEra(m, meta, supported)
}

func (plain) heeds(string, json.RawMessage, bool) (json.RawMessage, bool) { return nil, false }

// checkEra reports what keeps a request from being served in its era.
func checkEra(m message.Message, meta message.Meta, supported []string) *message.Error {
	switch {
	case meta.Modern, m.Method == "server/discover":
		return meta.Check(m.ID, supported)
	case hasLegacy(supported):
		return nil
	case m.Method == "initialize":
		return message.Unsupported(m.ID, askedAtInitialize(m), supported)
	}
	return meta.Check(m.ID, supported)
}

func hasLegacy(supported []string) bool {
	return slices.ContainsFunc(supported, func(r string) bool { return !message.Modern(r) })
}

// askedAtInitialize is the revision that an initialize asks for.
func askedAtInitialize(m message.Message) string {
	return message.Text(message.Member(m.Params, "protocolVersion"))
}
