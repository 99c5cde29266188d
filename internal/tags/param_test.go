package tags

import (
	"reflect"
	"strings"
	"testing"
)

// one parses the tags of a script with one command, which has no other fault than
// the missing functions it is given here.
func one(t testing.TB, tags string) Command {
	t.Helper()
	script, err := Parse("tool.sh", []byte(tags+"\nfn() { :; }\n"))
	if err != nil || len(script.Commands) != 1 {
		t.Fatalf("%s: %v, %+v", tags, err, script)
	}
	return script.Commands[0]
}

func ptr[T any](v T) *T { return &v }

func required() Value               { return Value{Required: true} }
func byDefault(text string) Value   { return Value{Default: &text} }
func among(choices ...string) Value { return Value{Choices: choices, Validated: true} }

func firstOf(choices ...string) Value {
	return Value{Choices: choices, Validated: true, Default: &choices[0]}
}

func named(names ...string) (list []Notation) {
	for _, name := range names {
		list = append(list, Notation{Name: name})
	}
	return list
}

// paramTags have neither the names that follow from a Param's name, nor the line.
var paramTags = []struct {
	tag  string
	want Param
}{
	{"@option --oa", Param{Long: "--oa"}},
	{"@option --oa words of mine", Param{Long: "--oa", Describe: "words of mine"}},
	{"@option\t\t--oa\twords", Param{Long: "--oa", Describe: "words"}},
	{"@option --oa-b_c", Param{Long: "--oa-b_c"}},
	{"@option -b --ob", Param{Long: "--ob", Short: "-b"}},
	{"@option -b  --ob! x", Param{Long: "--ob", Short: "-b", Value: required(), Describe: "x"}},
	{"@option -. --hidden", Param{Long: "--hidden", Short: "-."}},
	{"@option -c", Param{Long: "-c"}},
	{"@option -c words -d", Param{Long: "-c", Describe: "words -d"}},
	{"@option -c - words", Param{Long: "-c", Describe: "- words"}},
	{"@option -c <DIR> words", Param{Long: "-c", Notations: named("DIR"), Describe: "words"}},
	{"@option -long", Param{Long: "-long"}},
	{"@option -l -long*", Param{Long: "-long", Short: "-l", Many: true}},
	{"@option +oa", Param{Long: "+oa"}},
	{"@option +b +ob", Param{Long: "+ob", Short: "+b"}},
	{"@option +a -a", Param{Long: "-a", Short: "+a"}},
	{"@option --oc!", Param{Long: "--oc", Value: required()}},
	{"@option --od*", Param{Long: "--od", Many: true}},
	{"@option --oe+", Param{Long: "--oe", Many: true, Value: required()}},
	{"@option --of*,", Param{Long: "--of", Many: true, Separator: ","}},
	{"@option --of+: x", Param{Long: "--of", Many: true, Separator: ":", Value: required(), Describe: "x"}},
	{"@option --of*@", Param{Long: "--of", Many: true, Separator: "@"}},
	{"@option --of*|[a|b]", Param{Long: "--of", Many: true, Separator: "|", Value: among("a", "b")}},
	{"@option --of*/", Param{Long: "--of", Many: true, Separator: "/"}},
	{"@option --of*;", Param{Long: "--of", Many: true, Separator: ";"}},
	{"@option --ox~", Param{Long: "--ox", Rest: true}},
	{"@option --ona <PATH>  a place", Param{Long: "--ona", Notations: named("PATH"), Describe: "a place"}},
	{"@option --ona  <PATH>", Param{Long: "--ona", Describe: "<PATH>"}},
	{"@option --ona <PATH", Param{Long: "--ona", Describe: "<PATH"}},
	{"@option --onb <a> <b> <c>", Param{Long: "--onb", Notations: named("a", "b", "c")}},
	{"@option --onb <a>  <b>", Param{Long: "--onb", Notations: named("a"), Describe: "<b>"}},
	{"@option --onc <CMD> <FILE+>", Param{Long: "--onc", Notations: []Notation{{"CMD", ""}, {"FILE", "+"}}}},
	{"@option --onc <CMD+> <FILE*>", Param{Long: "--onc", Notations: []Notation{{"CMD+", ""}, {"FILE", "*"}}}},
	{"@option --onc <CMD?>", Param{Long: "--onc", Notations: []Notation{{"CMD", "?"}}}},
	{"@option --ond <>", Param{Long: "--ond", Notations: named("")}},
	{"@option --ond <a <b> c>", Param{Long: "--ond", Notations: named("a <b> c")}},
	{"@option --ond <◉> x", Param{Long: "--ond", Notations: named("◉"), Describe: "x"}},
	{"@option --oda=a words", Param{Long: "--oda", Value: byDefault("a"), Describe: "words"}},
	{"@option --oda=", Param{Long: "--oda", Value: byDefault("")}},
	{"@option --oda=a=[b]|c", Param{Long: "--oda", Value: byDefault("a=[b]|c")}},
	{`@option --oda="a b" words`, Param{Long: "--oda", Value: byDefault("a b"), Describe: "words"}},
	{`@option --oda='a "b" \'c\''`, Param{Long: "--oda", Value: byDefault(`a "b" 'c'`)}},
	{`@option --oda="C:\d"`, Param{Long: "--oda", Value: byDefault(`C:\d`)}},
	{`@option --oda="a b`, Param{Long: "--oda", Value: byDefault(`"a`), Describe: "b"}},
	{`@option --oda="" x`, Param{Long: "--oda", Value: byDefault(""), Describe: "x"}},
	{"@option --oda=a <FILE>", Param{Long: "--oda", Value: byDefault("a"), Notations: named("FILE")}},
	{"@option --odb=`fn` words", Param{Long: "--odb", Value: Value{DefaultFunction: "fn"}, Describe: "words"}},
	{"@option --oca[a|b]", Param{Long: "--oca", Value: among("a", "b")}},
	{"@option --oca[a]", Param{Long: "--oca", Value: among("a")}},
	{"@option --oca[a b|]", Param{Long: "--oca", Value: among("a b", "")}},
	{`@option --oca["a|b"|'c]d'|e"f]`, Param{Long: "--oca", Value: among("a|b", "c]d", `e"f`)}},
	{"@option --oca![a|b]", Param{Long: "--oca", Value: Value{Required: true, Choices: []string{"a", "b"}, Validated: true}}},
	{"@option --ocb[=a|b]", Param{Long: "--ocb", Value: firstOf("a", "b")}},
	{"@option --ocb![=a|b]", Param{Long: "--ocb", Value: firstOf("a", "b")}},
	{"@option --occ*[a|b]", Param{Long: "--occ", Many: true, Value: among("a", "b")}},
	{"@option --occ*,[=a|b]", Param{Long: "--occ", Many: true, Separator: ",", Value: firstOf("a", "b")}},
	{"@option --occ*[+a|b]", Param{Long: "--occ", Many: true, Value: among("+a", "b")}},
	{"@option --ofa[`fn`]", Param{Long: "--ofa", Value: Value{ChoicesFunction: "fn", Validated: true}}},
	{"@option --ofb[?`fn`]", Param{Long: "--ofb", Value: Value{ChoicesFunction: "fn"}}},
	{"@option --ofc+,[`fn`]", Param{Long: "--ofc", Many: true, Separator: ",", Value: Value{ChoicesFunction: "fn", Validated: true, Required: true}}},
	{"@option --oea $$", Param{Long: "--oea", Bound: "OEA"}},
	{"@option --oe-a.b $$", Param{Long: "--oe-a.b", Bound: "OE_A_B"}},
	{"@option --oeb! $BE <PATH> words", Param{Long: "--oeb", Bound: "BE", Value: required(), Notations: named("PATH"), Describe: "words"}},
	{"@option --oeb $_B2", Param{Long: "--oeb", Bound: "_B2"}},
	{"@option --oeb  $BE", Param{Long: "--oeb", Describe: "$BE"}},
	{"@option --oeb $5 or more", Param{Long: "--oeb", Describe: "$5 or more"}},
	{"@option --oeb $be", Param{Long: "--oeb", Describe: "$be"}},
	{"@option --oeb <PATH> $BE", Param{Long: "--oeb", Notations: named("PATH"), Describe: "$BE"}},
	{"@option --follow:[a|b]", Param{Long: "--follow", Assigned: true, Value: among("a", "b")}},
	{"@option --follow::", Param{Long: "--follow:"}},
	{"@option -D-*", Param{Long: "-D", Prefixed: true, Many: true}},
	{"@option -D--", Param{Long: "-D-"}},
	{"@option --fa:b@c.d", Param{Long: "--fa:b@c.d"}},
	{"@flag --fa", Param{Kind: Flag, Long: "--fa"}},
	{"@flag -b --fb words", Param{Kind: Flag, Long: "--fb", Short: "-b", Describe: "words"}},
	{"@flag --fd*", Param{Kind: Flag, Long: "--fd", Many: true}},
	{"@flag -e -fe* words", Param{Kind: Flag, Long: "-fe", Short: "-e", Many: true, Describe: "words"}},
	{"@flag --ea $$", Param{Kind: Flag, Long: "--ea", Bound: "EA"}},
	{"@flag --eb $BE words", Param{Kind: Flag, Long: "--eb", Bound: "BE", Describe: "words"}},
	{"@flag --fc <X>", Param{Kind: Flag, Long: "--fc", Describe: "<X>"}},
	{"@flag -# count", Param{Kind: Flag, Long: "-#", Describe: "count"}},
	{"@flag -: words", Param{Kind: Flag, Long: "-:", Describe: "words"}},
	{"@flag -0", Param{Kind: Flag, Long: "-0"}},
	{"@flag --http1.1", Param{Kind: Flag, Long: "--http1.1"}},
	{"@flag +c", Param{Kind: Flag, Long: "+c"}},
	{"@arg va", Param{Kind: Argument}},
	{"@arg vb! words", Param{Kind: Argument, Value: required(), Describe: "words"}},
	{"@arg vc*", Param{Kind: Argument, Many: true}},
	{"@arg vd+,", Param{Kind: Argument, Many: true, Separator: ",", Value: required()}},
	{"@arg vx~", Param{Kind: Argument, Rest: true}},
	{"@arg vna <PATH> words", Param{Kind: Argument, Notations: named("PATH"), Describe: "words"}},
	{"@arg vnb <A> <B>", Param{Kind: Argument, Notations: named("A"), Describe: "<B>"}},
	{"@arg vnc <INT+>", Param{Kind: Argument, Notations: named("INT")}},
	{"@arg vda=a", Param{Kind: Argument, Value: byDefault("a")}},
	{"@arg vdb=`fn`", Param{Kind: Argument, Value: Value{DefaultFunction: "fn"}}},
	{"@arg vcb[=a|b]", Param{Kind: Argument, Value: firstOf("a", "b")}},
	{"@arg vfb[?`fn`]", Param{Kind: Argument, Value: Value{ChoicesFunction: "fn"}}},
	{"@arg vea $$", Param{Kind: Argument, Bound: "VEA"}},
	{"@arg veb $BE <PATH>", Param{Kind: Argument, Bound: "BE", Notations: named("PATH")}},
	{"@arg UNIT... words", Param{Kind: Argument, Describe: "words"}},
}

func TestParameters(t *testing.T) {
	for _, test := range paramTags {
		if strings.HasPrefix(test.tag, "@option") {
			test.want.Kind = Option
		}
		got := one(t, "# "+test.tag).Params[0]
		// Tests of their own are about these.
		got.Name, got.Property, got.Variable, got.Line = "", "", "", 0
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%+v, want\n%+v", test.tag, got, test.want)
		}
	}
}

func TestNamesOfParameters(t *testing.T) {
	for _, test := range []struct{ tag, name, property, variable string }{
		{"@option --dry-run", "dry-run", "dry_run", "argc_dry_run"},
		{"@option -d --dry-run", "dry-run", "dry_run", "argc_dry_run"},
		{"@option -d", "d", "d", "argc_d"},
		{"@option -long.name", "long.name", "long_name", "argc_long_name"},
		{"@option --a:b@c", "a:b@c", "a_b_c", "argc_a_b_c"},
		{"@option +x-y", "x-y", "plus_x_y", "argc_plus_x_y"},
		{"@option +x -y", "y", "y", "argc_y"},
		{"@option -D-", "D", "D", "argc_D"},
		{"@option --Case", "Case", "Case", "argc_Case"},
		{"@flag -#", "#", "_", "argc__"},
		{"@arg UNIT...", "UNIT...", "UNIT___", "argc_UNIT___"},
		{"@arg in-file", "in-file", "in_file", "argc_in_file"},
	} {
		got := one(t, "# "+test.tag).Params[0]
		if got.Name != test.name || got.Property != test.property || got.Variable != test.variable {
			t.Errorf("%s: %q, %q, %q", test.tag, got.Name, got.Property, got.Variable)
		}
	}
}

func TestFormsOfParameters(t *testing.T) {
	for tag, want := range map[string]Form{
		"@option --a": Text, "@option --a=b": Text, "@option --a <X?>": Text, "@arg a!": Text, "@arg a <X+>": Text,
		"@option --a*": List, "@option --a+,": List, "@option --a~": List, "@option --a <X> <Y>": List, "@option --a <X> <Y?>": List, "@option --a <X*>": List, "@option --a <X+>": List,
		"@arg a*": List, "@arg a~": List,
		"@flag --a": Set, "@flag --a*": Count, "@option -D-": Pairs, "@option -D-*": Pairs,
	} {
		if got := one(t, "# "+tag).Params[0].Form(); got != want {
			t.Errorf("%s: %d, want %d", tag, got, want)
		}
	}
}

func TestVariablesOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		tag  string
		want Env
	}{
		{"@env EA words", Env{Name: "EA", Describe: "words"}},
		{"@env EB!", Env{Name: "EB", Value: required()}},
		{"@env EC=true words", Env{Name: "EC", Value: byDefault("true"), Describe: "words"}},
		{"@env LLM_OUT=/dev/stdout The place", Env{Name: "LLM_OUT", Value: byDefault("/dev/stdout"), Describe: "The place"}},
		{"@env ED=`fn`", Env{Name: "ED", Value: Value{DefaultFunction: "fn"}}},
		{"@env EDA[dev|prod]", Env{Name: "EDA", Value: among("dev", "prod")}},
		{"@env EDB[=dev|prod]", Env{Name: "EDB", Value: firstOf("dev", "prod")}},
		{"@env EF[`fn`]", Env{Name: "EF", Value: Value{ChoicesFunction: "fn", Validated: true}}},
		{"@env EG! <PATH> words", Env{Name: "EG", Value: required(), Notation: "PATH", Describe: "words"}},
		{"@env e_h2 $$", Env{Name: "e_h2", Describe: "$$"}},
	} {
		got := one(t, "# "+test.tag).Env[0]
		got.Line = 0
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%+v, want\n%+v", test.tag, got, test.want)
		}
	}
}

func TestKindsHaveTheNamesOfTheirTags(t *testing.T) {
	for kind, want := range map[Kind]string{Argument: "arg", Option: "option", Flag: "flag"} {
		if kind.String() != want {
			t.Errorf("%d: %s", kind, kind)
		}
	}
}
