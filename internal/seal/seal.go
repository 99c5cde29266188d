// Package seal makes the state that a stateless client carries from one request
// to the next: what conch has to remember, readable and writable for conch alone,
// and good for the same request of the same client only.
//
// It knows nothing of what is in a state, nor of requests. It cannot tell that a
// state is presented a second time: until it expires it is good any number of
// times.
package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// KeySize is how many bytes a key has.
	KeySize = chacha20poly1305.KeySize
	// MaxState is how long a state may be, as text.
	MaxState = 64 << 10
	// MaxPayload is how long what is sealed may be, before it is compressed.
	MaxPayload = 1 << 20
)

// What can be wrong with a state. All of them are ErrState, too.
var (
	ErrState     = errors.New("the request state is not valid")
	ErrMalformed = fmt.Errorf("%w: it is none of conch's", ErrState)
	ErrTruncated = fmt.Errorf("%w: its end is missing", ErrState)
	ErrTooLong   = fmt.Errorf("%w: it is longer than %d bytes", ErrState, MaxState)
	ErrKey       = fmt.Errorf("%w: it was sealed with another key", ErrState)
	ErrTampered  = fmt.Errorf("%w: it was changed", ErrState)
	ErrTool      = fmt.Errorf("%w: it belongs to another request", ErrState)
	ErrArguments = fmt.Errorf("%w: it belongs to other arguments", ErrState)
	ErrIdentity  = fmt.Errorf("%w: it belongs to another client", ErrState)
	ErrExpired   = fmt.Errorf("%w: it has expired", ErrState)
)

// ErrPayload tells that a payload is too long to be sealed.
var ErrPayload = errors.New("there is too much to remember")

// Claims say what a state is good for.
type Claims struct {
	Tool          string // the method and the name of what it asks for
	ArgumentsHash [32]byte
	Identity      string    // who may present it; "" where nobody tells who he is
	Expires       time.Time // for Seal alone
}

// A state is, in base64url without padding,
//
//	version  1 byte
//	key      4 bytes, which tell keys apart and nothing else of them
//	length   4 bytes, of all this
//	nonce   24 bytes
//	box      the rest: claims and payload, with the first three authenticated
const (
	version    = 1
	openSize   = 1 + 4 + 4
	prefixSize = openSize + chacha20poly1305.NonceSizeX
	minSize    = prefixSize + claimsSize + chacha20poly1305.Overhead
)

// Sealer seals and opens states with one key. It is safe for concurrent use.
type Sealer struct {
	aead cipher.AEAD
	id   [4]byte
}

// New returns a Sealer for a key of KeySize bytes.
func New(key []byte) (*Sealer, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("a state key must be %d bytes, not %d", KeySize, len(key))
	}
	s := &Sealer{aead: aead}
	sum := sha256.Sum256(append([]byte("conch state key\x00"), key...))
	copy(s.id[:], sum[:])
	return s, nil
}

// Seal returns a state that holds the payload and is good for the claims.
func (s *Sealer) Seal(claims Claims, payload []byte) (string, error) {
	if len(payload) > MaxPayload {
		return "", fmt.Errorf("%w: %d bytes, of at most %d", ErrPayload, len(payload), MaxPayload)
	}
	plain, err := pack(claims, payload)
	if err != nil {
		return "", err
	}
	size := prefixSize + len(plain) + chacha20poly1305.Overhead
	if base64.RawURLEncoding.EncodedLen(size) > MaxState {
		return "", fmt.Errorf("%w: a state may be %d bytes", ErrPayload, MaxState)
	}
	state := append(make([]byte, 0, size), version)
	state = append(state, s.id[:]...)
	state = binary.BigEndian.AppendUint32(state, uint32(size))
	nonce := make([]byte, chacha20poly1305.NonceSizeX)
	// It ends the program rather than fail.
	_, _ = rand.Read(nonce)
	state = append(state, nonce...)
	state = s.aead.Seal(state, nonce, plain, state[:openSize])
	return base64.RawURLEncoding.EncodeToString(state), nil
}

// Open returns the payload of a state, if it is good for the expected claims and
// has not expired. Any error is ErrState.
func (s *Sealer) Open(state string, expected Claims) ([]byte, error) {
	if len(state) > MaxState {
		return nil, ErrTooLong
	}
	raw, err := decode(state)
	if err != nil {
		return nil, err
	}
	if [4]byte(raw[1:5]) != s.id {
		return nil, ErrKey
	}
	plain, err := s.aead.Open(nil, raw[openSize:prefixSize], raw[prefixSize:], raw[:openSize])
	if err != nil || len(plain) < claimsSize {
		return nil, ErrTampered
	}
	return unpack(plain, expected)
}

// decode returns the bytes of a state that is whole and of a version known here.
func decode(state string) ([]byte, error) {
	// The decoder would pass over them.
	if strings.ContainsAny(state, "\r\n") {
		return nil, ErrMalformed
	}
	// Where text is cut off, what is left need not be whole bytes.
	raw, err := base64.RawURLEncoding.DecodeString(state[:len(state)/4*4])
	if err != nil {
		return nil, ErrMalformed
	}
	if len(raw) >= openSize && raw[0] == version {
		if wanted := binary.BigEndian.Uint32(raw[5:openSize]); base64.RawURLEncoding.EncodedLen(int(wanted)) > len(state) {
			return nil, ErrTruncated
		}
	}
	raw, err = base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(raw) < minSize || raw[0] != version ||
		binary.BigEndian.Uint32(raw[5:openSize]) != uint32(len(raw)) {
		return nil, ErrMalformed
	}
	return raw, nil
}
