package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	minFileToken = 16
	maxTokenName = 128
)

// fileToken is a token of the token file. The token itself is not kept.
type fileToken struct {
	digest [sha256.Size]byte
	name   string
}

// fileTokens are what a token file holds.
type fileTokens []fileToken

// find takes as long for any token, so that time does not tell how close a
// guess was.
func (f fileTokens) find(token string) (name string, ok bool) {
	digest := sha256.Sum256([]byte(token))
	at := -1
	for i := range f {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(f[i].digest[:], digest[:]), i, at)
	}
	if at < 0 {
		return "", false
	}
	return f[at].name, true
}

// parseTokens reads the text of a token file. Errors name a line, and nothing of
// what is in it.
func parseTokens(text string) (fileTokens, error) {
	var tokens fileTokens
	lines := map[[sha256.Size]byte]int{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		t, err := parseTokenLine(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", number, err)
		case t == nil:
			continue
		case lines[t.digest] != 0:
			return nil, fmt.Errorf("line %d: the token is that of line %d; leave one of them", number, lines[t.digest])
		}
		lines[t.digest] = number
		tokens = append(tokens, *t)
	}
	return tokens, nil
}

// parseTokenLine returns nil for a line that says nothing.
func parseTokenLine(line string) (*fileToken, error) {
	line = strings.Trim(line, " \t\r\n")
	if line == "" || line[0] == '#' {
		return nil, nil
	}
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	name, token := "", fields[len(fields)-1]
	switch {
	case len(fields) > 2:
		return nil, fmt.Errorf("there are %d words; write TOKEN, or NAME TOKEN", len(fields))
	case len(fields) == 2:
		name = fields[0]
	}
	return newFileToken(name, token)
}

func newFileToken(name, token string) (*fileToken, error) {
	switch {
	case !isVisible(name), !isVisible(token):
		return nil, errors.New("there are characters other than visible ASCII")
	case len(name) > maxTokenName:
		return nil, fmt.Errorf("the name is longer than %d characters", maxTokenName)
	case len(token) < minFileToken:
		return nil, fmt.Errorf("the token is shorter than %d characters and could be guessed; `openssl rand -hex 32` makes a better one", minFileToken)
	case len(token) > maxToken:
		return nil, fmt.Errorf("the token is longer than %d characters", maxToken)
	}
	t := &fileToken{digest: sha256.Sum256([]byte(token)), name: name}
	if name == "" {
		// The line's number would give a sender another name when lines above it go.
		t.name = "token-" + hex.EncodeToString(t.digest[:4])
	}
	return t, nil
}
