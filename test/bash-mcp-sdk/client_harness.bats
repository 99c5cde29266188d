#!/usr/bin/env bats
# The client of these suites against the fixture: what the others build on.
#
# RESPONSE and STATUS are the client's.
# shellcheck disable=SC2153

load helpers/common
load helpers/client

setup() {
  common_setup
  server_start "$BATS_TEST_DIRNAME/fixtures/cancellation_server.sh"
}

@test "99 initialize is answered" {
  send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}'
  await_response 1
  assert_json cancellation-fixture it.result.serverInfo.name "$RESPONSE"
}

@test "100 a call is answered" {
  send "$(call_line 2 fast)"
  await_response 2
  assert_ok_text 'fast done' "$RESPONSE"
}

@test "101 what was not asked is not answered" {
  refute_response 99 1
}

@test "102 a server that is done leaves no process and no file" {
  send "$(call_line 2 fast)"
  await_response 2
  close_input
  await_exit 5
  assert_equal "$STATUS" 0
  await_nothing_runs 5
  assert_empty "$TMPDIR"
  assert_empty "$XDG_RUNTIME_DIR"
}

@test "103 a name that is no tool's comes back to the letter" {
  send "$(call_line 5 "O'Brien ✓ ünïcödé")"
  await_response 5
  assert_error -32602 "Invalid tool name: O'Brien ✓ ünïcödé" "$RESPONSE"
}
