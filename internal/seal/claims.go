package seal

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// What is in the box:
//
//	flags      1 byte
//	expires    8 bytes, nanoseconds since 1970
//	tool      32 bytes, a digest
//	arguments 32 bytes
//	identity  32 bytes, a digest
//	payload    the rest
const claimsSize = 1 + 8 + 3*sha256.Size

// compressed is the flag of a payload that is.
const compressed = 1

// worthwhile is how long a payload must be for its compression to pay.
const worthwhile = 512

func pack(claims Claims, payload []byte) ([]byte, error) {
	shorter, err := compress(payload)
	if err != nil {
		return nil, err
	}
	flags := byte(0)
	if shorter != nil {
		flags, payload = compressed, shorter
	}
	plain := append(make([]byte, 0, claimsSize+len(payload)), flags)
	plain = binary.BigEndian.AppendUint64(plain, uint64(claims.Expires.UnixNano()))
	plain = append(plain, claims.bound()...)
	return append(plain, payload...), nil
}

// bound is what a state is bound to.
func (c Claims) bound() []byte {
	tool, identity := sha256.Sum256([]byte(c.Tool)), sha256.Sum256([]byte(c.Identity))
	return append(append(tool[:], c.ArgumentsHash[:]...), identity[:]...)
}

// unpack returns the payload, if the claims are as expected.
func unpack(plain []byte, expected Claims) ([]byte, error) {
	const start = 1 + 8
	given, wanted := plain[start:claimsSize], expected.bound()
	for i, mismatch := range []error{ErrTool, ErrArguments, ErrIdentity} {
		from, to := i*sha256.Size, (i+1)*sha256.Size
		if !bytes.Equal(given[from:to], wanted[from:to]) {
			return nil, mismatch
		}
	}
	if time.Now().UnixNano() >= int64(binary.BigEndian.Uint64(plain[1:start])) {
		return nil, ErrExpired
	}
	if plain[0]&compressed == 0 {
		return plain[claimsSize:], nil
	}
	return decompress(plain[claimsSize:])
}

// compress returns nil for what would not be shorter.
func compress(payload []byte) ([]byte, error) {
	if len(payload) < worthwhile {
		return nil, nil
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(payload)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress a request state: %w", err)
	}
	if out.Len() >= len(payload) {
		return nil, nil
	}
	return out.Bytes(), nil
}

func decompress(short []byte) ([]byte, error) {
	payload, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(short)), MaxPayload+1))
	if err != nil || len(payload) > MaxPayload {
		return nil, ErrMalformed
	}
	return payload, nil
}

// Arguments digests the arguments of a request, JSON. The order of members and
// white space make no difference: a client may write them anew for each request.
// No arguments are the same as an empty object, and what is no JSON is taken as
// it is.
func Arguments(arguments json.RawMessage) [32]byte {
	var value any
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	err := d.Decode(&value)
	switch {
	case len(bytes.TrimSpace(arguments)) == 0, err == nil && value == nil:
		arguments = json.RawMessage("{}")
	case err == nil:
		if same, err := json.Marshal(value); err == nil {
			arguments = same
		}
	}
	return sha256.Sum256(arguments)
}
