package check_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/check"
	"github.com/conch-mcp/conch/internal/message"
)

// server is a server without a fault; examples change files of it.
var server = map[string]string{
	"server.sh": "#!/usr/bin/env bash\ntool_t() { echo \"$arg_text\"; }\n",
	"tools.json": `{"tools":[{"name":"t","description":"Tell.","inputSchema":{"type":"object",
"properties":{"text":{"type":"string","description":"What"}},"additionalProperties":false}}]}`,
	"config.json": `{}`,
}

// entry is a list with one tool, with some members of its entry.
func entry(members string) string {
	return `{"tools":[{"name":"t","description":"Tell.",` + "\n" + members + `}]}`
}

// input is a list with one tool of one argument, x, of a schema.
func input(schema string) string {
	return entry(`"inputSchema":{"type":"object","properties":{"x":` + schema + `}}`)
}

// output is a list with one tool that has an outputSchema.
func output(schema string) string {
	return entry(`"inputSchema":{"type":"object"},"outputSchema":` + schema)
}

type files map[string]string

// examples has for each rule what breaks it and what does not. Findings that are
// expected are written "file:line rule".
var examples = []struct {
	name  string
	files files
	want  []string
}{
	{"a server without a fault", nil, nil},

	// Scripts.
	{"a script that Bash cannot read", files{"server.sh": "tool_t() {\n  if true; then\n}\n"}, []string{"server.sh:3 syntax"}},
	{"a script with a string that does not end", files{"server.sh": "tool_t() { echo 'a; }\n"}, []string{"server.sh:1 syntax"}},
	{"line ends of Windows", files{"server.sh": "#!/usr/bin/env bash\r\ntool_t() { :; }\r\n"}, []string{"server.sh:1 crlf"}},
	{"a carriage return in a string", files{"server.sh": "tool_t() { echo $'\\r'; }\n"}, nil},
	{"a #! line of conch, and no mode for it", files{"server.sh": "#!/usr/bin/env conch\ntool_t() { :; }\n"}, []string{"server.sh:1 not-executable"}},
	{"a rule that there is not", files{"server.sh": "# conch-check disable=evil\ntool_t() { :; }\n"}, []string{"server.sh:1 directive"}},
	{"rules that there are", files{"server.sh": "# conch-check disable=eval,SC2086 because it is so\ntool_t() { eval \"$arg_text\"; }\n"}, nil},
	{"a file that is sourced, known", files{"server.sh": "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\nsource \"$here/lib.sh\"\n", "lib.sh": "tool_t() { :; }\n"}, nil},
	{"a file that is sourced, by ${BASH_SOURCE%/*}", files{"server.sh": ". \"${BASH_SOURCE[0]%/*}/lib.sh\"\n", "lib.sh": "tool_t() { :; }\n"}, nil},
	{"a file that is sourced after cd", files{"server.sh": "cd \"$(dirname \"$0\")/lib\" || exit\nsource ./lib.sh\n", "lib/lib.sh": "tool_t() { :; }\n"}, nil},
	{"a file that is sourced, unknown", files{"server.sh": "source \"$LIB\"\n"}, []string{"server.sh:1 dynamic", "tools.json:1 no-function"}},
	{"a file that is sourced, not there", files{"server.sh": "source ./none.sh\ntool_t() { :; }\n"}, []string{"server.sh:1 dynamic"}},
	{"functions of eval's", files{"server.sh": "eval \"tool_t() { :; }\"\n"}, []string{"server.sh:1 dynamic", "tools.json:1 no-function"}},
	{"a file that is sourced, with a fault", files{"server.sh": "source ./lib.sh\ntool_t() { :; }\n", "lib.sh": "f() {\n  if true; then\n}\n"}, []string{"lib.sh:3 syntax"}},
	{"what is smelled in a file that is sourced", files{"server.sh": "source ./lib.sh\n", "lib.sh": "tool_t() { eval \"$arg_text\"; }\n"}, []string{"lib.sh:1 eval"}},
	{"a test at the end", files{"server.sh": "tool_t() { :; }\n[[ -n $HOME ]] && cd\n"}, []string{"server.sh:2 last-command"}},
	{"a test at the end, as a command", files{"server.sh": "tool_t() { :; }\nfor f in *; do [ -f \"$f\" ] && : \"$f\"; done\n"}, []string{"server.sh:2 last-command"}},
	{"arithmetic at the end", files{"server.sh": "tool_t() { :; }\n((SECONDS))\n"}, []string{"server.sh:2 last-command"}},
	{"a test at the end, with something else to do", files{"server.sh": "tool_t() { :; }\n[[ -n $HOME ]] && cd || true\n"}, nil},
	{"an if at the end", files{"server.sh": "tool_t() { :; }\nif [[ -n $HOME ]]; then cd; fi\n"}, nil},
	{"a test in front of the end", files{"server.sh": "[[ -n $HOME ]] && cd\ntool_t() { :; }\n"}, nil},
	{"a test at the end of a tool", files{"server.sh": "tool_t() {\n  [[ -n $arg_text ]] && echo x\n}\n"}, []string{"server.sh:2 last-command"}},
	{"a test of a status at the end of a tool", files{"server.sh": "tool_t() {\n  date && return\n  (($? == 1)) && echo x\n}\n"}, nil},
	{"a test at the end of another function", files{"server.sh": "f() { [[ -n $1 ]] && echo x; }\ntool_t() { f x; echo; }\n"}, nil},
	{"a pipeline at the end of a tool", files{"server.sh": "tool_t() {\n  grep x file | tail -n 3\n}\n"}, []string{"server.sh:2 pipeline-status"}},
	{"a pipeline with pipefail", files{"server.sh": "set -o pipefail\ntool_t() {\n  grep x file | tail -n 3\n}\n"}, nil},
	{"a pipeline that is cut", files{"server.sh": "tool_t() {\n  grep x file | head -n 3\n}\n"}, nil},
	{"a pipeline of a builtin", files{"server.sh": "tool_t() {\n  printf x | wc\n}\n"}, nil},
	{"test cases with a fault", files{"server.test.yaml": "- name: a\n  tool: t\n  expekt: {}\n"}, []string{"server.test.yaml:3 test-cases"}},
	{"test cases", files{"server.test.yaml": "- name: a\n  tool: t\n  expect: {text: a}\n"}, nil},

	// Lists.
	{"no list", files{"tools.json": ""}, []string{"server.sh:0 list"}},
	{"a list that ends too early", files{"tools.json": "{\"tools\":[\n{\"name\":\n"}, []string{"tools.json:2 list"}},
	{"a list with a comma too many", files{"tools.json": "{\"tools\":[\n],\n}"}, []string{"tools.json:3 list"}},
	{"a list that is none", files{"tools.json": "[]"}, []string{"tools.json:1 list"}},
	{"a list that is not UTF-8", files{"tools.json": "{\"tools\":[]\n,\"a\":\"\xff\"}"}, []string{"tools.json:2 list"}},
	{"a list of another type", files{"tools.json": `{"tools":{}}`}, []string{"tools.json:1 list"}},
	{"a list without tools", files{"tools.json": `{}`}, []string{"tools.json:1 list", "server.sh:2 not-declared"}},
	{"a tool without a function", files{"server.sh": "tool_tt() { :; }\n"}, []string{"tools.json:1 no-function", "server.sh:1 not-declared"}},
	{"a function within a condition", files{"server.sh": "if true; then tool_t() { :; }; fi\n"}, nil},
	{"a function with the word", files{"server.sh": "function tool_t { :; }\n"}, nil},
	{"a cancel hook", files{"server.sh": "tool_t() { :; }\ntool_t_cancel() { :; }\n"}, nil},
	{"a cancel hook of nothing", files{"server.sh": "tool_t() { :; }\ntool_u_cancel() { :; }\n"}, []string{"server.sh:2 not-declared"}},
	{"a tool twice", files{"tools.json": `{"tools":[{"name":"t","description":"a","inputSchema":{"type":"object"}},` + "\n" + `{"name":"t","description":"a","inputSchema":{"type":"object"}}]}`}, []string{"tools.json:2 duplicate"}},
	{"an entry that is none", files{"tools.json": `{"tools":[` + "\n7]}"}, []string{"tools.json:2 list-entry", "server.sh:2 not-declared"}},
	{"an entry without inputSchema", files{"tools.json": `{"tools":[{"name":"t","description":"a"}]}`}, []string{"tools.json:1 list-entry"}},
	{"a list that the script names", files{"server.sh": "here=$(cd \"$(dirname \"$0\")\" && pwd)\nexport MCP_TOOLS_LIST_FILE=$here/other.json\ntool_t() { :; }\n", "tools.json": "7", "other.json": entry(`"inputSchema":{"type":"object"}`)}, nil},
	{"a list that is not where the script says", files{"server.sh": "MCP_TOOLS_LIST_FILE=/nowhere/other.json\ntool_t() { :; }\n"}, []string{"server.sh:0 list"}},
	{"lists in the assets of another framework", files{"server.sh": "source \"$(dirname \"${BASH_SOURCE[0]}\")/mcpserver_core.sh\"\ntool_t() { :; }\nrun_mcp_server\n", "tools.json": "", "config.json": "", "assets/tools_list.json": entry(`"inputSchema":{"type":"object"}`), "assets/mcpserverconfig.json": "{}"}, nil},
	{"no description of the server", files{"config.json": ""}, []string{"server.sh:0 config"}},
	{"a description that is no JSON", files{"config.json": "{\n\"a\"}"}, []string{"config.json:2 config"}},
	{"a description with a member of the wrong type", files{"config.json": "{\n\"ttlMs\":\"7\"}"}, []string{"config.json:2 config"}},
	{"a description with a member misspelled", files{"config.json": "{\n\"serverinfo\":{\"name\":\"a\"}}"}, []string{"config.json:2 keyword"}},
	{"a resource without a function", files{"resources.json": `{"resources":[{"uri":"a://b","name":"b"}]}`}, []string{"resources.json:1 no-function"}},
	{"a resource without a file", files{"resources.json": `{"resources":[{"uri":"a://b","name":"b","file":"b.md"}]}`}, []string{"resources.json:1 no-file"}},
	{"a resource with a file", files{"resources.json": `{"resources":[{"uri":"a://b","name":"b","file":"b.md"}]}`, "b.md": "b"}, nil},
	{"a resource twice", files{"resources.json": `{"resources":[{"uri":"a://b","name":"b","file":"b.md"},` + "\n" + `{"uri":"a://b","name":"c","file":"b.md"}]}`, "b.md": "b"}, []string{"resources.json:2 duplicate"}},
	{"what is smelled in a resource", files{"server.sh": "tool_t() { :; }\nresource_b() { cat \"$arg_x\"; }\n", "resources.json": `{"resourceTemplates":[{"uriTemplate":"a://{x}","name":"b"}]}`}, []string{"server.sh:2 option"}},
	{"a prompt without a function", files{"prompts.json": `{"prompts":[{"name":"p","description":"a"}]}`}, []string{"prompts.json:1 no-function"}},
	{"a prompt", files{"server.sh": "tool_t() { :; }\nprompt_p() { :; }\n", "prompts.json": `{"prompts":[{"name":"p","description":"a"}]}`}, nil},
	{"a prompts list with a fault", files{"prompts.json": "{\"prompts\":[\n"}, []string{"prompts.json:1 list"}},

	// What models and clients see.
	{"a name that clients refuse", files{"server.sh": "tool_t() { :; }\n", "tools.json": `{"tools":[{"name":"t:u","description":"a","inputSchema":{"type":"object"}}]}`}, []string{"tools.json:1 no-function", "tools.json:1 tool-name", "server.sh:1 not-declared"}},
	{"a tool without a description", files{"tools.json": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`}, []string{"tools.json:1 description"}},
	{"a tool with a description of blanks", files{"tools.json": `{"tools":[{"name":"t","description":" ","inputSchema":{"type":"object"}}]}`}, []string{"tools.json:1 description"}},
	{"an argument without a description", files{"tools.json": input(`{"type":"string"}`)}, []string{"tools.json:2 description"}},
	{"an argument described elsewhere", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/d"}},"$defs":{"d":{"description":"a"}}}`)}, nil},
	{"a schema that is none", files{"tools.json": input(`{"description":"a","type":"strin"}`)}, []string{"tools.json:2 schema"}},
	{"a schema that leads elsewhere", files{"tools.json": input(`{"description":"a","$ref":"other.json"}`)}, []string{"tools.json:2 schema"}},
	{"a default outside of its enum", files{"tools.json": input(`{"description":"a","enum":["b"],"default":"c"}`)}, []string{"tools.json:2 default"}},
	{"a default of another type", files{"tools.json": input(`{"description":"a","type":"string","default":3}`)}, []string{"tools.json:2 default"}},
	{"a default", files{"tools.json": input(`{"description":"a","type":"integer","minimum":1,"default":3}`)}, nil},
	{"a default of a type that is defined elsewhere", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/d","description":"a","default":"b"}},"$defs":{"d":{"type":"integer"}}}`)}, []string{"tools.json:2 default"}},
	{"schemas that refer to each other", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/d","description":"a"}},"$defs":{"d":{"type":"object","properties":{"y":{"anyOf":[{"$ref":"#/$defs/e"},{"$ref":"#/$defs/e"}]}},"required":["y"]},"e":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/d"},{"$ref":"#/$defs/e"}]}}}}`)}, nil},
	{"a keyword of another language", files{"tools.json": input(`{"description":"a","type":"integer","min":3}`)}, []string{"tools.json:2 keyword"}},
	{"code that is nested too deep", files{"server.sh": "tool_t() { " + strings.Repeat("{ ", 3000) + ":" + strings.Repeat("; }", 3000) + "; }\n"}, []string{"server.sh:1 unread"}},
	{"an example outside of its bounds", files{"tools.json": input(`{"description":"a","type":"integer","minimum":1,"examples":[1,0]}`)}, []string{"tools.json:2 example"}},
	{"a value of an enum that is of another type", files{"tools.json": input(`{"description":"a","type":"string","enum":["a",1]}`)}, []string{"tools.json:2 enum-value"}},
	{"something required that there is not", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"description":"a"}},"required":["y"]}`)}, []string{"tools.json:2 required"}},
	{"something required, and described by another schema", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"description":"a"}},"required":["y"],"allOf":[{"properties":{"y":{"type":"string"}}}]}`)}, nil},
	{"a keyword misspelled", files{"tools.json": input(`{"description":"a","type":"string","maxLenght":3}`)}, []string{"tools.json:2 keyword"}},
	{"a member of the entry misspelled", files{"tools.json": entry(`"input_schema":{"type":"object"}`)}, []string{"tools.json:1 list-entry", "tools.json:2 keyword"}},
	{"a member that is somebody's own", files{"tools.json": entry(`"inputSchema":{"type":"object","x-order":1},"vendor":1`)}, nil},
	{"a name that is no variable's", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x-y":{"description":"a"}}}`)}, []string{"tools.json:2 no-variable"}},
	{"a hint that is neither true nor false", files{"tools.json": entry(`"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}`)}, []string{"tools.json:2 annotations"}},
	{"hints", files{"tools.json": entry(`"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"T"}`)}, nil},
	{"a hint misspelled", files{"tools.json": entry(`"inputSchema":{"type":"object"},"annotations":{"readonlyHint":true}`)}, []string{"tools.json:2 keyword"}},
	{"a header that is none", files{"tools.json": input(`{"description":"a","type":"string","x-mcp-header":"a b"}`)}, []string{"tools.json:2 header"}},
	{"bounds that nothing is within", files{"tools.json": input(`{"description":"a","type":"integer","minimum":2,"maximum":1}`)}, []string{"tools.json:2 never-met"}},
	{"a required argument that nothing is good for", files{"tools.json": entry(`"inputSchema":{"type":"object","properties":{"x":{"description":"a","type":"string","enum":[1]}},"required":["x"]}`)}, []string{"tools.json:2 enum-value", "tools.json:2 never-met", "tools.json:2 never-met"}},
	{"an outputSchema that is false", files{"tools.json": output("false")}, []string{"tools.json:1 list-entry", "tools.json:2 never-met"}},
	{"an outputSchema with types that exclude each other", files{"tools.json": output(`{"type":"object","allOf":[{"type":"string"}]}`)}, []string{"tools.json:2 never-met"}},
	{"an outputSchema of no alternative", files{"tools.json": output(`{"type":"object","anyOf":[false,{"type":"object","properties":{"a":{"enum":[]}},"required":["a"]}]}`)}, []string{"tools.json:2 never-met"}},
	{"an outputSchema", files{"tools.json": output(`{"type":"object","anyOf":[false,{"properties":{"a":{"type":"string"}}}]}`)}, nil},
	{"an outputSchema for the newest alone", files{"tools.json": output(`{"type":"array"}`)}, []string{"tools.json:2 output-schema-type"}},
	{"an outputSchema that is none", files{"tools.json": output(`{"type":"objekt"}`)}, []string{"tools.json:2 output-schema"}},
	{"an outputSchema, and sentences", files{"server.sh": "tool_t() {\n  local x=1\n  echo \"Done with $x.\"\n}\n", "tools.json": output(`{"type":"object"}`)}, []string{"tools.json:2 never-met"}},
	{"an outputSchema, and JSON", files{"server.sh": "tool_t() {\n  echo \"{}\"\n}\n", "tools.json": output(`{"type":"object"}`)}, nil},
	{"an outputSchema, and something unknown", files{"server.sh": "tool_t() {\n  echo 'Done.'; finish\n}\n", "tools.json": output(`{"type":"object"}`)}, nil},

	// Smells get what the schema says.
	{"an argument in eval", files{"server.sh": "tool_t() {\n  eval \"$arg_text\"\n}\n"}, []string{"server.sh:2 eval"}},
	{"an argument in eval, on purpose", files{"server.sh": "tool_t() {\n  # conch-check disable=eval\n  eval \"$arg_text\"\n}\n"}, nil},
	{"an argument in eval, on purpose, in the line", files{"server.sh": "tool_t() {\n  eval \"$arg_text\" # conch-check disable=all\n}\n"}, nil},
	{"a comment too far above", files{"server.sh": "tool_t() {\n  # conch-check disable=eval\n  :\n  eval \"$arg_text\"\n}\n"}, []string{"server.sh:4 eval"}},
	{"an argument that no schema has", files{"server.sh": "tool_t() {\n  eval \"$arg_other\"\n}\n"}, []string{"server.sh:2 unknown-argument"}},
	{"an argument that the schema limits", files{"server.sh": "tool_t() {\n  eval \"$arg_x\"\n}\n", "tools.json": input(`{"description":"a","enum":["a","b"]}`)}, nil},
	{"a function without an entry", files{"server.sh": "tool_t() { :; }\ntool_u() { eval \"$arg_x\"; }\n"}, []string{"server.sh:2 eval", "server.sh:2 not-declared"}},
	{"a hook before calls", files{"server.sh": "tool_t() { :; }\nmcp_before_tool_call() { eval \"$2\"; }\n"}, []string{"server.sh:2 eval"}},
	{"smells, whatever the list", files{"server.sh": "tool_t() { eval \"$arg_x\"; }\n", "tools.json": "{"}, []string{"tools.json:1 list", "server.sh:1 eval"}},

	// Tags.
	{"tags with a fault", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --x[a|b Way\ngo() { :; }\n"}, []string{"server.sh:2 tags"}},
	{"tags", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --way[a|b] Way\n# @arg times <INT> Times\ngo() { echo $argc_way $argc_times $1; }\n"}, nil},
	{"tags without descriptions", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd\n# @flag --fast\ngo() { :; }\n"}, []string{"server.sh:1 description", "server.sh:2 description"}},
	{"an argument of tags in eval", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --way Way\ngo() { eval \"$argc_way\"; }\n"}, []string{"server.sh:3 eval"}},
	{"a positional argument of tags in eval", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @arg way Way\ngo() { eval \"$1\"; }\n"}, []string{"server.sh:3 eval"}},
	{"a variable that is missing", files{"tools.json": "", "config.json": "", "server.sh": "# @env GONE! What\n# @env THERE! What\n# @env OTHER What\n# @cmd Go\ngo() { :; }\n"}, []string{"server.sh:1 missing-env"}},
	{"a variable in the file of variables", files{"tools.json": "", "config.json": "", ".env": "GONE=1\n", "server.sh": "# @meta dotenv\n# @env GONE! What\n# @cmd Go\ngo() { :; }\n"}, nil},
	{"programs", files{"tools.json": "", "config.json": "", "server.sh": "# @meta require-tools there gone\n# @cmd Go\ngo() { :; }\n"}, []string{"server.sh:1 missing-program"}},
	{"programs of a listed script", files{"server.sh": "# @meta require-tools gone\ntool_t() { :; }\n"}, []string{"server.sh:1 missing-program"}},
	{"a schema in tags", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --x <JSON> A\n# @schema x {\"type\": \"strin\"}\ngo() { :; }\n"}, []string{"server.sh:3 tags"}},
	{"an outputSchema in a file", files{"tools.json": "", "config.json": "", "out.json": "{\n", "server.sh": "# @cmd Go\n# @meta output-schema out.json\ngo() { :; }\n"}, []string{"out.json:1 output-schema"}},
	{"an outputSchema in no file", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @meta output-schema out.json\ngo() { :; }\n"}, []string{"server.sh:2 no-file"}},
	{"a list and tags that differ", files{"server.sh": "# @cmd Other\n# @option --text What\ntool_t() { :; }\n"}, []string{"tools.json:1 list-and-tags"}},
	{"a list and tags that agree", files{"server.sh": "# @cmd Tell.\n# @option --text What\ntool_t() { :; }\n"}, nil},
	{"a list and tags that differ, of a function with a name of its own", files{"server.sh": "# @cmd Other\n# @option --text What\nt() { :; }\n"}, []string{"tools.json:1 list-and-tags"}},
	{"tags and a description of the server", files{"tools.json": "", "config.json": "{", "server.sh": "# @cmd Go\ngo() { :; }\n"}, []string{"config.json:1 config"}},
	{"a list without tools", files{"server.sh": ":\n", "tools.json": `{"tools":[]}`}, nil},
	{"a script of another shell, which Bash runs", files{"tools.json": "", "config.json": "", "server.sh": "#!/usr/bin/env dash\n# @cmd Go\n# @option --x What\ngo() { eval \"$argc_x\"; }\n"}, []string{"server.sh:4 eval"}},
	{"a file of variables that is none", files{"tools.json": "", "config.json": "", "vars": "A='\n", "server.sh": "# @meta dotenv vars\n# @cmd Go\ngo() { :; }\n"}, []string{"server.sh:1 no-file"}},
	{"a program that is there", files{"server.sh": ":\n", "tools.json": entry(`"inputSchema":{"type":"object"},"exec":["sh","-c","date"],"environment":"minimal"`)}, nil},
	{"a program that is not there", files{"server.sh": ":\n", "tools.json": entry(`"inputSchema":{"type":"object"},"exec":["./gone"]`)}, []string{"tools.json:2 missing-program"}},
	{"a program that is none", files{"server.sh": ":\n", "tools.json": entry(`"inputSchema":{"type":"object"},"exec":"sh"`)}, []string{"tools.json:1 list-entry"}},
	{"an argument misspelled", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --max-lines <INT> What\ngo() {\n  echo \"$argc_maxlines\"\n}\n"}, []string{"server.sh:4 unknown-argument"}},
	{"an argument misspelled, in arithmetic", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --max-lines <INT> What\ngo() {\n  echo $((argc_maxlines))\n}\n"}, []string{"server.sh:4 unknown-argument"}},
	{"an argument of another tool", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --a What\ngo() { echo \"$argc_a\"; }\n# @cmd Come\ncome() { echo \"$argc_a\"; }\n"}, []string{"server.sh:5 unknown-argument"}},
	{"arguments in a helper", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --a What\ngo() { help; }\nhelp() { echo \"$argc_a\"; }\n"}, nil},
	{"an argument of no tool in a helper", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --a What\ngo() { help; }\nhelp() { echo \"${argc_other:-x}\"; }\n"}, []string{"server.sh:4 unknown-argument"}},
	{"an argument as lists have it, of tags", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --a What\ngo() { echo \"$arg_a\"; }\n"}, []string{"server.sh:3 unknown-argument"}},
	{"what is named like an argument and set", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\ngo() {\n  local argc_x=1 argc_y argc_z\n  read -r argc_y; for argc_z in 1; do echo \"$argc_x$argc_y$argc_z$argc__fn\"; done\n}\n"}, nil},
	{"an argument of the whole server", files{"tools.json": "", "config.json": "", "server.sh": "# @option --deep What\n# @cmd Go\ngo() { echo \"$argc_deep\"; }\n"}, nil},
	{"an argument misspelled, of a list", files{"server.sh": "tool_t() {\n  echo \"$arg_txet\"\n}\n"}, []string{"server.sh:2 unknown-argument"}},
	{"an argument of a list that is open", files{"server.sh": "tool_t() {\n  echo \"$arg_other\"\n}\n", "tools.json": entry(`"inputSchema":{"type":"object"}`)}, nil},
	{"an indented tag", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n  # @option --x What\ngo() { :; }\n"}, []string{"server.sh:2 near-tag"}},
	{"a tag with a blank", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @ option --x What\ngo() { :; }\n"}, []string{"server.sh:2 near-tag"}},
	{"a tag in capitals", files{"tools.json": "", "config.json": "", "server.sh": "# @Cmd Go\ngo() { :; }\n"}, []string{"server.sh:0 list", "server.sh:1 near-tag"}},
	{"a tag in capitals, among tags", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\ngo() { :; }\n# @Cmd Come\ncome() { :; }\n"}, []string{"server.sh:3 tags"}},
	{"another tool's comments beside a list", files{"server.sh": "# @param x\ntool_t() { :; }\n"}, nil},
	{"a private command", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n_go() { :; }\n# @cmd Come\ncome() { :; }\n"}, []string{"server.sh:1 not-declared"}},
	{"arguments where nothing is declared", files{"tools.json": "{", "server.sh": "go() { echo \"$argc_x $arg_x\"; }\n"}, []string{"tools.json:1 list"}},
	{"a function of a tool without a tag", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\ncome() { :; }\ntool_go() { :; }\n"}, []string{"server.sh:3 not-declared"}},
	{"a cancel hook of tags", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\ntool_come() { :; }\ntool_come_cancel() { :; }\n"}, nil},
	{"notations of other languages", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\n# @option --a <INTEGER> A\n# @option --b <bool> B\n# @option --c <ARRAY> C\ncome() { :; }\n"}, []string{"server.sh:2 notation", "server.sh:3 notation", "server.sh:4 notation"}},
	{"notations", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\n# @option --a <INT> A\n# @option --b <STRING> B\n# @option --c* <LIST> C\n# @option --d <NUMBER> D\n# @schema d {\"type\": \"number\"}\ncome() { :; }\n"}, nil},
	{"notations, choices and defaults that are only text", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\n# @option --a   <INT>  A\n# @option --b  [x|y]  B\n# @option --c! = 3  C\n# @flag --d <BOOL> D\n# @option --e  !  E\ncome() { :; }\n"}, []string{"server.sh:2 notation", "server.sh:3 notation", "server.sh:4 notation", "server.sh:5 notation", "server.sh:6 notation"}},
	{"texts that only resemble them", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Come\n# @option --a  [see the manual] A\n# @option --b  <3 for love\n# @option --c  !important\n# @flag --d All of <it>\ncome() { :; }\n"}, nil},
	{"no tools at all", files{"tools.json": "", "server.sh": "go() { :; }\n"}, []string{"server.sh:0 list"}},
	{"both kinds of arguments", files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --x What\ntool_go() { eval \"$arg_x\"; eval \"$argc_x\"; }\n"}, []string{"server.sh:3 eval", "server.sh:3 eval"}},
	{"a list and tags, each with a tool", files{"server.sh": "# @cmd Tell.\n# @option --a What\ntool_u() { :; }\ntool_t() { :; }\n"}, nil},
}

// lay writes a server's files into a directory of their own; one that is "" is
// left out.
func lay(t *testing.T, changed files) (dir string) {
	t.Helper()
	dir = t.TempDir()
	all := files{}
	for name, text := range server {
		all[name] = text
	}
	for name, text := range changed {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") && !strings.Contains(text, "env conch") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// options are those of a machine where little depends on chance.
func options(t *testing.T) check.Options {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	return check.Options{
		Bash: bash, Revisions: message.Revisions(), Disabled: []string{"no-shellcheck"},
		Getenv: func(name string) (string, bool) { return "x", name == "THERE" },
		Find: func(program string) bool {
			return slices.Contains([]string{"there", "python3", "node", "lua"}, program)
		},
	}
}

func run(t *testing.T, o check.Options, targets ...string) check.Result {
	t.Helper()
	result, err := check.Check(context.Background(), targets, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// told is what was found, as examples have it, sorted.
func told(result check.Result, dir string) (list []string) {
	for _, f := range result.Findings {
		name, err := filepath.Rel(dir, f.File)
		if err != nil {
			name = f.File
		}
		list = append(list, fmt.Sprintf("%s:%d %s", name, f.Line, f.Rule))
	}
	slices.Sort(list)
	return list
}

func TestEachRuleWithWhatBreaksItAndWhatDoesNot(t *testing.T) {
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			dir := lay(t, example.files)
			result := run(t, options(t), filepath.Join(dir, "server.sh"))
			want := slices.Clone(example.want)
			slices.Sort(want)
			if got := told(result, dir); !slices.Equal(got, want) {
				t.Errorf("found %q, not %q:\n%+v", got, want, result.Findings)
			}
			for _, f := range result.Findings {
				if f.Message == "" || strings.HasSuffix(f.Message, ".") || f.Line > 0 && f.Source == "" && f.Rule != "syntax" && f.Rule != "list" {
					t.Errorf("a finding lacks something, or has too much: %+v", f)
				}
			}
		})
	}
}

// What shellcheck calls an error is one here only where it cannot read the code.
func TestWhatShellcheckSaysHasASeverityOfItsOwn(t *testing.T) {
	dir := lay(t, files{"shellcheck": "#!/bin/sh\n" + `echo '{"comments": [
  {"line": 1, "column": 1, "level": "error", "code": 1073, "message": "a"},
  {"line": 1, "column": 1, "level": "error", "code": 2145, "message": "b"},
  {"line": 1, "column": 1, "level": "warning", "code": 2034, "message": "c"},
  {"line": 1, "column": 1, "level": "info", "code": 2086, "message": "d"}]}'` + "\n"})
	o := options(t)
	o.Shellcheck = filepath.Join(dir, "shellcheck")
	var got []string
	for _, f := range run(t, o, filepath.Join(dir, "server.sh")).Findings {
		got = append(got, fmt.Sprintf("%s %s", f.Rule, f.Severity))
	}
	if want := []string{"SC1073 error", "SC2145 warning", "SC2034 warning", "SC2086 note"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// What to write instead is said in the words of what describes the tools.
func TestRemediesAreOfTagsOrOfLists(t *testing.T) {
	code := "{\n  ((%[1]stext > 1))\n  \"$%[1]stext\"\n  cat \"x/$%[1]stext\"\n}\n"
	tagged := files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @option --text What\ngo() " + fmt.Sprintf(code, "argc_")}
	listed := files{"server.sh": "tool_t() " + fmt.Sprintf(code, "arg_")}
	for name, example := range map[string]struct {
		files files
		want  []string
	}{
		"tags": {tagged, []string{"write <INT> behind text in its tag", "text[a|b]", `# @schema text {"pattern": `}},
		"list": {listed, []string{`"type": "integer" in its schema`, `an "enum" in its schema`, `a "pattern" in its schema`}},
	} {
		dir := lay(t, example.files)
		found := run(t, options(t), filepath.Join(dir, "server.sh")).Findings
		if len(found) != len(example.want) {
			t.Fatalf("%s: %+v", name, found)
		}
		for i, want := range example.want {
			if !strings.Contains(found[i].Safer, want) {
				t.Errorf("%s: %q is not in %q", name, want, found[i].Safer)
			}
		}
	}
}

// Every rule has an example, so that none is there that nothing breaks.
func TestEveryRuleHasAnExample(t *testing.T) {
	// TestFoldersThatAreNotServed has program.
	broken := map[string]bool{"no-shellcheck": true, "program": true}
	for _, example := range examples {
		for _, want := range example.want {
			broken[want[strings.LastIndexByte(want, ' ')+1:]] = true
		}
	}
	smells := []string{"shell-code", "remote-code", "sourced-file", "command-name", "program-text", "arithmetic", "variable-name", "unquoted", "format", "path"}
	for _, r := range check.Rules() {
		if !broken[r.ID] && !slices.Contains(smells, r.ID) {
			t.Errorf("no example breaks %s", r.ID)
		}
	}
}

func TestNothingIsRun(t *testing.T) {
	dir := lay(t, nil)
	mark := filepath.Join(dir, "ran")
	script := "touch '" + mark + "'\n$(touch '" + mark + "')\ntool_t() { :; }\nMCP_TOOLS_LIST_FILE=$(touch '" + mark + "'; echo tools.json)\n"
	if err := os.WriteFile(filepath.Join(dir, "server.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BASH_ENV", filepath.Join(dir, "server.sh"))
	run(t, options(t), filepath.Join(dir, "server.sh"))
	if _, err := os.Stat(mark); err == nil {
		t.Error("the script was run")
	}
}

func TestPlacesAreExact(t *testing.T) {
	dir := lay(t, files{
		"server.sh":  "tool_t() {\n\techo \"ü\"; eval \"$arg_text\"\n}\n",
		"tools.json": "{\n  \"tools\": [\n    { \"name\": \"t\", \"description\": \"ü\", \"inputSchema\": { \"type\": \"object\", \"x\": \"ü\", \"maximun\": 1 } }\n  ]\n}\n",
	})
	result := run(t, options(t), filepath.Join(dir, "server.sh"))
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%s:%d:%d-%d:%d", f.Rule, f.Line, f.Column, f.EndLine, f.EndColumn))
	}
	want := []string{"eval:2:17-2:28", "keyword:3:85-3:97"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestFolders(t *testing.T) {
	dir := lay(t, files{
		"tagged.sh":      "# @cmd Go\n# @option --way\ngo() { :; }\n",
		"fetch.py":       "#!/usr/bin/env python3\n# @describe Fetch\n# @option --url!\nprint('# @cmd none of ours')\n",
		"find.js":        "#!/usr/bin/env node\n// @describe Find\n// @option --text! What\nit's\n",
		"broken.lua":     "#!/usr/bin/env lua\n-- @describe Break\n-- @option --x[\n",
		"module.py":      "# @option --not-a-script\n",
		"helper.sh":      "helper() { eval \"$1\"; }\n",
		"README.md":      "# @option in a text\n",
		".hidden/x.sh":   "# @cmd Hidden\n",
		"sub/deep.sh":    "# @cmd Deep\ndeep() { eval \"$argc_x\"; }\n",
		"sub/README.txt": "# @cmd\n",
		"sub/module.py":  "# @option --not-a-script\n",
		"linted.js":      "#!/usr/bin/env node\n// @ts-check\n// @describe Lint\n",
	})
	result := run(t, options(t), dir)
	want := []string{"broken.lua:3 tags", "fetch.py:3 description", "module.py:1 program", "sub/deep.sh:2 unknown-argument", "tagged.sh:2 description"}
	if got := told(result, dir); !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
	if result.Tools != 6 {
		t.Errorf("%d tools, not 6", result.Tools)
	}
}

// What conch serve does not serve of a folder, or refuses it for, is told.
func TestFoldersThatAreNotServed(t *testing.T) {
	none := files{"server.sh": "", "tools.json": "", "config.json": ""}
	for name, example := range map[string]struct {
		files files
		want  []string
	}{
		"a tool in two files":                           {files{"a.sh": "# @cmd Go\ngo() { :; }\n", "b.sh": "# @cmd Go\n\ngo() { :; }\n"}, []string{"b.sh:1 duplicate error"}},
		"a tool in two files of a folder in it":         {files{"sub/a.sh": "# @cmd Go\ngo() { :; }\n", "sub/b.sh": "# @cmd Go\ngo() { :; }\n"}, []string{"sub/b.sh:1 duplicate warning"}},
		"a script and a program of one name":            {files{"go.sh": "# @cmd Go\ngo() { :; }\n", "go.py": "#!/usr/bin/env python3\n# @describe Go\n"}, []string{"go.sh:1 duplicate error"}},
		"tools of several names":                        {files{"a.sh": "# @cmd Go\ngo() { :; }\n", "sub/b.sh": "# @cmd Go\ngo() { :; }\n"}, nil},
		"a program that cannot be executed":             {files{"a.py": "# @describe Go\n"}, []string{"a.py:1 program error"}},
		"a program with a @cmd":                         {files{"a.py": "#!/usr/bin/env python3\n# @cmd Go\n# @describe Go\ndef go(): pass\n"}, []string{"a.py:2 program error"}},
		"a program of an interpreter that is not there": {files{"a.rb": "#!/usr/bin/env ruby\n# @describe Go\n"}, []string{"a.rb:1 missing-program warning"}},
		"a program with an environment that is none":    {files{"a.py": "#!/usr/bin/env python3\n# @describe Go\n# @meta environment =x\n"}, []string{"a.py:3 program error"}},
		"a script that nobody knows for one":            {files{"greet": "# @cmd Greet\ngreet() { :; }\n"}, []string{"greet:1 program warning"}},
		"a configuration that is none":                  {files{"a.sh": "# @cmd Go\ngo() { :; }\n", "config.json": "{"}, []string{"config.json:1 config error"}},
		"a list of programs and no script":              {files{"tools.json": `{"tools":[{"name":"d","description":"Do","inputSchema":{"type":"object"},"exec":["./gone"]}]}`}, []string{"tools.json:1 missing-program warning"}},
		"a program with an environment":                 {files{"a.py": "#!/usr/bin/env python3\n# @describe Go\n# @meta environment minimal\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := maps.Clone(none)
			maps.Copy(all, example.files)
			dir := lay(t, all)
			var got []string
			for _, f := range run(t, options(t), dir).Findings {
				file, _ := filepath.Rel(dir, f.File)
				got = append(got, fmt.Sprintf("%s:%d %s %s", file, f.Line, f.Rule, f.Severity))
			}
			if !slices.Equal(got, example.want) {
				t.Errorf("found %q, not %q", got, example.want)
			}
		})
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	dir := lay(t, files{"binary": "\x7fELF\x00", "two/server.sh": "tool_t() { :; }\n", "two/tools.json": `{"tools":[]}`, "none/a.md": "a"})
	o := options(t)
	for target, want := range map[string]string{
		"gone.sh": "there is no such file", "binary": "neither a Bash script", "tools.json": "neither a Bash script", "none": "there is nothing to check below",
	} {
		if _, err := check.Check(context.Background(), []string{filepath.Join(dir, target)}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", target, err, want)
		}
	}
	o.Tools = "tools.json"
	if _, err := check.Check(context.Background(), []string{dir}, o); err == nil || !strings.Contains(err.Error(), "are for one script") {
		t.Errorf("--tools for several: %v", err)
	}
}

func TestTheExamplesRaiseNoAlarm(t *testing.T) {
	o := options(t)
	o.Find, o.Getenv = func(string) bool { return true }, func(string) (string, bool) { return "", false }
	o.Shellcheck, _ = exec.LookPath("shellcheck")
	result := run(t, o, "../../examples")
	for _, f := range result.Findings {
		if f.Severity > check.Note {
			t.Errorf("%s:%d:%d: %s: %s [%s]", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
		}
	}
	if result.Tools < 20 {
		t.Errorf("only %d tools were looked at", result.Tools)
	}
}

// What others write in tags has no errors, and what is warned of is there.
func TestTagsOfOthersRaiseNoErrors(t *testing.T) {
	scripts, err := filepath.Glob("../tags/testdata/*.script")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	o := options(t)
	o.Find, o.Getenv = func(string) bool { return true }, func(name string) (string, bool) { return "x", name == "TIDES_KEY" }
	for _, f := range run(t, o, scripts...).Findings {
		if f.Severity == check.Error || f.Severity == check.Warning && !slices.Contains([]string{"description", "option", "not-declared"}, f.Rule) {
			t.Errorf("%s:%d:%d: %s: %s [%s]", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
		}
	}
}

// What is in files of the machine that a script names is not for a report.
func TestOnlyLinesOfTheTargetsAreShown(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2 ]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := lay(t, files{"tools.json": "", "config.json": "", "server.sh": "# @cmd Go\n# @meta output-schema " + secret + "\ngo() { :; }\n"})
	result := run(t, options(t), filepath.Join(dir, "server.sh"))
	if len(result.Findings) != 1 || strings.Contains(fmt.Sprint(result), "hunter2") {
		t.Errorf("found %+v", result.Findings)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "resources.json")); err != nil {
		t.Fatal(err)
	}
	if result = run(t, options(t), filepath.Join(dir, "server.sh")); len(result.Findings) != 2 || strings.Contains(fmt.Sprint(result), "hunter2") {
		t.Errorf("found %+v", result.Findings)
	}
}
