package seal

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// Random returns a new key.
func Random() []byte {
	key := make([]byte, KeySize)
	// It ends the program rather than fail.
	_, _ = rand.Read(key)
	return key
}

// ParseKey reads a key as people keep it in a file: in hex or in base64, of
// either alphabet, with white space around it. The error does not repeat it.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == KeySize {
		return key, nil
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if key, err := base64.RawStdEncoding.Strict().DecodeString(text); err == nil && len(key) == KeySize {
		return key, nil
	}
	return nil, fmt.Errorf("a state key is %d bytes in base64 or hex; openssl rand -base64 %d prints one", KeySize, KeySize)
}
