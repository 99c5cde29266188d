# Calls that can be caught at work: the fixture's server, whose tool `slow`
# lasts until release says otherwise. After the client.
#
#   setup() { common_setup && slow_setup; }
#
# shellcheck shell=bash
# The suites use what is set here; RESPONSE and STATUS are the client's.
# shellcheck disable=SC2034,SC2153,SC2154

slow_setup() {
  FIXTURE="$BATS_TEST_DIRNAME/fixtures/cancellation_server.sh"
  export SLOW_SECS=30
  export SLOW_UNTIL_FILE="$BATS_TEST_TMPDIR/until"
  export SLOW_MARKER_FILE="$BATS_TEST_TMPDIR/marker"
  export CHILD_PID_FILE="$BATS_TEST_TMPDIR/child"
  export HOOK_CHILD_PID_FILE="$BATS_TEST_TMPDIR/hook_child"
  export CANCEL_HOOK_FILE="$BATS_TEST_TMPDIR/cancel_hook"
}

# begin ID TOOL [ARGUMENTS] starts the fixture, if it is not there yet, and
# waits until that tool is at work in it.
begin() {
  if ((${#CLIENT_PIDS[@]} == 0)); then server_start "$FIXTURE"; fi
  rm -f "$SLOW_UNTIL_FILE" "$SLOW_MARKER_FILE"
  send "$(call_line "$@")"
  await_file "$SLOW_MARKER_FILE"
}

# release lets `slow` end.
release() { : >"$SLOW_UNTIL_FILE"; }

# half_ping ID is a ping that lacks its last five bytes, `ng"}` and a newline.
half_ping() { printf '{"jsonrpc":"2.0","id":%s,"method":"pi' "$1"; }

# assert_slow_done ID waits for a call of `slow`, which must have run to its end.
assert_slow_done() {
  await_response "$1"
  assert_ok_text 'slow done' "$RESPONSE"
}

# assert_ping ID [SECONDS] waits for the answer to a ping.
assert_ping() {
  await_response "$@"
  assert_result '{}' "$RESPONSE"
}

# assert_ended waits until the server has exited by itself.
assert_ended() {
  await_exit 5
  assert_equal "$STATUS" 0
}

# assert_stdout_count COUNT TEXT wants so many lines of output with TEXT.
assert_stdout_count() { assert_equal "$(stdout_count "$2")" "$1"; }

# assert_handed_out ID waits until what came of the next line has been handed
# out of that call, once.
assert_handed_out() {
  await_log "characters out of tools/call $1 ("
  assert_logged 'Handing a partial line of ' 1
}

NULL_ID='"id":null,"error":{"code":-32600'
DISCARDED='Discarding a partial line of '
