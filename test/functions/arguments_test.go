package functions_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

const given = `_conch_arguments=$1; builtin shift; `

// objects are arguments of every kind. What Bash finds in them has to be what jq
// finds.
var objects = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":1.50,"b":"x y *"}`, `{"a":null,"b":false}`, `{"a":"","b":true}`,
	`{ "a" : "é 🐚" , "b" : -0.0e+5 }`, `{"b":"a","a":"b"}`, `{"A":1,"a":2}`, `{"a":1,"a":2}`, `{"a":",","b":"}"}`,
	`{"a":"x\"y\n\u00e9","b":1}`, `{"a":[1,{"b":2}],"b":{"z":1,"a":2}}`, `{"a":"[","b":"{\"a\":1}"}`,
	`{"a":123456789012345678901234567890}`, `{"_a1":"x","a":"$(id)` + "`id`" + `"}`, `{"a":"` + strings.Repeat("x", 5000) + `"}`,
	"{\n\t\"a\": 1\n}", `[]`, `"a"`, `null`, `{"a":"null","b":"empty"}`,
}

var filters = []string{
	".a", ".b", "._a1", ".missing", ".a // empty", ".b // empty", ".a, .b", `.a // "World"`, ".a[", ".é",
}

// asked prints what each filter makes of the object, and the status.
const asked = `object=$1; builtin shift; for filter; do builtin echo "$filter:"; ask || builtin echo "status $?"; done`

func TestAFilterFindsWhatJQFinds(t *testing.T) {
	args := func(object string) []string { return append([]string{object}, filters...) }
	want := map[string]string{}
	for _, object := range objects {
		want[object] = shells(t)["plain"].run(t, `ask() { "$_conch_binary" jq -rc -- "$filter" <<<"$object" 2>/dev/null; }; `+asked, args(object)...).stdout
	}
	inEach(t, func(t *testing.T, s shell) {
		for _, object := range objects {
			s.run(t, `ask() { _conch_arguments=$object; mcp_args_get "$filter"; }; `+asked, args(object)...).
				check(t, object, want[object], "", 0)
		}
	})
}

func TestNoArgumentsAreAnEmptyObject(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		s.run(t, `mcp_args_raw; mcp_meta_raw; mcp_args_get .a; mcp_meta_get .a`).check(t, "none", "{}{}null\nnull\n", "", 0)
		s.run(t, `_conch_meta='{"t":"x"}'; mcp_meta_raw; mcp_meta_get .t; mcp_args_get .t`).check(t, "_meta", `{"t":"x"}x`+"\nnull\n", "", 0)
	})
}

func TestArgumentsAreTakenOrRefused(t *testing.T) {
	const object = `{"s":"a b","e":"","z":null,"null":"null","o":{"k":"v"},"t":true,"f":false,"one":1,"word":"yes",` +
		`"i":5,"dot":2.0,"exp":2e1,"half":1.5,"octal":"010","neg":-3,"zero":-0,` +
		`"most":9223372036854775807,"least":-9223372036854775808,"more":9223372036854775808,"big":1e30}`
	compact := strings.NewReplacer("\n", "").Replace(object)
	inEach(t, func(t *testing.T, s shell) {
		for call, want := range map[string]string{
			"require .s": "a b", "require s": "a b", "require .o.k": "v", "require null": "null", "require '.o # k'": `{"k":"v"}`,
			"require .e": "!.e is required", "require .z": "!.z is required", "require .q 'name the q'": "!name the q", "require '.o['": "!.o[ is required",
			"bool .t": "true", "bool f": "false", "bool one": "true", "bool word": "!word must be true or false",
			"bool .q": "!.q is required", "bool .q --default true": "true", "bool .q --default false": "false", "bool .f --default true": "false",
			"int .i": "5", "int dot": "2", "int exp": "20", "int octal": "10", "int neg": "-3", "int zero": "0",
			"int most": "9223372036854775807", "int least": "-9223372036854775808",
			"int more": "!more must be an integer", "int big": "!big must be an integer", "int half": "!half must be an integer", "int s": "!s must be an integer",
			"int .q": "!.q is required", "int .q --default 7": "7", "int .q --default x": "!.q must be an integer",
			"int i --min 5 --max 5": "5", "int i --min 6": "!i must be >= 6", "int i --max -4": "!i must be <= -4", "int i --default 1 --min 0": "5",
			"int i --min x": "!mcp_args_int: --min must be an integer", "int least --min -9223372036854775807": "!least must be >= -9223372036854775807",
		} {
			r := s.run(t, given+"mcp_args_"+call, compact)
			if message, refused := strings.CutPrefix(want, "!"); refused {
				r.check(t, call, "", "refused: "+message+"\n", 1)
			} else {
				r.check(t, call, want, "", 0)
			}
		}
	})
}

// FuzzLookup looks for arguments in which Bash finds something else than jq.
func FuzzLookup(f *testing.F) {
	for _, object := range objects {
		f.Add(object)
	}
	all := shells(f)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 20_000 {
			t.Skip("no call has such arguments")
		}
		s := all["plain"]
		cmd := exec.CommandContext(t.Context(), s.binary, "jq", "-rc", ".a")
		cmd.Stdin = strings.NewReader(text)
		want, _ := cmd.Output()
		if r := s.run(t, given+`mcp_args_get .a`, text); r.stdout != string(want) {
			t.Errorf("%q: %q, and jq has %q", text, r.stdout, want)
		}
	})
}
