package inplace_test

import (
	"testing"

	"github.com/conch-mcp/conch/internal/inplace"
)

const (
	section = "[s.g]\ncommand = \"/bin/conch\"\nargs = [\"serve\", \"a b\"]\n\n[s.g.env]\nKEY = \"<\\\"&\\\">\"\n"
	inline  = `{ command = "/bin/conch", args = ["serve", "a b"], env = { KEY = "<\"&\">" } }`
)

var tomlChanges = []change{
	{name: "nothing", before: "", path: "s.g", value: server, after: section},
	{name: "a value in nothing", before: "", path: "a", after: "a = \"x\"\n"},
	{name: "only a comment", before: "# mine\n", path: "s.g", value: server, after: "# mine\n\n" + section},
	{name: "behind values", before: "# mine\nmodel = \"m\" # m\n\n[a]\nb = 1\n# c\n", path: "s.g", value: server, after: "# mine\nmodel = \"m\" # m\n\n[a]\nb = 1\n# c\n\n" + section},
	{name: "no last line end", before: "a = 1", path: "s.g", value: server, after: "a = 1\n\n" + section[:len(section)-1]},
	{name: "empty lines at the end", before: "a = 1\n\n\n", path: "s.g", value: server, after: "a = 1\n\n\n\n" + section},
	{name: "CRLF", before: "a = 1\r\n", path: "s.g", value: inplace.Table{{Name: "b", Value: "x"}}, after: "a = 1\r\n\r\n[s.g]\r\nb = \"x\"\r\n"},
	{name: "a byte order mark", before: "\ufeffa = 1\n", path: "b.c", after: "\ufeffa = 1\n\n[b]\nc = \"x\"\n", oneWay: true},
	{name: "behind those in the same table", before: "[s.a]\nb = 1 # c\n\n# of t\n[t]\nu = 2\n", path: "s.g", value: server, after: "[s.a]\nb = 1 # c\n\n" + section + "\n# of t\n[t]\nu = 2\n"},
	{name: "behind sections inside", before: "[s.a]\nb = 1\n[s.a.env]\nK = '1'\n[t]\n", path: "s.g", value: server, after: "[s.a]\nb = 1\n[s.a.env]\nK = '1'\n\n" + section + "[t]\n"},
	{name: "a header that holds it", before: "[s]\na.b = 1\n\n[t]\n", path: "s.g", value: server, after: "[s]\na.b = 1\n\n" + section + "\n[t]\n"},
	{name: "in an inline table", before: "s = { a = { b = 1 } } # c\n", path: "s.g", value: server, after: "s = { a = { b = 1 }, g = " + inline + " } # c\n"},
	{name: "in an empty inline table", before: "s = {}\n", path: "s.g", value: server, after: "s = { g = " + inline + " }\n"},
	{name: "in an empty inline table with a comment", before: "s = { # c\n}\n", path: "s.g", after: "s = { # c\ng = \"x\" }\n", oneWay: true},
	{name: "in an inline table with a trailing comma", before: "s = {\n  a = 1,\n  b = 2, # c\n}\n", path: "s.g", after: "s = {\n  a = 1,\n  b = 2, g = \"x\", # c\n}\n"},
	{name: "in an inline table, under dots", before: "s = { g.a = 1 }\n", path: "s.g.b", after: "s = { g.a = 1, g.b = \"x\" }\n"},
	{name: "under dots", before: "s.g.a = 1\nt = 2\n", path: "s.g.b", after: "s.g.a = 1\ns.g.b = \"x\"\nt = 2\n"},
	{name: "a table under dots", before: "[s]\n  g.command = \"c\" # c\n  t = 2\n", path: "s.g.env", value: inplace.Table{{Name: "K", Value: "x"}}, after: "[s]\n  g.command = \"c\" # c\n  g.env = { K = \"x\" }\n  t = 2\n"},
	{name: "a value of a section", before: "[s.g]\n\ta = 1 # a\n# end\n\n[t]\n", path: "s.g.b", after: "[s.g]\n\ta = 1 # a\n\tb = \"x\"\n# end\n\n[t]\n"},
	{name: "a value of an empty section", before: "[s.g] # c\n[t]\n", path: "s.g.b", after: "[s.g] # c\nb = \"x\"\n[t]\n"},
	{name: "a value of a section without a last line end", before: "[s.g]\na = 1", path: "s.g.b", after: "[s.g]\na = 1\nb = \"x\""},
	{name: "a value behind one of many lines", before: "[s.g]\na = [\n  1, # [s]\n]\n\n[t]\n", path: "s.g.b", after: "[s.g]\na = [\n  1, # [s]\n]\nb = \"x\"\n\n[t]\n"},
	{name: "a value of all", before: "# c\n[t]\n", path: "a", after: "a = \"x\"\n# c\n[t]\n"},
	{name: "a value of a table that others make", before: "[s.g.env]\nK = \"1\"\n", path: "s.g.command", after: "[s.g.env]\nK = \"1\"\n\n[s.g]\ncommand = \"x\"\n", oneWay: true},
	{name: "a table in a section", before: "[s.g]\na = 1\n\n# of t\n[t]\n", path: "s.g.env", value: inplace.Table{{Name: "K", Value: "x"}}, after: "[s.g]\na = 1\n\n[s.g.env]\nK = \"x\"\n\n# of t\n[t]\n"},
	{name: "an odd name", before: "a = 1\n", path: "b c.\"d\\\té", after: "a = 1\n\n[\"b c\"]\n\"\\\"d\\\\\\té\" = \"x\"\n", oneWay: true},
	{name: "odd text", before: "", path: "a", value: "\x00\x7f\n\"\\é", after: "a = \"\\u0000\\u007F\\n\\\"\\\\é\"\n"},

	{name: "another value", before: "[s.g]\ncommand = 'old' # c\nb = 1\n", path: "s.g.command", after: "[s.g]\ncommand = \"x\" # c\nb = 1\n", oneWay: true},
	{name: "another value under dots", before: "s.\"g\".command = 'old'\n", path: "s.g.command", after: "s.\"g\".command = \"x\"\n", oneWay: true},
	{name: "another value, inline", before: "s = { g = { command = \"\"\"\nold\"\"\", b = 1 } }\n", path: "s.g.command", after: "s = { g = { command = \"x\", b = 1 } }\n", oneWay: true},
	{name: "the same value", before: "[s.g]\ncommand = '''\nx''' # c\n", path: "s.g.command", after: "[s.g]\ncommand = '''\nx''' # c\n", oneWay: true},
	{name: "the same table", before: "[s]\ng.command = '/bin/conch'\ng.args = [\n'serve', # c\n'a b']\ng.env.KEY = '<\"&\">'\n", path: "s.g", value: server,
		after: "[s]\ng.command = '/bin/conch'\ng.args = [\n'serve', # c\n'a b']\ng.env.KEY = '<\"&\">'\n", oneWay: true},
	{name: "a table for a value", before: "[s]\ng = 1 # c\n", path: "s.g", value: server, after: "[s]\ng = " + inline + " # c\n", oneWay: true},
	{name: "a table for another", before: "[s.g]\na = 1\n# inside\nb = 2\n\n# of t\n[t]\nu = 1\n\n[s.g.env]\nK = 1\n", path: "s.g", value: server, after: "\n# of t\n[t]\nu = 1\n\n" + section, oneWay: true},
	{name: "a table for an array of tables", before: "[[s.g]]\na = 1\n[[s.g]]\n", path: "s.g", value: server, after: section, oneWay: true},
}

func TestTOMLIsSetAndRemoved(t *testing.T) {
	for _, c := range tomlChanges {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseTOML) })
	}
}

var tomlRemovals = []removal{
	{"nothing at all", "", "a", ""},
	{"not there", "a = 1\n", "b", "a = 1\n"},
	{"nothing on the way", "[a]\n", "b.c.d", "[a]\n"},
	{"a section", "[a]\nb = 1\n\n# of c\n[c]\nd = 1\n# inside\ne = 1 # e\n\n# of f\n[f]\n", "c", "[a]\nb = 1\n\n# of c\n\n# of f\n[f]\n"},
	{"sections far from each other", "[s.g]\na = 1\n\n[t]\nb = 1\n\n[s.g.env]\nK = 1\n\n[s.h]\n", "s.g", "\n[t]\nb = 1\n\n[s.h]\n"},
	{"a section with tables in an array", "[s.g]\n[[s.g.a]]\nb = 1\n[[s.g.a]]\n[t]\n", "s.g", "[t]\n"},
	{"the only section", "[s.g]\na = 1\n", "s.g", ""},
	{"a section without a last line end", "a = 1\n\n[s.g]\nb = 1", "s.g", "a = 1"},
	{"what is under dots", "s.g.a = 1\nt = 1\ns.g.b = { c = 1 }\n", "s.g", "t = 1\n"},
	{"what is under dots and in sections", "s.g.a = 1\n[s.g.env]\nK = 1\n", "s.g", ""},
	{"the first of an inline table", "s = { g = 1, h = 2 }\n", "s.g", "s = { h = 2 }\n"},
	{"the only one of an inline table", "[s]\nt = { g = [\n1] } # c\n", "s.t.g", "[s]\nt = {} # c\n"},
	{"in an inline table, under dots", "s = { g.a = 1, h = 1, g.b = 2 }\n", "s.g", "s = { h = 1 }\n"},
	{"deep in inline tables", "s = { g = { a = { b = 1, c = 2 } } }\n", "s.g.a.b", "s = { g = { a = { c = 2 } } }\n"},
	{"in an inline table with comments", "s = {\n  g = 1, # one,\n  h = 2 # two,\n  , # three\n  i = 3 # four\n}\n", "s.h", "s = {\n  g = 1, # one,\n   # two,\n   # three\n  i = 3 # four\n}\n"},
	{"the last in an inline table with comments", "s = {\n  g = 1, # one\n  h = 2\n}\n", "s.h", "s = {\n  g = 1, # one\n  \n}\n"},
	{"the only one with comments", "s = { # one\n  h = 2, # two\n}\n", "s.h", "s = { # one\n   # two\n}\n"},
}

func TestTOMLIsRemoved(t *testing.T) {
	for _, c := range tomlRemovals {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseTOML) })
	}
}

var tomlFaults = []fault{
	{"no value", "a = 1\nb =\n", "", "line 2, column 4: unexpected character U+000A at start of value"},
	{"a cut end", "[a", "", "line 1, column 2: expected ']' to close table name"},
	{"JSON", "{\n}", "", "line 1, column 1: invalid character at start of key: U+007B '{'"},
	{"a merge conflict", "a = 1\n<<<<<<< ours\n", "", "line 2, column 1: invalid character at start of key: U+003C '<'"},
	{"a table twice", "[s.g]\na = 1\n\n[s.g]\n", "", "line 4, column 2: table g already exists"},
	{"a name twice", "[s]\ng = 1\ng = 2\n", "", "line 3, column 1: key g is already defined"},
	{"no UTF-8", "a = \"\xff\"\n", "", "line 1, column 6: invalid UTF-8 character in basic string"},
	{"a value on the way", "s = 1\n", "s.g", "line 1, column 1: s is no table, and has to be one"},
	{"a value inside of an inline table on the way", "s = { g = 1 }\n", "s.g.env", "line 1, column 7: s.g is no table, and has to be one"},
	{"an array of tables on the way", "\n[[s]]\na = 1\n", "s.g", "line 2, column 1: s is an array of tables, and has to be a table"},
}

func TestTOMLThatCannotBeChanged(t *testing.T) {
	for _, c := range tomlFaults {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseTOML) })
	}
}

func TestWhatTOMLHolds(t *testing.T) {
	d := parsed(t, inplace.ParseTOML, "a = 'x'\nb = [\"y\", 'z']\n[c.d]\ne = 1.0\n[c]\nf = ['y', 1]\nh = []\n[[g]]\na = 1\n[[g]]\n[i]\nj.k = {}\nj.l = { m.n = 'o' }\n[p]\n")
	want := inplace.Table{
		{Name: "a", Value: "x"}, {Name: "b", Value: []string{"y", "z"}},
		{Name: "c", Value: inplace.Table{
			{Name: "d", Value: inplace.Table{{Name: "e", Value: inplace.Other("1.0")}}},
			{Name: "f", Value: inplace.Other("['y', 1]")}, {Name: "h", Value: []string{}},
		}},
		{Name: "g", Value: inplace.Other("[[g]]")},
		{Name: "i", Value: inplace.Table{{Name: "j", Value: inplace.Table{
			{Name: "k", Value: inplace.Table{}},
			{Name: "l", Value: inplace.Table{{Name: "m", Value: inplace.Table{{Name: "n", Value: "o"}}}}},
		}}}},
		{Name: "p", Value: inplace.Table{}},
	}
	if got, err := d.Get(); err != nil || !inplace.Equal(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}
