package tags

import (
	"strings"
	"testing"
	"time"
)

// quotingScripts have a character for each line in want: q for one that begins in
// a string or a here-document.
var quotingScripts = []struct{ name, text, want string }{
	{"nothing", "a\nb\n", "---"},
	{"an empty file", "", "-"},
	{"a string", "a='x\n\n' b\nc", "-qq-"},
	{"a string in double quotes", "a=\"x\n\n\" b\nc", "-qq-"},
	{"a string with escapes", "a=$'x\\'\n\n' b\nc", "-qq-"},
	{"a dollar and double quotes", "a=$\"x\n\"\nc", "-q-"},
	{"a quote in the other quotes", "a=\"it's\"\nb='\"'\nc", "---"},
	{"a dollar and a quote in double quotes", "a=\"$'\"\nc", "--"},
	{"an escaped quote", "a=\\'\nb=\"\\\"\n\"\nc", "--q-"},
	{"a quote in a comment", "# it's\na # it's\nb=${#x} # it's\nc", "----"},
	{"what looks like a comment", "a=x#'\n'\nb=$#\nc", "-q--"},
	{"a command in a string", "a=\"$(x \"y\n\"z'\n' \"\n\")\n\"\nc", "-qqqq-"},
	{"a comment in a command in a string", "a=\"$(x\n# it's\n)\"\nc", "----"},
	{"backticks", "a=`x '\n'\n`\nc", "-q--"},
	{"a here-document", "cat <<EOF\n'\n\nEOF x\nEOF\nc", "-qqqq-"},
	{"one with quotes", "cat <<'E F' >x\n\nE F\nc", "-qq-"},
	{"one with double quotes", "cat <<\"EOF\" | b\n\nEOF\nc", "-qq-"},
	{"one with a backslash", "cat <<\\EOF\n\nEOF\nc", "-qq-"},
	{"one with blanks", "cat << EOF\n\nEOF\nc", "-qq-"},
	{"one with tabs before its end", "cat <<-EOF\n\tx\n\tEOF\nc", "-qq-"},
	{"one without them", "cat <<EOF\n\tEOF\nEOF\nc", "-qq-"},
	{"two in a line", "cat <<A <<B\n\nA\n\nB\nc", "-qqqq-"},
	{"one behind a line that goes on", "cat <<A \\\n  | b\n\nA\nc", "--qq-"},
	{"one behind a string of several lines", "cat <<A 'x\n'\n\nA\nc", "-qqq-"},
	{"one in a command in a string", "a=\"$(cat <<A\n'\nA\n)\"\nc", "-qq--"},
	{"one without an end", "cat <<EOF\na='\n'\nc", "--q-"},
	{"two without an end", "cat <<EOF\ncat <<EOF\na='\n'", "---q"},
	{"one whose end is the last line", "cat <<EOF\n\nEOF", "-qq"},
	{"one with lines from Windows", "cat <<EOF\r\n'\r\nEOF\r\nc\r\n", "-qq--"},
	{"one without a name", "cat << ; a='\n'\nc", "-q-"},
	{"a here-string", "cat <<<'x\n'\ncat <<<EOF\nc\nEOF\n", "-q----"},
	{"a shift", "a=$((1 << 2))\n((a <<= b))\nc\n2\nb\n", "------"},
	{"a base", "a=$((16#ff + (2)))\nb='\n'", "--q"},
	{"a default", "a=${b:-x'\n'}\nc", "-q-"},
	{"a default of several lines", "a=${b:-x\n}\nc", "-q-"},
	{"a default in quotes", "a=\"${b:-it's}\"\nc=\"${d:-'}\"\ne", "---"},
	{"a default in a default in quotes", "a=\"${b:-${c:-'}}\"\ne", "--"},
	{"a pattern in quotes", "a=\"${b%%'}\"\n\n'}\"\nc", "-qq-"},
	{"a pattern with an index", "a=\"${b[1]//'\"'/x}\"\nc", "--"},
	{"a case in a command", "a=$(case $x in a) y;; 'b') z;; esac)\nb='\n'", "--q"},
	{"a case in a string", "a=\"$(case \"$x\" in (a) 'y' ;; b) echo \"z\";; esac)\"\nb", "--"},
	{"no case", "a=$(echo case x)\nb=\"\n\"\nc", "--q-"},
	{"a function", "f() {\n  a ' # @cmd\n'\n}\n", "--q--"},
	{"a string without an end", "a='x'\nb='\n\n# c", "----"},
	{"an array", "a=(x # it's\n y)\nb='\n'", "---q"},
	{"a backslash at the end", "a\\", "-"},
	{"a parenthesis that closes nothing", "case a in a) b;; esac\nc='\n'", "--q"},
}

func TestLinesThatBeginInStrings(t *testing.T) {
	for _, test := range quotingScripts {
		var got strings.Builder
		for _, quoted := range quotedLines(test.text) {
			got.WriteByte("-q"[map[bool]int{true: 1}[quoted]])
		}
		if got.String() != test.want {
			t.Errorf("%s: %s, want %s, of\n%s", test.name, &got, test.want, test.text)
		}
	}
}

func TestLongScriptsAreReadInTime(t *testing.T) {
	for _, part := range []string{"\"${b[\"", "case a ", "cat <<A\n"} {
		start := time.Now()
		quotedLines("$(" + strings.Repeat(part, 20_000))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q takes %v", part, took)
		}
	}
}
