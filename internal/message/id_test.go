package message

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestIDsAreEqualWhenTheirValuesAre(t *testing.T) {
	groups := [][]string{
		{`0`, `-0`, `0.0`, `0e5`, `0e-5`, `-0.000E+9`},
		{`1`, `1.0`, `1e0`, `0.1e1`, `10e-1`, `1000E-3`},
		{`-1`, `-1.0`, `-10e-1`},
		{`100`, `1e2`, `1E+2`, `0.001e5`, `100.00`, `1000e-1`},
		{`9007199254740992`}, {`9007199254740993`, `9007199254740993.0`, `90071992547409930e-1`},
		{`1e400`, `10e399`, `0.1e401`}, {`1e401`},
		{`1e999999999`}, {`1e999999998`},
		{`1e99999999999999999999`}, {`1e99999999999999999998`},
		{`"1"`, `"\u0031"`}, {`"1.0"`}, {`"1e0"`}, {`"0"`}, {`""`}, {`"n1"`}, {`"s"`}, {`"a"`, `"\u0061"`}, {`"A"`},
	}
	keys := map[string]string{}
	for _, group := range groups {
		first, ok := ParseID(json.RawMessage(group[0]))
		if !ok {
			t.Errorf("%s is no id", group[0])
			continue
		}
		if other, taken := keys[first.Key()]; taken {
			t.Errorf("%s and %s have the same key", group[0], other)
		}
		keys[first.Key()] = group[0]
		for _, raw := range group {
			id, ok := ParseID(json.RawMessage(raw))
			if !ok || id.Key() != first.Key() || id.Raw() != raw || id.IsZero() {
				t.Errorf("%s: ok %v, key %q, raw %s; the key of %s is %q", raw, ok, id.Key(), id.Raw(), group[0], first.Key())
			}
		}
	}
}

func TestParseIDRefusesWhatIsNoID(t *testing.T) {
	for _, raw := range []string{``, `null`, `true`, `false`, `{}`, `[]`, `[1]`, `1.5`, `1e-1`, `0.1`, `123e-3`, `1e-999999999`, `-0.5`} {
		if id, ok := ParseID(json.RawMessage(raw)); ok || !id.IsZero() && raw != "" && id.Key() == "" {
			t.Errorf("ParseID(%s) = %+v, %v", raw, id, ok)
		}
	}
}

func TestTheZeroIDIsNone(t *testing.T) {
	if !(ID{}).IsZero() || (ID{}).Raw() != "" {
		t.Error("the zero ID is one")
	}
}

// A line may hold megabytes; the time for an id must grow with its length, not
// with its square.
func TestALongExponentIsJudgedAtOnce(t *testing.T) {
	const generous = 2 * time.Second
	for _, raw := range []string{
		"1e" + strings.Repeat("9", 2<<20),
		"1e" + strings.Repeat("0", 2<<20) + "1",
		strings.Repeat("9", 2<<20),
		"1" + strings.Repeat("0", 2<<20),
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			ParseID(json.RawMessage(raw))
		}()
		select {
		case <-done:
		case <-time.After(generous):
			t.Errorf("an id %s… of %d bytes takes longer than %v", raw[:8], len(raw), generous)
		}
	}
}

func FuzzID(f *testing.F) {
	for _, pair := range [][2]string{
		{`1`, `1.0`}, {`1e2`, `100`}, {`-0`, `0e7`}, {`1.5`, `15e-1`}, {`9007199254740993`, `9007199254740992`},
		{`1e400`, `10e399`}, {`"1"`, `1`}, {`"a"`, `"\u0061"`}, {`0.1e1`, `0.10E+1`}, {`1e-0`, `1e+00`}, {`null`, `"x"`},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ida, oka := requireID(t, a)
		idb, okb := requireID(t, b)
		if !oka || !okb {
			return
		}
		if same := sameValue(t, a, b); same != (ida.Key() == idb.Key()) {
			t.Errorf("%s and %s: the same value %v, keys %q and %q", a, b, same, ida.Key(), idb.Key())
		}
	})
}

// requireID parses raw and compares the verdict with a plain one, where there
// is one: raw is a JSON scalar, and no number too large for a big.Rat.
func requireID(t *testing.T, raw string) (id ID, ok bool) {
	if Check([]byte(raw)) != nil || strings.TrimSpace(raw) != raw {
		return ID{}, false
	}
	id, ok = ParseID(json.RawMessage(raw))
	if ok && id.Raw() != raw {
		t.Errorf("the id %s is kept as %s", raw, id.Raw())
	}
	switch raw[0] {
	case '"':
		if !ok {
			t.Errorf("the string %s is no id", raw)
		}
		return id, ok
	case 't', 'f', 'n', '{', '[':
		if ok {
			t.Errorf("%s is an id", raw)
		}
		return id, false
	}
	number := rational(raw)
	if number == nil {
		return id, false
	}
	if ok != number.IsInt() {
		t.Errorf("%s is an integer: %v; an id: %v", raw, number.IsInt(), ok)
	}
	return id, ok
}

// rational is the value of a JSON number, nil for one that would be large.
func rational(raw string) *big.Rat {
	if _, power, has := strings.Cut(strings.ToLower(raw), "e"); has {
		if n, err := strconv.Atoi(power); err != nil || n < -2000 || n > 2000 || len(power) > 30 {
			return nil
		}
	}
	number, _ := new(big.Rat).SetString(raw)
	return number
}

func sameValue(t *testing.T, a, b string) bool {
	if (a[0] == '"') != (b[0] == '"') {
		return false
	}
	if a[0] != '"' {
		return rational(a).Cmp(rational(b)) == 0
	}
	var texta, textb string
	if json.Unmarshal([]byte(a), &texta) != nil || json.Unmarshal([]byte(b), &textb) != nil {
		t.Fatalf("%s or %s is no string", a, b)
	}
	return texta == textb
}
