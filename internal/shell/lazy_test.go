package shell

import "testing"

func talking(o *Options) { o.Talk = true }

// loaded is how a call sees whether the functions are there.
const loaded = `{ builtin declare -F _conch_quote >/dev/null && echo loaded || echo stubs; }`

func TestTheFunctionsForScriptsAreLoadedWhenTheyAreCalled(t *testing.T) {
	// Not by its name, which would have them loaded beforehand.
	const named = `arr='"m"'; arr=${arr//\"/}cp_json_arr; `
	tests := []struct{ name, script, want string }{
		{"not without need", `tool_t() { ` + loaded + `; }`, "stubs\n"},
		{"by a call", `tool_t() { ` + named + `"$arr" a 'b c' ''; echo; ` + loaded + `; }`, `["a","b c",""]` + "\nloaded\n"},
		{"by a subshell of one", `tool_t() { ` + named + `x=$("$arr" a); echo "$x"; ` + loaded + `; }`, `["a"]` + "\nstubs\n"},
		{"by the script", `list=$(mcp_json_arr a); mcp_json_arr >/dev/null; tool_t() { echo "$list"; ` + loaded + `; }`, `["a"]` + "\nloaded\n"},
		{"before a call that names one", `tool_t() { ` + loaded + `; mcp_json_arr a; }`, "loaded\n" + `["a"]`},
		{"before a call of a function that names one", `list() { mcp_json_arr "$@"; }; tool_t() { ` + loaded + `; list a; }`, "loaded\n" + `["a"]`},
		{
			"without the script's aliases", `shopt -s expand_aliases; alias local='false;' case='false;' mcp_json_arr=false
				tool_t() { ` + named + `"$arr" a; shopt -q expand_aliases && echo kept; }`, `["a"]kept` + "\n",
		},
		{"unseen", `set -v; tool_t() { ` + named + `"$arr" a; case $- in *v*) echo kept ;; esac; }`, `["a"]kept` + "\n"},
		{"where the script is strict", `set -euo pipefail; tool_t() { ` + named + `"$arr"; "$arr" a; }`, `[]["a"]`},
		{"and leave the script its own", `mcp_json_obj() { echo mine; }; tool_t() { ` + named + `"$arr" a; mcp_json_obj; }`, `["a"]mine` + "\n"},
		{"and are all there", `tool_t() { declare -F mcp_progress mcp_args_get mcp_with_retry mcp_roots_list >/dev/null && echo yes; }`, "yes\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.script, 1, talking)
			if status, output := run(t, s, "t", `{}`); status != 0 || output != tt.want {
				t.Errorf("status %d, output %q, want %q", status, output, tt.want)
			}
		})
	}
}
