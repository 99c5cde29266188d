package stdio_test

import (
	"strings"
	"testing"
)

func TestBlankLinesAreNothing(t *testing.T) {
	c := fixture(t)
	for _, blank := range []string{"", " ", "\t", "\r", " \t \r", strings.Repeat(" ", 100000), "\n\n\n"} {
		c.send(blank)
		c.alive()
	}
}

func TestLinesMayEndInCarriageReturnAndLineFeed(t *testing.T) {
	c := fixture(t)
	c.write(ping7 + "\r\n" + "\r\n" + `{"jsonrpc":"2.0","id":8,"method":"ping"}` + "\r\n")
	wantResult(t, c.reply(), "7", `{}`)
	wantResult(t, c.reply(), "8", `{}`)
	wantError(t, c.ask("no\r"), "", -32700)
}

func TestAMessageMayComeInPieces(t *testing.T) {
	c := fixture(t)
	line := request("7", "tools/call", `{"name":"echo","arguments":{"text":"é😀"}}`) + "\n"
	c.note([]byte(line))
	for i := range len(line) {
		c.server.Write(line[i : i+1])
	}
	wantText(t, c.reply(), "7", `{"text":"é😀"}`)
}

func TestManyMessagesMayComeAtOnce(t *testing.T) {
	c := fixture(t)
	var text strings.Builder
	for range 100 {
		text.WriteString("not JSON\n" + `{"jsonrpc":"2.0","method":"no/such"}` + "\n\n")
	}
	c.write(text.String())
	for range 100 {
		wantError(t, c.reply(), "", -32700)
	}
}

func TestUnusualTextIsTakenForWhatItIs(t *testing.T) {
	c := fixture(t)
	for _, text := range []string{
		bom, bom + "text", "\u2028\u2029", "\u0085", "\u00a0", "\u200b", "\ufffe\uffff", "\ufffd",
		"\U0010ffff", "\u007f", "<>&", "'", "$(id) `id` ; | & > < *", "\u202e", "é", "e\u0301", "日本語", "👩‍👩‍👧‍👦",
	} {
		arguments := `{"text":"` + text + `"}`
		wantText(t, c.ask(request("1", "tools/call", `{"name":"echo","arguments":`+arguments+`}`)), "1", arguments)
		wantText(t, c.ask(modernRequest("1", "tools/call", `"name":"echo","arguments":`+arguments)), "1", arguments)
	}
}

func TestUnknownMembersAreIgnored(t *testing.T) {
	c := fixture(t)
	for _, member := range []string{`"x":1`, `"paramſ":[]`, `"":null`, `" id":8`, `"id ":8`, `"jsonrpc\u0000":1`, `"_meta":{}`, `"метод":"x"`, `"ıd":9`} {
		wantResult(t, c.ask(`{"jsonrpc":"2.0","id":7,`+member+`,"method":"ping"}`), "7", `{}`)
	}
}

func TestParamsMayBeAbsentNullOrEmpty(t *testing.T) {
	c := fixture(t)
	for _, params := range []string{``, `,"params":null`, `,"params":{}`, `,"params":{"unknown":[1]}`, `,"params":{"_meta":{}}`} {
		wantResult(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"`+params+`}`), "1", `{}`)
		r := c.ask(`{"jsonrpc":"2.0","id":"list","method":"tools/list"` + params + `}`)
		if !strings.Contains(string(r.Result), `"name":"echo"`) {
			t.Errorf("no list with params %q: %s", params, r.Raw)
		}
	}
}

func TestParamsThatAreNoObjectAreRefused(t *testing.T) {
	c := fixture(t)
	for _, params := range []string{`[]`, `["` + canary + `"]`, `"` + canary + `"`, `7`, `true`, `false`, `""`} {
		for _, method := range []string{"ping", "tools/list", "tools/call", "initialize", "logging/setLevel"} {
			wantError(t, c.ask(request("1", method, params)), "1", -32602)
		}
		c.alive()
	}
}

func TestParamsOfTheWrongShapeAreRefusedWithoutRepeatingThem(t *testing.T) {
	c := fixture(t)
	tests := []struct{ method, params string }{
		{"tools/call", `{}`},
		{"tools/call", `{"arguments":{"a":"` + canary + `"}}`},
		{"tools/call", `{"name":null}`},
		{"tools/call", `{"name":7}`},
		{"tools/call", `{"name":["` + canary + `"]}`},
		{"tools/call", `{"name":{"` + canary + `":1}}`},
		{"tools/call", `{"name":""}`},
		{"tools/call", `{"name":"tool_echo"}`},
		{"tools/call", `{"name":"ECHO"}`},
		{"tools/call", `{"name":"echo "}`},
		{"tools/call", `{"Name":"echo"}`},
		{"tools/call", `{"name":"echo\u0000"}`},
		{"tools/call", `{"name":"echo; id"}`},
		{"tools/call", `{"name":"../echo"}`},
		{"tools/list", `{"cursor":7}`},
		{"tools/list", `{"cursor":{"` + canary + `":1}}`},
		{"tools/list", `{"cursor":"` + canary + `"}`},
		{"logging/setLevel", `{}`},
		{"logging/setLevel", `{"level":"` + canary + `"}`},
		{"logging/setLevel", `{"level":7}`},
		{"logging/setLevel", `{"level":"Debug"}`},
		{"ping", `{"_meta":"` + canary + `"}`},
		{"ping", `{"_meta":["` + canary + `"]}`},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.params, func(t *testing.T) {
			wantError(t, c.in(t).ask(request("7", test.method, test.params)), "7", -32602)
		})
		c.works()
	}
}

func TestALineOverMaxLineIsRefusedAndSkipped(t *testing.T) {
	for _, flag := range []string{"--max-line=1000", "--max-line=4KiB", "--max-line=100KiB"} {
		t.Run(flag, func(t *testing.T) {
			c := fixture(t, flag)
			most := map[string]int{"--max-line=1000": 1000, "--max-line=4KiB": 4 << 10, "--max-line=100KiB": 100 << 10}[flag]
			frame := `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"pad":""}}`
			of := func(size int) string {
				return strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
			}
			wantResult(t, c.ask(of(most)), "7", `{}`)
			for _, size := range []int{most + 1, most + 2, 2 * most, 300000} {
				r := c.ask(of(size))
				if wantError(t, r, "", -32700); !strings.Contains(r.Error.Message, "--max-line") {
					t.Errorf("the message does not name the flag: %s", r.Raw)
				}
				c.alive()
			}
			wantError(t, c.ask(strings.Repeat("x", most+1)), "", -32700)
			wantError(t, c.ask(strings.Repeat(" ", most+1)), "", -32700)
			wantResult(t, c.ask(of(most)), "7", `{}`)
		})
	}
}

func TestALineMayBe16MiBLong(t *testing.T) {
	c := fixture(t)
	const most = 16 << 20
	frame := `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"pad":""}}`
	line := strings.Replace(frame, `""`, `"`+strings.Repeat("x", most-len(frame))+`"`, 1)
	wantResult(t, c.ask(line), "7", `{}`)
	wantError(t, c.ask(line+" "), "", -32700)
	wantError(t, c.ask(line+line+line), "", -32700)
	c.works()
}
