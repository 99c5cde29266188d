package stdio_test

import (
	"fmt"
	"strings"
	"testing"
)

// ids come back as they were written.
var ids = []string{
	`0`, `1`, `-1`, `-0`, `7`, `2147483648`,
	`9007199254740991`, `9007199254740992`, `9007199254740993`, `-9007199254740993`,
	`18446744073709551617`, `123456789012345678901234567890123456789`,
	`1.0`, `7.000`, `1e2`, `1E2`, `1e+2`, `1E+02`, `1.5e1`, `100e-2`, `0e0`, `0.0`, `-0.0e-5`,
	`1e400`, `1e999999999`, `-1e999999999`, `0e-999999999`,
	`1` + strings.Repeat("0", 5000), strings.Repeat("9", 5000),
	`""`, `" "`, `"7"`, `"7.0"`, `"null"`, `"a-b_c:d/e"`,
	`"a\"b"`, `"a\\b"`, `"a\/b"`, `"a/b"`, `"\b\f\n\r\t"`, `"\u0041"`, `"\u00e9"`, `"é"`, `"\u00E9"`,
	`"\ud83d\ude00"`, `"😀"`, `"日本語"`, `"<>&'"`, `"\u003c\u003e\u0026"`, `"\u2028\u2029"`,
	"\"\u2028\u2029\"", "\"\u007f\"", `"\u0000"`, `"\u001f"`, "\"\ufeff\"", "\"e\u0301\"", `"%s%d%n"`, `"$(id)"`,
	`"` + strings.Repeat("x", 100000) + `"`,
}

func TestIDsKeepTheirTypeAndEveryDigit(t *testing.T) {
	c := fixture(t)
	for _, id := range ids {
		wantResult(t, c.ask(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`), id, `{}`)
		wantText(t, c.ask(request(id, "tools/call", `{"name":"echo"}`)), id, `{}`)
		wantText(t, c.ask(modernRequest(id, "tools/call", `"name":"echo"`)), id, `{}`)
		wantError(t, c.ask(request(id, "no/such", `{}`)), id, -32601)
		wantError(t, c.ask(request(id, "tools/call", `{"name":"no such"}`)), id, -32602)
		wantError(t, c.ask(modernRequest(id, "ping", "")), id, -32601)
		wantError(t, c.ask(`{"jsonrpc":"1.0","id":`+id+`,"method":"ping"}`), id, -32600)
		if t.Failed() {
			t.Fatalf("that was id %.200s", id)
		}
	}
}

func TestAnIDIsReadWhereverItStands(t *testing.T) {
	c := fixture(t)
	for _, line := range []string{
		`{"id":7,"jsonrpc":"2.0","method":"ping"}`,
		`{"method":"ping","jsonrpc":"2.0","id":7}`,
		`{"method":"ping","params":{"id":8,"a":{"id":9}},"id":7,"jsonrpc":"2.0"}`,
		`{"\u0069d":7,"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"\u0032.0","id":7,"method":"\u0070ing"}`,
		"  {\t\"jsonrpc\" :\t\"2.0\" , \"id\" : 7 , \"method\" : \"ping\" }  ",
	} {
		if r := c.ask(line); r.Raw != `{"jsonrpc":"2.0","id":7,"result":{}}` {
			// judge cannot know the id of a key in escapes.
			t.Errorf("%s is answered %s", line, r.Raw)
		}
	}
}

func TestTheIDOfARequestInFlightIsRefusedAndTheRequestGoesOn(t *testing.T) {
	tests := []struct{ id, same, other string }{
		{`7`, `7`, `"7"`},
		{`7`, `7.0`, `8`},
		{`7`, `70e-1`, `70`},
		{`7`, `0.7e1`, `-7`},
		{`-0`, `0`, `"0"`},
		{`"a"`, `"\u0061"`, `"A"`},
		{`"é"`, `"\u00e9"`, `"e"`},
		{`9007199254740993`, `9007199254740993`, `9007199254740992`},
		{`1e999999999`, `10e999999998`, `1e999999998`},
		{`""`, `""`, `"0"`},
	}
	for _, test := range tests {
		t.Run(test.id+" and "+test.same, func(t *testing.T) {
			c := fixture(t)
			gate := c.gate()
			c.send(callNamed(test.id, "gate", "first"))
			for _, again := range []string{
				request(test.same, "ping", `{}`),
				callNamed(test.same, "touch", "second"),
				modernRequest(test.same, "tools/call", `"name":"touch","arguments":{"name":"second"}`),
				initialize(test.same, "2024-11-05"),
				request(test.same, "no/such", `{}`),
			} {
				wantError(t, c.ask(again), "", -32600)
			}
			wantResult(t, c.ask(request(test.other, "ping", `{}`)), test.other, `{}`)
			pass(t, gate, 1)
			wantText(t, c.reply(), test.id, "through first")
			wantText(t, c.ask(callNamed(test.same, "echo", "again")), test.same, `{"name":"again"}`)
			c.absent("second.touched")
		})
	}
}

func TestAnIDIsFreeOnceItsReplyHasCome(t *testing.T) {
	c := fixture(t)
	for range 200 {
		wantText(t, c.ask(request("1", "tools/call", `{"name":"echo"}`)), "1", `{}`)
	}
}

func TestRepliesFindTheirRequestsWhenManyAreInFlight(t *testing.T) {
	c := fixture(t)
	const n = 200
	for i := range n {
		c.send(request(fmt.Sprint(i), "tools/call", fmt.Sprintf(`{"name":"echo","arguments":{"i":%d}}`, i)))
	}
	for id, r := range c.replies(n) {
		wantText(t, r, id, `{"i":`+id+`}`)
	}
}
