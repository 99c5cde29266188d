package stdio_test

import "testing"

const bom = "\ufeff"

// ping with the id 7, whole and in halves.
const (
	ping7     = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	ping7Head = `{"jsonrpc":"2.0","id":7,`
)

// notJSON are lines that are not one JSON document in UTF-8.
var notJSON = []struct{ name, line string }{
	{"a word", `ping`},
	{"a cut object", `{"jsonrpc":"2.0","id":7,"method":"ping"`},
	{"a cut string", `{"jsonrpc":"2.0","id":7,"method":"pi`},
	{"a cut key", `{"jsonr`},
	{"a cut escape", `{"jsonrpc":"2.0","id":7,"method":"ping\`},
	{"a cut array", `[1,2`},
	{"an opening brace", `{`},
	{"a closing brace", `}`},
	{"an opening bracket", `[`},
	{"a closing bracket", `]`},
	{"a quote", `"`},
	{"a comma", `,`},
	{"a colon", `:`},
	{"a backslash", `\`},
	{"a comma before the end", `{"jsonrpc":"2.0","id":7,"method":"ping",}`},
	{"a comma at the beginning", `{,"jsonrpc":"2.0","id":7,"method":"ping"}`},
	{"two commas", `{"jsonrpc":"2.0",,"id":7,"method":"ping"}`},
	{"no comma", `{"jsonrpc":"2.0" "id":7,"method":"ping"}`},
	{"no colon", `{"jsonrpc" "2.0","id":7,"method":"ping"}`},
	{"no value", `{"jsonrpc":"2.0","id":,"method":"ping"}`},
	{"a key alone", `{"jsonrpc":"2.0","id":7,"method"}`},
	{"a key without quotes", `{jsonrpc:"2.0","id":7,"method":"ping"}`},
	{"a number for a key", `{7:"2.0","id":7,"method":"ping"}`},
	{"single quotes", `{'jsonrpc':'2.0','id':7,'method':'ping'}`},
	{"a comment", `{"jsonrpc":"2.0","id":7,"method":"ping"} // please`},
	{"a comment inside", `{"jsonrpc":"2.0",/* id */"id":7,"method":"ping"}`},
	{"brackets that do not match", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[}]}`},
	{"NaN", ping7Head + `"method":"ping","params":{"a":NaN}}`},
	{"Infinity", ping7Head + `"method":"ping","params":{"a":-Infinity}}`},
	{"undefined", ping7Head + `"method":"ping","params":undefined}`},
	{"True", ping7Head + `"method":"ping","params":{"a":True}}`},
	{"nul", `nul`},
	{"an id with a leading zero", `{"jsonrpc":"2.0","id":07,"method":"ping"}`},
	{"an id with a plus", `{"jsonrpc":"2.0","id":+7,"method":"ping"}`},
	{"an id that begins with a point", `{"jsonrpc":"2.0","id":.7,"method":"ping"}`},
	{"an id that ends in a point", `{"jsonrpc":"2.0","id":7.,"method":"ping"}`},
	{"an id in hexadecimal", `{"jsonrpc":"2.0","id":0x7,"method":"ping"}`},
	{"an id with an empty exponent", `{"jsonrpc":"2.0","id":7e,"method":"ping"}`},
	{"an id that is a minus", `{"jsonrpc":"2.0","id":-,"method":"ping"}`},
	{"an id with separators", `{"jsonrpc":"2.0","id":7_000,"method":"ping"}`},
	{"an unknown escape", ping7Head + `"method":"pi\ng\q"}`},
	{"an escape cut short", ping7Head + `"method":"\u12"}`},
	{"an escape that is not hexadecimal", ping7Head + `"method":"\u12g4"}`},
	{"a control character in a string", ping7Head + "\"method\":\"pi\x01ng\"}"},
	{"a tab in a string", ping7Head + "\"method\":\"pi\tng\"}"},
	{"a carriage return in a string", ping7Head + "\"method\":\"pi\rng\"}"},
	{"a form feed between tokens", ping7Head + "\f\"method\":\"ping\"}"},
	{"a no-break space between tokens", ping7Head + "\u00a0\"method\":\"ping\"}"},
	{"a line separator between tokens", ping7Head + "\u2028\"method\":\"ping\"}"},

	{"two documents", ping7 + ping7},
	{"two documents with a space between", ping7 + " " + ping7},
	{"two documents with a carriage return between", ping7 + "\r" + ping7},
	{"two documents with a comma between", ping7 + "," + ping7},
	{"a document and a brace", ping7 + "}"},
	{"a document and a bracket", ping7 + "]"},
	{"a document and a word", ping7 + " please"},
	{"a document and an empty one", ping7 + " {}"},
	{"a document and a number", ping7 + "1"},
	{"two numbers", `1 2`},
	{"two strings", `"a""b"`},
	{"two arrays", `[][]`},

	{"a byte that is never in UTF-8", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}"},
	{"a lone continuation byte", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\x80\"}}"},
	{"a sequence cut short", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\xe2\x82\"}}"},
	{"an overlong sequence", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\xc0\xaf\"}}"},
	{"a surrogate in UTF-8", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\xed\xa0\x80\"}}"},
	{"a code point beyond the last", ping7Head + "\"method\":\"ping\",\"params\":{\"a\":\"\xf4\x90\x80\x80\"}}"},
	{"Latin-1 in a key", ping7Head + "\"method\":\"ping\",\"params\":{\"na\xefve\":1}}"},
	{"invalid UTF-8 in the id", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"},
	{"invalid UTF-8 between tokens", ping7Head + "\xff\"method\":\"ping\"}"},
	{"invalid UTF-8 behind the document", ping7 + "\xfe"},
	{"UTF-16", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00"},

	{"a NUL alone", "\x00"},
	{"a NUL in a string", ping7Head + "\"method\":\"pi\x00ng\"}"},
	{"a NUL between tokens", ping7Head + "\x00\"method\":\"ping\"}"},
	{"a NUL before the document", "\x00" + ping7},
	{"a NUL behind the document", ping7 + "\x00"},

	{"a BOM before the document", bom + ping7},
	{"a BOM behind the document", ping7 + bom},
	{"a BOM between tokens", ping7Head + bom + `"method":"ping"}`},
	{"a BOM alone", bom},
	{"a BOM between documents", ping7 + bom + ping7},
	{"a BOM of UTF-16", "\xff\xfe" + ping7},
}

// notRequests are JSON documents that are no JSON-RPC message. id is what the
// answer must echo, "" for none.
var notRequests = []struct {
	name, line, id string
	array          bool // a batch in the revision that has them
}{
	{name: "null", line: `null`},
	{name: "true", line: `true`},
	{name: "a number", line: `7`},
	{name: "a string", line: `"ping"`},
	{name: "a string that holds a request", line: `"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"`},
	{name: "an empty array", line: `[]`, array: true},
	{name: "an array of numbers", line: `[1,2]`, array: true},
	{name: "an array that holds a request", line: `[` + ping7 + `]`, array: true},
	{name: "an empty object", line: `{}`},
	{name: "an object that means something else", line: `{"` + canary + `":["` + canary + `"]}`},

	{name: "an id of null", line: `{"jsonrpc":"2.0","id":null,"method":"ping"}`},
	{name: "an id with a fraction", line: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`},
	{name: "an id with a negative fraction", line: `{"jsonrpc":"2.0","id":-0.5,"method":"ping"}`},
	{name: "an id with a fraction by its exponent", line: `{"jsonrpc":"2.0","id":15e-1,"method":"ping"}`},
	{name: "an id with a tiny fraction", line: `{"jsonrpc":"2.0","id":1.00000000000000000000000000000000001,"method":"ping"}`},
	{name: "an id of true", line: `{"jsonrpc":"2.0","id":true,"method":"ping"}`},
	{name: "an id of false", line: `{"jsonrpc":"2.0","id":false,"method":"ping"}`},
	{name: "an id that is an object", line: `{"jsonrpc":"2.0","id":{"` + canary + `":1},"method":"ping"}`},
	{name: "an id that is an array", line: `{"jsonrpc":"2.0","id":[7],"method":"ping"}`},
	{name: "a bad id of an unknown method", line: `{"jsonrpc":"2.0","id":null,"method":"no/such"}`},

	{name: "no jsonrpc", line: `{"id":7,"method":"ping"}`, id: `7`},
	{name: "jsonrpc 1.0", line: `{"jsonrpc":"1.0","id":7,"method":"ping"}`, id: `7`},
	{name: "jsonrpc 2.00", line: `{"jsonrpc":"2.00","id":"a","method":"ping"}`, id: `"a"`},
	{name: "jsonrpc with a space", line: `{"jsonrpc":"2.0 ","id":7,"method":"ping"}`, id: `7`},
	{name: "jsonrpc that is a number", line: `{"jsonrpc":2.0,"id":7,"method":"ping"}`, id: `7`},
	{name: "jsonrpc of null", line: `{"jsonrpc":null,"id":7,"method":"ping"}`, id: `7`},
	{name: "jsonrpc that is an array", line: `{"jsonrpc":["2.0"],"id":7,"method":"ping"}`, id: `7`},
	{name: "no jsonrpc and no id", line: `{"method":"notifications/initialized"}`},
	{name: "no jsonrpc and a bad id", line: `{"id":1.5,"method":"ping"}`},

	{name: "a method that is a number", line: `{"jsonrpc":"2.0","id":7,"method":7}`, id: `7`},
	{name: "a method of null", line: `{"jsonrpc":"2.0","id":7,"method":null}`, id: `7`},
	{name: "a method of true", line: `{"jsonrpc":"2.0","id":7,"method":true}`, id: `7`},
	{name: "a method that is an array", line: `{"jsonrpc":"2.0","id":7,"method":["` + canary + `"]}`, id: `7`},
	{name: "a method that is an object", line: `{"jsonrpc":"2.0","id":7,"method":{"` + canary + `":1}}`, id: `7`},
	{name: "a method that is a number, without id", line: `{"jsonrpc":"2.0","method":7}`},
	{name: "no method", line: `{"jsonrpc":"2.0","id":7}`, id: `7`},
	{name: "params and no method", line: `{"jsonrpc":"2.0","id":7,"params":{"a":"` + canary + `"}}`, id: `7`},
	{name: "nothing but jsonrpc", line: `{"jsonrpc":"2.0"}`},

	{name: "jsonrpc twice", line: `{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"ping"}`, id: `7`},
	{name: "method twice", line: `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, id: `7`},
	{name: "method twice, once in escapes", line: `{"jsonrpc":"2.0","id":7,"method":"ping","\u006dethod":"tools/list"}`, id: `7`},
	{name: "params twice", line: `{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}`, id: `7`},
	{name: "an unknown member twice", line: `{"jsonrpc":"2.0","x":1,"id":7,"method":"ping","x":2}`, id: `7`},
	{name: "an unknown member twice, before the id", line: `{"x":1,"x":2,"jsonrpc":"2.0","method":"ping","id":7}`, id: `7`},
	{name: "id twice", line: `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`},
	{name: "the same id twice", line: `{"jsonrpc":"2.0","id":7,"method":"ping","id":7}`},
	{name: "id twice, once in escapes", line: `{"jsonrpc":"2.0","id":7,"method":"ping","\u0069d":7}`},
	{name: "method twice in a notification", line: `{"jsonrpc":"2.0","method":"notifications/initialized","method":"notifications/initialized"}`},

	{name: "Method", line: `{"jsonrpc":"2.0","id":7,"Method":"ping"}`, id: `7`},
	{name: "METHOD", line: `{"jsonrpc":"2.0","id":7,"METHOD":"ping"}`, id: `7`},
	{name: "Method in escapes", line: `{"jsonrpc":"2.0","id":7,"\u004dethod":"ping"}`, id: `7`},
	{name: "Method beside method", line: `{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/list"}`, id: `7`},
	{name: "ID", line: `{"jsonrpc":"2.0","ID":7,"method":"ping"}`},
	{name: "Id beside id", line: `{"jsonrpc":"2.0","id":7,"Id":8,"method":"ping"}`, id: `7`},
	{name: "JsonRpc", line: `{"JsonRpc":"2.0","id":7,"method":"ping"}`, id: `7`},
	{name: "Params", line: `{"jsonrpc":"2.0","id":7,"method":"ping","Params":{"a":"` + canary + `"}}`, id: `7`},
	{name: "Result", line: `{"jsonrpc":"2.0","id":7,"Result":{}}`, id: `7`},
}

// states are what a connection may have seen before bad input comes.
var states = []struct {
	name  string
	reach func(c *client)
}{
	{"before anything else", func(*client) {}},
	{"after initialize with 2024-11-05", func(c *client) { c.initialize("2024-11-05") }},
	{"after initialize with 2025-03-26", func(c *client) { c.initialize("2025-03-26") }},
	{"after initialize with 2025-06-18", func(c *client) { c.initialize("2025-06-18") }},
	{"after initialize with 2025-11-25", func(c *client) { c.initialize("2025-11-25") }},
	{"after a stateless request", func(c *client) { c.ask(modernRequest("1", "tools/list", "")) }},
	{"after both eras", func(c *client) { c.initialize("2025-06-18"); c.ask(modernRequest("1", "tools/list", "")) }},
	{"after initialize twice, with an older revision first", func(c *client) { c.initialize("2024-11-05"); c.initialize("2025-11-25") }},
	{"after initialize twice, with a newer revision first", func(c *client) { c.initialize("2025-11-25"); c.initialize("2024-11-05") }},
}

func TestLinesThatAreNotJSONAreAnsweredAndTheServerGoesOn(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			for _, test := range notJSON {
				r := c.ask(test.line)
				if wantError(t, r, "", -32700); t.Failed() {
					t.Fatalf("that was %s: %.200q", test.name, test.line)
				}
				c.alive()
			}
			c.works()
		})
	}
}

func TestDocumentsThatAreNoRequestsAreAnsweredAndTheServerGoesOn(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			for _, test := range notRequests {
				if test.array && c.negotiated == "2025-03-26" {
					continue
				}
				r := c.ask(test.line)
				if wantError(t, r, test.id, -32600); t.Failed() {
					t.Errorf("that was %s: %s", test.name, test.line)
					return
				}
				c.alive()
			}
			c.works()
		})
	}
}
