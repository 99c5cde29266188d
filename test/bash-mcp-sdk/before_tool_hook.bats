#!/usr/bin/env bats
# The function mcp_before_tool_call: what it sees, what it may change, and how
# it stops a call.
#
# Tools and hooks are called by the dispatch, and what they change is theirs.
# shellcheck disable=SC2317,SC2329,SC2030,SC2031,SC2123

load helpers/common
load helpers/client

setup() {
  common_setup
  write_tools '{"tools":[
    {"name":"x","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}},
    {"name":"nested","inputSchema":{"type":"object"}},
    {"name":"inner","inputSchema":{"type":"object"}}]}'
  MARKER="$BATS_TEST_TMPDIR/marker"
  source_core
}

tool_x() {
  printf 'tool output\n'
  : >"$MARKER"
}

@test "1 a call without a hook gets the tool's output" {
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
}

@test "2 the output of a hook that lets the call pass is dropped" {
  mcp_before_tool_call() {
    : >"$BATS_TEST_TMPDIR/hook"
    printf 'hook stdout\n'
    printf 'hook stderr\n' >&2
  }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert [ -e "$BATS_TEST_TMPDIR/hook" ]
}

@test "3 the hook's variables and its directory reach the tool" {
  mcp_before_tool_call() {
    FROM_HOOK=from-hook
    cd "$TMPDIR" || return
  }
  tool_x() { printf '%s %s' "$FROM_HOOK" "$PWD"; }
  pr "$(call_line 1 x)"
  assert_ok_text "from-hook $TMPDIR"
}

@test "4 the hook's functions reach the tool" {
  mcp_before_tool_call() {
    rm() { : >"$BATS_TEST_TMPDIR/rm"; }
  }
  tool_x() { rm; }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert [ -e "$BATS_TEST_TMPDIR/rm" ]
}

# In a shell of its own, since bats's traps use printf too.
@test "5 functions of the hook that are named like commands do not disturb the dispatch" {
  mcp_before_tool_call() {
    rm() { return 1; }
    shopt() { return 1; }
    printf() { builtin printf 'shadowed'; }
  }
  tool_x() { : >"$MARKER"; }
  export MARKER
  run --separate-stderr core_in "$(declare -f mcp_before_tool_call tool_x)" \
    "process_request '$(call_line 1 x)'"
  assert_success
  assert_ok_text ''
  assert [ -e "$MARKER" ]
  assert_no_call_roots
}

@test "6 the hook gets the tool's name and the tool's own arguments" {
  mcp_before_tool_call() { builtin printf '%s|%s|%s' "$#" "$1" "$2" >"$BATS_TEST_TMPDIR/hook"; }
  tool_x() { builtin printf '%s' "$1"; }
  pr "$(call_line 1 x '{"n": 7}')"
  assert_ok_text '{"n":7}'
  assert_equal "$(cat "$BATS_TEST_TMPDIR/hook")" '2|x|{"n":7}'
}

@test "7 the hook has an empty input and no errexit" {
  mcp_before_tool_call() {
    local status=0
    read -r -t 2 || status=$?
    false
    printf 'read %s, went on\n' "$status" >"$BATS_TEST_TMPDIR/hook"
  }
  pr "$(call_line 1 x)" </dev/zero
  assert_ok_text 'tool output'
  assert_equal "$(cat "$BATS_TEST_TMPDIR/hook")" 'read 1, went on'
}

@test "8 the hook runs for a nested call too" {
  mcp_before_tool_call() { printf '%s\n' "$1" >>"$BATS_TEST_TMPDIR/hook"; }
  # What a shell says about its jobs is no part of the case.
  tool_nested() { handle_tools_call 9001 '{"name":"inner","arguments":{}}' 2>/dev/null; }
  tool_inner() { printf 'inner output'; }
  pr "$(call_line 1 nested)"
  assert_json false it.result.isError
  assert_ok_text 'inner output' "$(json 'it.result.content[0].text')"
  assert_equal "$(cat "$BATS_TEST_TMPDIR/hook")" $'nested\ninner'
}

@test "9 the tool's EXIT trap takes the place of the hook's" {
  mcp_before_tool_call() { trap 'echo hook >>"$BATS_TEST_TMPDIR/traps"' EXIT; }
  tool_x() {
    trap 'echo tool >>"$BATS_TEST_TMPDIR/traps"' EXIT
    printf 'tool output\n'
  }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert_equal "$(cat "$BATS_TEST_TMPDIR/traps")" tool
}

@test "10 the hook's EXIT trap runs after the tool" {
  mcp_before_tool_call() { trap 'echo trap >>"$BATS_TEST_TMPDIR/order"' EXIT; }
  tool_x() { echo tool >>"$BATS_TEST_TMPDIR/order"; }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_equal "$(cat "$BATS_TEST_TMPDIR/order")" $'tool\ntrap'
}

@test "11 errexit set by the hook does not reach the tool" {
  # shellcheck disable=SC2016 # The server expands it.
  server_write '
    mcp_before_tool_call() { set -euo pipefail; }
    tool_x() { false; printf done; }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 11 x)"
  await_response 11
  assert_ok_text 'done' "$RESPONSE"
}

@test "12 a shopt of the hook does not reach the tool" {
  mcp_before_tool_call() { shopt -s nullglob; }
  tool_x() {
    set -- "$TMPDIR"/no-such-*
    printf '%s' "$#"
  }
  pr "$(call_line 1 x)"
  assert_ok_text 1
}

@test "13 a hook may spoil PATH" {
  mcp_before_tool_call() { PATH=/nonexistent; }
  tool_x() { printf 'done'; }
  pr "$(call_line 1 x)"
  assert_ok_text 'done'
  assert_no_call_roots
}

@test "14 a hook that has spoilt PATH may refuse" {
  mcp_before_tool_call() {
    printf 'denied by policy\n'
    PATH=/nonexistent
    return 3
  }
  pr "$(call_line 1 x)"
  assert_err_text 'Error executing x: denied by policy'
  refute [ -e "$MARKER" ]
  assert_logged 'before-tool hook refused tool x (status 3)' 1
  assert_no_call_roots
}

@test "15 a refusal carries the hook's output and the tool does not run" {
  mcp_before_tool_call() {
    printf 'denied by policy\n'
    return 3
  }
  pr "$(call_line 1 x)"
  assert_err_text 'Error executing x: denied by policy'
  refute [ -e "$MARKER" ]
}

@test "16 a refusal is logged as one and not as the tool's failure" {
  mcp_before_tool_call() { return 3; }
  pr "$(call_line 1 x)"
  assert_err_text 'Error executing x: '
  assert_logged 'before-tool hook refused tool x (status 3)' 1
  refute_logged 'Tool x failed'
}

@test "17 a hook that exits stops the call, with status 0 too" {
  mcp_before_tool_call() { exit 0; }
  pr "$(call_line 1 x)"
  assert_err_text 'mcp_before_tool_call ended the call instead of returning; tool x did not run.'
  refute [ -e "$MARKER" ]
  assert_logged 'Before-tool hook mcp_before_tool_call for tool x ended the call (status 0)' 1
}

@test "18 the output of a hook that exits comes after the reason" {
  mcp_before_tool_call() {
    printf 'no ticket\n'
    exit 4
  }
  pr "$(call_line 1 x)"
  assert_err_text $'mcp_before_tool_call ended the call instead of returning; tool x did not run.\nno ticket'
  refute [ -e "$MARKER" ]
}

@test "19 a hook that prints and returns 0 lets the call pass" {
  mcp_before_tool_call() {
    printf 'just saying\n'
    return 0
  }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert [ -e "$MARKER" ]
}

@test "20 a hook that is killed stops the call and names the signal" {
  mcp_before_tool_call() {
    printf 'last words\n'
    kill -9 "$BASHPID"
  }
  pr "$(call_line 1 x)"
  assert_err_text 'mcp_before_tool_call was killed by signal 9; tool x did not run.'
  refute [ -e "$MARKER" ]
  assert_logged 'Before-tool hook mcp_before_tool_call for tool x was killed (status 137)' 1
}

@test "21 a tool that is killed is an error of the tool's" {
  tool_x() { kill -9 "$BASHPID"; }
  pr "$(call_line 1 x)"
  assert_err_text 'Error executing x: '
  assert_logged 'Tool x failed with exit code 137' 1
}

@test "22 no hook runs for a tool that is not declared" {
  mcp_before_tool_call() { : >"$BATS_TEST_TMPDIR/hook"; }
  tool_undeclared() { : >"$MARKER"; }
  pr "$(call_line 1 undeclared)"
  assert_error -32601 'Tool not found: undeclared'
  refute [ -e "$BATS_TEST_TMPDIR/hook" ]
  refute [ -e "$MARKER" ]
}

@test "23 no hook runs for arguments that do not fit" {
  mcp_before_tool_call() { : >"$BATS_TEST_TMPDIR/hook"; }
  pr "$(call_line 1 x '{"n":"seven"}')"
  assert_err_text 'Invalid type(s): n expected integer, got string ("seven").'
  refute [ -e "$BATS_TEST_TMPDIR/hook" ]
  refute [ -e "$MARKER" ]
}

@test "24 an executable of the hook's name is no hook" {
  mkdir bin
  printf '#!/bin/sh\n: >"%s/hook"\nexit 1\n' "$BATS_TEST_TMPDIR" >bin/mcp_before_tool_call
  chmod +x bin/mcp_before_tool_call
  PATH="$PWD/bin:$PATH" pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  refute [ -e "$BATS_TEST_TMPDIR/hook" ]
}

@test "25 cancelling a call stops its hook" {
  export MARKER PID_FILE="$BATS_TEST_TMPDIR/pid"
  # shellcheck disable=SC2016 # The server expands it.
  server_write '
    mcp_before_tool_call() { sleep 30 & echo "$!" >"$PID_FILE"; wait "$!"; }
    tool_x() { : >"$MARKER"; }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 41 x)"
  await_file "$PID_FILE"
  send "$(cancel_line 41)"
  await_gone "$(cat "$PID_FILE")" 5
  await_count 1 5
  refute_response 41 1
  refute [ -e "$MARKER" ]
}
