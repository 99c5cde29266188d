package message

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// An ID is a request's id: a JSON string or a number without a fraction. The
// zero ID is none. IDs have the same Key when they are the same JSON value,
// however it was written: 7 and 7.0 do, 7 and "7" do not.
type ID struct {
	key string // 's' and the string, or 'n' and the number in one form
	raw string // as it was written
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.key == "" }

// Raw is the id's JSON text, as it was written.
func (id ID) Raw() string { return id.raw }

// Key identifies the id among others: equal for equal ids.
func (id ID) Key() string { return id.key }

// ParseID reads an id or a requestId from its JSON text.
func ParseID(raw json.RawMessage) (id ID, ok bool) {
	if len(raw) == 0 {
		return ID{}, false
	}
	id, bad := parseID(raw)
	return id, !bad
}

func parseID(raw json.RawMessage) (id ID, bad bool) {
	switch c := raw[0]; {
	case c == '"':
		s, ok := unquote(raw)
		if !ok {
			return ID{}, true
		}
		return ID{"s" + s, string(raw)}, false
	case c == '-' || c >= '0' && c <= '9':
		number, ok := integer(string(raw))
		return ID{"n" + number, string(raw)}, !ok
	}
	return ID{}, true
}

// integer brings a JSON number into one form, digits and a power of ten, and
// reports whether it is an integer. The power is never expanded: 1e999999999
// is a fine id.
func integer(literal string) (form string, ok bool) {
	literal = strings.ToLower(literal)
	mantissa, power, hasPower := strings.Cut(literal, "e")
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		mantissa, sign = rest, "-"
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", true
	}
	trimmed := strings.TrimRight(digits, "0")
	shift := int64(len(digits) - len(trimmed) - len(fraction))
	if !hasPower {
		return sign + trimmed + "e" + strconv.FormatInt(shift, 10), shift >= 0
	}
	// Longer ones would take long to read, and no peer counts that far.
	if len(power) > 40 {
		return "", false
	}
	exponent, good := new(big.Int).SetString(strings.TrimPrefix(power, "+"), 10)
	if !good {
		return "", false
	}
	exponent.Add(exponent, big.NewInt(shift))
	return sign + trimmed + "e" + exponent.String(), exponent.Sign() >= 0
}
