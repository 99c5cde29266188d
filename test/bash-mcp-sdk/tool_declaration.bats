#!/usr/bin/env bats
# Only a tool that the list declares once, with a schema, and that a function
# of the shell implements is called.
#
# The drop-in file calls the tools.
# shellcheck disable=SC2317

load helpers/common
load helpers/client

setup() {
  common_setup
  export MARKER="$BATS_TEST_TMPDIR/ran"
  source_core
}

tool_x() {
  printf 'x done\n'
  : >"$MARKER"
}

# assert_refused TEXT calls x, wants that text as its error, and that nothing
# ran.
assert_refused() {
  pr "$(call_line 1 x)"
  assert_err_text "$1"
  refute [ -e "$MARKER" ]
}

# assert_not_found TOOL calls a tool and wants none to be found, nor to run.
assert_not_found() {
  pr "$(call_line 1 "$1")"
  assert_error -32601 "Tool not found: $1"
  refute [ -e "$MARKER" ]
}

# executable NAME puts a program first on PATH that says when it was run.
executable() {
  mkdir -p "$WORK/bin"
  # shellcheck disable=SC2016 # The program expands it.
  printf '%s\n' '#!/bin/sh' ': >"$MARKER"' >"$WORK/bin/$1"
  chmod +x "$WORK/bin/$1"
  PATH="$WORK/bin:$PATH"
}

@test "295 a declared tool with a function is called" {
  write_tools '{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}'
  pr "$(call_line 1 x)"
  assert_ok_text 'x done'
  assert [ -e "$MARKER" ]
}

@test "296 a function that no entry declares is no tool" {
  assert_not_found x
}

@test "297 a cancel hook is no tool" {
  write_tools '{"tools":[{"name":"foo","inputSchema":{"type":"object"}}]}'
  tool_foo() { :; }
  tool_foo_cancel() { : >"$MARKER"; }
  assert_not_found foo_cancel
}

@test "298 a name that no function could have is refused before the list is read" {
  pr "$(call_line 1 a-b)"
  assert_error -32602 'Invalid tool name: a-b'
}

@test "299 an entry without inputSchema" {
  write_tools '{"tools":[{"name":"x"}]}'
  assert_refused "Cannot validate arguments for x: its entry in $MCP_TOOLS_LIST_FILE declares no inputSchema."
}

@test "300 an entry whose inputSchema is null" {
  write_tools '{"tools":[{"name":"x","inputSchema":null}]}'
  assert_refused "Cannot validate arguments for x: its entry in $MCP_TOOLS_LIST_FILE declares no inputSchema."
}

@test "301 a tool that is declared twice" {
  write_tools '{"tools":[{"name":"x","inputSchema":{"type":"object"}},{"name":"x","inputSchema":{"type":"object"}}]}'
  assert_refused "Cannot validate arguments for x: the tool list at $MCP_TOOLS_LIST_FILE declares it more than once."
}

@test "302 the values of an object are entries too" {
  write_tools '{"tools":{"first":{"name":"x","inputSchema":{"type":"object","properties":{"n":{}},"required":["n"]}}}}'
  assert_refused 'Missing required parameter(s): n.'
}

@test "303 a missing list hides no tool behind another error" {
  rm "$MCP_TOOLS_LIST_FILE"
  unset -f tool_x
  assert_refused "Cannot validate arguments for x: the tool list at $MCP_TOOLS_LIST_FILE is missing or does not hold one JSON object."
}

@test "304 nor does a list with an entry that is no object" {
  write_tools '{"tools":[1]}'
  unset -f tool_x
  assert_refused "Cannot validate arguments for x: the tool list at $MCP_TOOLS_LIST_FILE does not hold a usable tools list."
}

@test "305 an executable is no tool" {
  write_tools '{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}'
  unset -f tool_x
  executable tool_x
  assert_not_found x
}

# 306: the SDK's own function is not ours; what a client sees of it is a
# cancellation.
@test "306 an executable is no cancel hook" {
  write_tools '{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}'
  executable tool_x_cancel
  # shellcheck disable=SC2016 # The script expands it.
  server_write 'tool_x() { echo started >"$MARKER.started"; sleep 30; }
  run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 1 x)"
  await_file "$MARKER.started"
  send "$(cancel_line 1)"
  await_log 'Cancelled tools/call 1 (x)'
  refute [ -e "$MARKER" ]
}
