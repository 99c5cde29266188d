package schema

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestIntegersAreExact(t *testing.T) {
	s := compile(t, typedSchema)
	for literal, integer := range map[string]bool{
		"4503599627370496.5": false, "9007199254740993.5": false, "0.1": false, "1e-1": false, "1.5e0": false,
		"1e-999999999": false, "123456789012345678901234567890.000001": false, "12e-2": false, "1e-99999999999999999999": false,
		"4503599627370496": true, "9007199254740993": true, "1.0": true, "1e2": true, "1.5e3": true, "10e-1": true,
		"-0.0": true, "0e-999999999": true, "1e999999999": true, "-1E+999999999": true, "100e-2": true, "1e99999999999999999999": true,
	} {
		want := ""
		if !integer {
			want = "Invalid type(s): count expected integer, got number (non-integer) (" + literal + ")."
		}
		if got := s.Check(json.RawMessage(`{"name":"a","count":` + literal + `}`)); got != want {
			t.Errorf("%s: got %q, want %q", literal, got, want)
		}
	}
}

func TestComparisonsAreExact(t *testing.T) {
	for _, c := range []struct {
		rules, literal string
		ok             bool
	}{
		{`"maximum":9007199254740992`, "9007199254740993", false},
		{`"maximum":9007199254740993`, "9007199254740992.9", true},
		{`"minimum":0.1`, "0.09999999999999999999999", false},
		{`"minimum":-1`, "-1.00000000000000000001", false},
		{`"maximum":100`, "1e999999999", false},
		{`"minimum":100`, "1e999999999", true},
		{`"maximum":-100`, "-1e999999999", true},
		{`"exclusiveMinimum":0`, "1e-999999999", true},
		{`"exclusiveMinimum":0`, "0e999999999", false},
		{`"exclusiveMaximum":0`, "-1e-999999999", true},
		{`"maximum":1e999999999`, "1e999999999", true},
		{`"maximum":1e999999999`, "10e999999999", false},
		{`"exclusiveMaximum":1e999999999`, "1e999999998", true},
		{`"maximum":-1e999999999`, "0", false},
		{`"minimum":1e-999999999`, "0", false},
		{`"const":1e999999999`, "1e999999999", true},
		{`"const":1e999999999`, "0.1e1000000000", true},
		{`"const":1e999999999`, "1e999999998", false},
		{`"enum":[1,1e-999999999]`, "10e-1000000000", true},
		{`"enum":[9007199254740992]`, "9007199254740993", false},
		{`"const":0`, "-0.00e5", true},
		{`"multipleOf":0.01`, "19.99", true},
		{`"multipleOf":0.01`, "19.999", false},
		{`"multipleOf":1e-8`, "12391239123", true},
		{`"multipleOf":7`, "1e999999999", false},
		{`"multipleOf":8`, "1e999999999", true},
		{`"multipleOf":3`, "3e999999999", true},
		{`"multipleOf":1e999999999`, "1e999999999", true},
		{`"multipleOf":1e999999999`, "1e999999998", false},
		{`"multipleOf":1e-999999999`, "5", true},
		{`"multipleOf":2`, "1e-999999999", false},
		{`"multipleOf":20`, "25", false},
		{`"multipleOf":2.5`, "-10", true},
		{`"multipleOf":3`, "0", true},
		{`"multipleOf":123456789123456789`, "15241578780673678515622620750190521", true},
	} {
		s := compile(t, `{"properties":{"a":{`+c.rules+`}}}`)
		if got := s.Check(json.RawMessage(`{"a":` + c.literal + `}`)); (got == "") != c.ok {
			t.Errorf("%s with %s: %q", c.literal, c.rules, got)
		}
	}
}

func TestHugeNumbersStayAsWritten(t *testing.T) {
	runChecks(t, []checkCase{
		{"argument", rangedSchema, `{"score":-1.50e999999999}`, "Out-of-range value(s): score=-1.50e999999999 below minimum 1."},
		{"bound", `{"properties":{"a":{"minimum":1E+999999999}}}`, `{"a":5}`, "Out-of-range value(s): a=5 below minimum 1E+999999999."},
		{"unique", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1e999999999,1e999999998,1.0,10e999999997]}`,
			"Invalid value(s): a has equal items at [1] and [3] but uniqueItems is set."},
		{"count", `{"properties":{"a":{"minLength":1e30,"maxLength":1e999999999}}}`, `{"a":"x"}`,
			`Invalid value(s): a="x" is shorter than minLength 9223372036854775807.`},
	})
}

func TestLongLiteralsCostLittle(t *testing.T) {
	literal := strings.Repeat("7", 1_000_000)
	s := compile(t, `{"properties":{"a":{"type":"integer","minimum":1,"maximum":1e2000000,"multipleOf":7,"enum":[`+
		strings.Repeat("7", 100_000)+`]}}}`)
	began := time.Now()
	got := s.Check(json.RawMessage(`{"a":` + literal + `}`))
	if !strings.HasPrefix(got, "Invalid value(s): a=777") || !strings.Contains(got, "… (allowed: 777") {
		t.Errorf("got %.300s", got)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestNumberAgreesWithRationals(t *testing.T) {
	literals := []string{"0", "-0.0", "1", "-1", "10", "0.5", "-2.50", "1e3", "12.5e-3", "99999999999999999999", "3e2", "300", "0.003e5", "7", "-7e1"}
	for _, x := range literals {
		a, ratA := parseNumber(x), rational(x)
		if a.isInteger() != ratA.IsInt() {
			t.Errorf("isInteger(%s) = %v", x, a.isInteger())
		}
		for _, y := range literals {
			b, ratB := parseNumber(y), rational(y)
			if got, want := a.compare(b), ratA.Cmp(ratB); got != want {
				t.Errorf("compare(%s, %s) = %d, want %d", x, y, got, want)
			}
			equal := string(a.appendKey(nil)) == string(b.appendKey(nil))
			if want := ratA.Cmp(ratB) == 0; equal != want {
				t.Errorf("keys of %s and %s equal: %v", x, y, equal)
			}
			if ratB.Sign() > 0 {
				if got, want := newDivisor(b).divides(a), new(big.Rat).Quo(ratA, ratB).IsInt(); got != want {
					t.Errorf("%s divides %s: %v, want %v", y, x, got, want)
				}
			}
		}
	}
}

func rational(literal string) *big.Rat {
	value, _ := new(big.Rat).SetString(literal)
	return value
}

func TestTheSameNumberMayBeWrittenInManyWays(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true},
		{"100", "1e2", true},
		{"-0", "0", true},
		{"0.1", "1E-1", true},
		{"12345678901234567890", "12345678901234567891", false},
		{"1", "-1", false},
		{"1e99999999999999999999", "1e99999999999999999999", true},
		{"1e99999999999999999999", "1e88888888888888888888", false},
	} {
		if SameNumber(tt.a, tt.b) != tt.same {
			t.Errorf("%s and %s: want %v", tt.a, tt.b, tt.same)
		}
	}
}
