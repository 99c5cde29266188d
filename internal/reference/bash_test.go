package reference

import (
	"strings"
	"testing"
)

func TestCommentsAboveFunctionsAreEntries(t *testing.T) {
	const source = `# What the file is.

# --- First --------------------------------------------------------------

# mcp_one TEXT
# mcp_two TEXT [MORE]…
#
# Does it.
#
# Status 2: it did not.
# shellcheck disable=SC2000
mcp_one() { :; }
mcp_two() { :; }

# A helper's.
_conch_three() { :; }

# --- Empty --------------------------------------------------------------

# --- Hooks --------------------------------------------------------------

# tool_NAME_cancel ARGUMENTS
#
# Ends it.
`
	got, err := sections(source)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].title != "First" || got[1].title != "Hooks" {
		t.Fatalf("got the sections %+v", got)
	}
	one := got[0].entries[0]
	if len(got[0].entries) != 1 || strings.Join(one.calls, ";") != "mcp_one TEXT;mcp_two TEXT [MORE]…" {
		t.Errorf("got the calls %q", one.calls)
	}
	if about := markdown(one.about); about != "Does it.\n\nStatus 2: it did not.\n" {
		t.Errorf("got %q", about)
	}
}

func TestAFunctionWithoutAnEntryIsAnError(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"no comment", "mcp_bare() {\n  :\n}\n", "no comment tells of mcp_bare"},
		{"a comment of another form", "# --- X ---\n\n# Does it.\nmcp_bare() { :; }\n", "no comment tells of mcp_bare"},
		{"nothing but how it is called", "# --- X ---\n\n# mcp_bare\nmcp_bare() { :; }\n", "no comment tells of mcp_bare"},
		{"nothing behind the empty line", "# --- X ---\n\n# mcp_bare\n#\nmcp_bare() { :; }\n", "no comment tells of mcp_bare"},
		{"no heading", "# mcp_bare\n#\n# Does it.\nmcp_bare() { :; }\n", "under no heading"},
		{"no such function", "# --- X ---\n\n# mcp_gone\n#\n# Does it.\n", "there is no such function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sections(c.source)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got the error %v, not one with %q", err, c.want)
			}
		})
	}
}

func TestTagsNeedAHeading(t *testing.T) {
	if _, err := tagsPage([]byte("// Package x is.\npackage x\n")); err == nil {
		t.Error("a comment without a heading makes a page")
	}
	page, err := tagsPage([]byte("// Package x is.\n//\n// # Rules\n//\n// All of them.\npackage x\n"))
	if err != nil || !strings.HasSuffix(page, "## Rules\n\nAll of them.\n") || strings.Contains(page, "Package x") {
		t.Errorf("got %v, %q", err, page)
	}
}
