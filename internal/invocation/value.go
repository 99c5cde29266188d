package invocation

import (
	"bytes"
	"encoding/json"
)

// TextOf is what a variable holds of a JSON value: a string's text, nothing for
// null, and the JSON text of anything else.
func TextOf(value json.RawMessage) (text string) {
	switch value[0] {
	case '"':
		_ = json.Unmarshal(value, &text)
	case 'n':
	case '{', '[':
		var compact bytes.Buffer
		_ = json.Compact(&compact, value)
		text = compact.String()
	default:
		text = string(value)
	}
	return text
}
