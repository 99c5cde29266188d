package wire

import (
	"encoding/json"

	"github.com/conch-mcp/conch/internal/manner"
	"github.com/conch-mcp/conch/internal/message"
)

// ServerBashSDK has a connection behave as scripts written for
// mcp-server-bash-sdk, and their clients, expect it; see [manner.ServerBashSDK].
// Every error has an id, null where none can be told.
type ServerBashSDK struct {
	// OneRequest says that the input is the text of one request, not a stream.
	OneRequest bool

	manner.ServerBashSDK
}

func (*ServerBashSDK) judgeText(text []byte) verdict { return plain{}.judgeText(text) }

func (s *ServerBashSDK) judge(text []byte) verdict {
	m, err := s.Judge(text)
	return verdict{message: m, err: err}
}

func (*ServerBashSDK) isBlank(text []byte) bool { return plain{}.isBlank(text) }
func (s *ServerBashSDK) isOneRequest() bool     { return s.OneRequest }
func (*ServerBashSDK) answersLast() bool        { return true }
func (*ServerBashSDK) nullIDs(string) bool      { return true }

func (s *ServerBashSDK) isMethod(name string, modern bool) bool { return s.IsMethod(name, modern) }

func (s *ServerBashSDK) gate(m message.Message, meta message.Meta, supported []string) *message.Error {
	return s.Gate(m, meta, supported)
}

func (s *ServerBashSDK) heeds(method string, params json.RawMessage, modern bool) (json.RawMessage, bool) {
	return s.Heeded(method, params, modern), !modern || method != "tools/call"
}
