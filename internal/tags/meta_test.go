package tags

import (
	"reflect"
	"testing"
	"time"
)

func TestMetadata(t *testing.T) {
	for _, test := range []struct {
		tags string
		want Meta
	}{
		{"# @meta version 1.2.0 beta", Meta{Version: "1.2.0 beta"}},
		{"# @version 1.2", Meta{Version: "1.2"}},
		{"# @meta author nobody <nobody@example.com>", Meta{Author: "nobody <nobody@example.com>"}},
		{"# @author  nobody", Meta{Author: "nobody"}},
		{"# @meta title  Disk usage ", Meta{Title: "Disk usage"}},
		{"# @meta title a\n# @meta title b", Meta{Title: "b"}},
		{"# @meta readonly", Meta{ReadOnly: ptr(true)}},
		{"# @meta readonly false\n# @meta destructive false", Meta{ReadOnly: ptr(false), Destructive: ptr(false)}},
		{"# @meta destructive true", Meta{Destructive: ptr(true)}},
		{"# @meta idempotent\n# @meta open-world false", Meta{Idempotent: ptr(true), OpenWorld: ptr(false)}},
		{"# @meta timeout 30", Meta{Timeout: 30 * time.Second}},
		{"# @meta timeout 0.5", Meta{Timeout: time.Second / 2}},
		{"# @meta timeout 1e-12", Meta{Timeout: 1}},
		{"# @meta output-schema schemas/a b.json", Meta{OutputSchema: "schemas/a b.json"}},
		{"# @meta requires elicitation roots", Meta{Requires: []string{"elicitation", "roots"}}},
		{"# @meta requires roots\n# @meta requires sampling, roots", Meta{Requires: []string{"roots", "sampling"}}},
		{"# @meta require-tools curl,sed  awk", Meta{RequireTools: []string{"curl", "sed", "awk"}}},
		{"# @meta require-tools curl\n# @meta require-tools jq", Meta{RequireTools: []string{"curl", "jq"}}},
		{"# @meta dotenv", Meta{Dotenv: ".env"}},
		{"# @meta dotenv .env.local", Meta{Dotenv: ".env.local"}},
		{
			"# @meta combine-shorts\n# @meta man-section 8\n# @meta symbol +toolchain[`_choices`]\n# @meta my.own  two words",
			Meta{Other: []Pair{{"combine-shorts", "", 1}, {"man-section", "8", 2}, {"symbol", "+toolchain[`_choices`]", 3}, {"my.own", "two words", 4}}},
		},
		{
			"# @meta default-subcommand\n# @meta inherit-flag-options\n# @meta no-inherit-env",
			Meta{Other: []Pair{{"default-subcommand", "", 1}, {"inherit-flag-options", "", 2}, {"no-inherit-env", "", 3}}},
		},
	} {
		if got := one(t, test.tags).Meta; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%+v, want\n%+v", test.tags, got, test.want)
		}
	}
}

func TestMetadataHoldsForTheCommandsBelow(t *testing.T) {
	script := parse(t, `# @meta version 1
# @meta title All
# @meta author me
# @meta dotenv
# @meta readonly
# @meta open-world false
# @meta timeout 9
# @meta requires roots
# @meta require-tools curl,jq
# @meta mine
# @cmd
a() { :; }
# @cmd
# @meta version 2
# @meta title One
# @meta readonly false
# @meta timeout 3
# @meta requires sampling
# @meta require-tools jq,git
b() { :; }
# @cmd
b::c() { :; }
`)
	if m := script.Meta; m.Version != "1" || m.Title != "All" || m.Author != "me" || m.Dotenv != ".env" || len(m.Other) != 1 {
		t.Errorf("%+v", m)
	}
	wants := map[string]Meta{
		"a": {ReadOnly: ptr(true), OpenWorld: ptr(false), Timeout: 9 * time.Second, Requires: []string{"roots"}, RequireTools: []string{"curl", "jq"}},
		"b_c": {
			ReadOnly: ptr(false), OpenWorld: ptr(false), Timeout: 3 * time.Second,
			Requires: []string{"roots", "sampling"}, RequireTools: []string{"curl", "jq", "git"},
		},
	}
	for _, c := range script.Commands {
		if want, ok := wants[c.Name]; !ok || !reflect.DeepEqual(c.Meta, want) {
			t.Errorf("%s:\n%+v, want\n%+v", c.Name, c.Meta, want)
		}
	}
	if len(script.Commands) != len(wants) {
		t.Error(script.summary())
	}
}
