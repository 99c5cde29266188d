#!/usr/bin/env bats
# Arguments that are nobody's, and things that happen at moments when nobody
# waits for them.
#
# RESPONSE, STATUS and SCRIPT are set by what is called here.
# shellcheck disable=SC2016,SC2153,SC2154 # The scripts expand it.

load helpers/common
load helpers/client

setup() {
  common_setup
  export MARKER="$BATS_TEST_TMPDIR/marker"
  write_tools '{"tools":[{"name":"t","inputSchema":{}},{"name":"inner","inputSchema":{}}]}'
}

# start CODE… starts a server of these lines and waits until it serves.
start() {
  server_write "$(printf '%s\n' "$@")"
  server_start "$SCRIPT"
  send "$(ping_line 1)"
  await_response 1
}

@test "a call in a call has its own arguments alone" {
  start 'tool_inner() { echo "[${arg_code-}][${arg_list-}][${arg_mine-}]"; }' \
    'tool_t() { handle_tools_call 9 '\''{"name":"inner","arguments":{"mine":"m"}}'\''; }' run_mcp_server
  send "$(call_line 2 t '{"code":"secret","list":["s1","s2"]}')"
  await_response 2
  [[ $RESPONSE == *'[][][m]'* ]] || fail "$RESPONSE"
}

@test "the environment has no arguments" {
  export arg_code=stranger
  start 'tool_t() { echo "[${arg_code-}][${arg_list-}]"; }' 'arg_list=mine' run_mcp_server
  send "$(call_line 2 t)"
  await_response 2
  assert_ok_text '[][mine]' "$RESPONSE"
}

@test "SIGTERM ends a server whose control directory was removed" {
  start 'trap '\''echo ended >"$MARKER"'\'' EXIT' run_mcp_server
  rm -rf "$XDG_RUNTIME_DIR"/conch-*
  kill -TERM "$SERVER_PID"
  await_exit
  assert_equal "$STATUS" 143
  assert_equal "$(<"$MARKER")" ended
}

@test "a signal's handler may have something answered" {
  start 'tool_t() { echo t; }' \
    'trap '\''handle_tools_call 7 "{\"name\":\"t\"}" >"$MARKER.new"; mv "$MARKER.new" "$MARKER"'\'' USR1' run_mcp_server
  kill -USR1 "$SERVER_PID"
  await_file "$MARKER"
  assert_ok_text t "$(<"$MARKER")"
  send "$(call_line 2 t)"
  await_response 2
  assert_ok_text t "$RESPONSE"
}

@test "a wrapper around conch gets nothing of what the client has written" {
  printf '#!/bin/sh\ncase $2 in protocol | code) cat >>"%s" ;; esac\nexec "%s" "$@"\n' "$MARKER" "$CONCH_BIN" >"$BATS_TEST_TMPDIR/conch"
  chmod +x "$BATS_TEST_TMPDIR/conch"
  server_write run_mcp_server
  run env CONCH_BIN="$BATS_TEST_TMPDIR/conch" "${BASH_CMD[@]}" "$SCRIPT" <<<"$(ping_line 1)"
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":{}}'
  assert_equal "$(<"$MARKER")" ''
}

@test "a TMPDIR that no record can hold costs the calls, and not the server" {
  export TMPDIR="$BATS_TEST_TMPDIR/a"$'\n'b
  mkdir "$TMPDIR"
  start 'tool_t() { echo t; }' run_mcp_server
  send "$(call_line 2 t)"
  await_response 2
  assert_err_text 'Cannot run t: its call directory could not be created.' "$RESPONSE"
  send "$(ping_line 3)"
  await_response 3
}

@test "an EXIT trap that the shell has to run itself has two seconds" {
  start 'trap '\''echo begun >"$MARKER"; sleep 60; echo ended >"$MARKER"'\'' EXIT' run_mcp_server
  local pid
  for pid in $(pgrep -P "$SERVER_PID"); do
    kill -KILL "$pid"
  done
  await_exit 10
  assert_equal "$(<"$MARKER")" begun
}

@test "a subshell may serve under conch serve" {
  server_write "$(printf '%s\n' 'tool_t() { echo t; }' '( run_mcp_server )')"
  run --separate-stderr "$CONCH_BIN" serve --log-level error --tools "$MCP_TOOLS_LIST_FILE" --config "$MCP_CONFIG_FILE" \
    "$SCRIPT" <<<"$(call_line 1 t)"
  assert_success
  assert_ok_text t
  assert_equal "$stderr" ''
}
