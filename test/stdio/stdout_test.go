package stdio_test

import (
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestWhatAScriptPrintsWhileItIsSourcedStaysOffTheProtocol(t *testing.T) {
	fake := `{"jsonrpc":"2.0","id":1,"result":{"fake":true}}`
	for name, line := range map[string]string{
		"on standard output":                       `echo '` + fake + `'`,
		"without a newline":                        `printf partial`,
		"on /dev/stdout":                           `echo '` + fake + `' >/dev/stdout`,
		"on its descriptor 1":                      `echo '` + fake + `' >/proc/self/fd/1`,
		"through a child":                          `sh -c "echo '` + fake + `'"`,
		"through a child in the background":        `sh -c "echo '` + fake + `'" & wait`,
		"on descriptors that are free for scripts": `for fd in {3..9} {200..255}; do { echo '` + fake + `' >&"$fd"; } 2>/dev/null; done`,
		"a megabyte":                               `printf '%1000000s\n' x`,
		"with set -x":                              `set -x; : noise; set +x`,
		"with set -v":                              `set -v`,
		"with an error":                            `no_such_command; echo '` + fake + `'`,
		"after a copy of standard output":          `exec 7>&1; echo '` + fake + `' >&7`,
		"in a trap for its end":                    `trap 'echo "bye"' EXIT`,
		"in a debug trap":                          `trap 'echo noise' DEBUG`,
		"by a coprocess":                           `coproc { echo '` + fake + `'; }`,
	} {
		t.Run(name, func(t *testing.T) {
			c := custom(t, line+"\n"+listScript("good"), `{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}`, `{}`)
			c.alive()
			c.initialize("2025-06-18")
			for range 3 {
				if text, isError := c.ask(request("1", "tools/call", `{"name":"good"}`)).ToolText(t); isError || !strings.Contains(text, "ran") {
					t.Errorf("the tool printed %q", text)
				}
			}
			c.end()
		})
	}
}

func TestWhatAToolPrintsAnywhereStaysOffTheProtocol(t *testing.T) {
	fake := `{"jsonrpc":"2.0","id":1,"result":{"fake":true}}`
	tests := map[string]struct{ body, want string }{
		"on standard output":          {`echo out`, "out"},
		"on standard error":           {`echo err >&2`, "err"},
		"on both":                     {`echo out; echo err >&2; echo out`, "out\nerr\nout"},
		"a line of the protocol":      {`echo '` + fake + `'`, fake},
		"lines of the protocol":       {`printf '\n%s\n%s\n\n' '` + fake + `' '` + fake + `'`, "\n" + fake + "\n" + fake},
		"on /dev/stdout":              {`echo out >/dev/stdout`, "out"},
		"on /dev/stderr":              {`echo err >/dev/stderr`, "err"},
		"on /proc/self/fd/1":          {`echo out >/proc/self/fd/1`, "out"},
		"on /proc/self/fd/2":          {`echo err >/proc/self/fd/2`, "err"},
		"on descriptors 3 to 255":     {`for fd in {3..255}; do { echo '` + fake + `' >&"$fd"; } 2>/dev/null; done; echo done`, "…done"},
		"on descriptors it opens":     {`for fd in {3..255}; do { echo '` + fake + `' >"/proc/self/fd/$fd"; } 2>/dev/null; done; echo done`, "…done"},
		"from another program":        {`sh -c 'for fd in 3 4 5 6 7 8 9; do (echo x >&$fd) 2>/dev/null; done; echo done'`, "done"},
		"on the terminal":             {`{ echo '` + fake + `' >/dev/tty; } 2>/dev/null; echo done`, "done"},
		"a carriage return":           {`printf 'a\rb\r\n'`, "a\rb\r"},
		"control characters":          {`printf '\001\033[0m\177'`, "\x01\x1b[0m\x7f"},
		"line separators":             {`printf '\342\200\250\342\200\251'`, "\u2028\u2029"},
		"a NUL":                       {`printf 'a\0b'`, "ab"},
		"invalid UTF-8":               {`printf 'a\377b'`, "a\ufffdb"},
		"nothing":                     {`:`, ""},
		"newlines alone":              {`printf '\n\n\n'`, ""},
		"markup":                      {`printf '<a href="x">&amp;</a>'`, `<a href="x">&amp;</a>`},
		"from a child left behind":    {`(sleep 0.1; echo '` + fake + `') & echo done`, "done"},
		"with standard output closed": {`exec >&-; { echo lost; } 2>/dev/null; :`, ""},
		"with everything closed":      {`for fd in {0..255}; do eval "exec $fd>&-"; done; echo lost 2>/dev/null; :`, ""},
		"the answer to another":       {`read -r line; echo "read: $line"`, "read: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := custom(t, "tool_print() {\n"+test.body+"\n}\n", `{"tools":[{"name":"print","inputSchema":{"type":"object"}}]}`, `{}`)
			for range 3 {
				wantPrinted(t, c.ask(request("7", "tools/call", `{"name":"print"}`)), test.want)
				wantPrinted(t, c.ask(modernRequest("8", "tools/call", `"name":"print"`)), test.want)
			}
			c.alive()
		})
	}
}

// wantPrinted holds a tool to what it has printed. Where that begins with "…",
// Bash itself has its standard output on some of the descriptors as well.
func wantPrinted(t testing.TB, r harness.Reply, want string) {
	t.Helper()
	text, isError := r.ToolText(t)
	end, open := strings.CutPrefix(want, "…")
	if isError || text != want && !(open && strings.HasSuffix(text, end)) {
		t.Errorf("want %q: %s", want, r.Raw)
	}
}

func TestAToolCannotReadTheProtocol(t *testing.T) {
	c := custom(t, `tool_read() {
  local fd line
  for fd in {3..255}; do
    if { IFS= read -r -t 0.01 -u "$fd" line; } 2>/dev/null; then printf 'read from %s: %s\n' "$fd" "$line"; fi
  done
  if IFS= read -r line; then printf 'read: %s\n' "$line"; fi
  cat
}
`, `{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}`, `{}`)
	c.send(request("1", "tools/call", `{"name":"read"}`))
	for range 50 {
		c.send(notification("no/such", `{"bait":true}`))
	}
	wantText(t, c.reply(), "1", "")
	c.alive()
}
