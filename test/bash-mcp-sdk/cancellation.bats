#!/usr/bin/env bats
# What arrives while a tool runs: cancellations and other requests. Lines in
# pieces and the end of the input, cases 81 to 93, are in partial_lines.bats.
#
# Tools are called by the dispatch; RESPONSE is the client's.
# shellcheck disable=SC2317,SC2329,SC2153

load helpers/common
load helpers/client
load helpers/slow

setup() { common_setup && slow_setup; }

@test "51 cancelling a call ends its tool's child, and the next call is served" {
  server_start "$FIXTURE"
  send "$(call_line 101 slow_with_child)"
  await_file "$CHILD_PID_FILE"
  send "$(cancel_line 101)"
  await_gone "$(cat "$CHILD_PID_FILE")" 3
  refute_response 101 1
  send "$(call_line 102 fast)"
  await_response 102
  assert_ok_text 'fast done' "$RESPONSE"
}

@test "52 a cancellation of another id does not touch the call" {
  begin 201 slow
  send "$(cancel_line 999)"
  refute_response 201 1
  release
  assert_slow_done 201
}

@test "53 a cancellation with nothing in flight is dropped" {
  server_start "$FIXTURE"
  send "$(cancel_line 301)"
  send "$(ping_line 302)"
  assert_ping 302
  assert_logged 'Cancellation received with nothing in flight; dropped' 1
}

@test "54 notifications/initialized is answered only where it carries an id" {
  server_start "$FIXTURE"
  send '{"jsonrpc":"2.0","id":1301,"method":"notifications/initialized"}'
  send '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  send "$(ping_line 1302)"
  assert_ping 1302
  await_response 1301
  assert_error -32601 'Method not found: notifications/initialized' "$RESPONSE"
  assert_stdout_count 1 '"error"'
}

@test "55 a null id is refused" {
  server_start "$FIXTURE"
  send "$(ping_line null)"
  await_response null
  assert_error -32600 'Invalid Request: id must be a string or an integer' "$RESPONSE"
}

@test "56 a ping without an id is not answered" {
  server_start "$FIXTURE"
  send '{"jsonrpc":"2.0","method":"ping"}'
  send "$(ping_line 1311)"
  assert_ping 1311
  assert_stdout_count 1 ''
}

@test "57 the id false is refused, once" {
  server_start "$FIXTURE"
  send "$(ping_line false)"
  send "$(ping_line 1400)"
  assert_ping 1400
  assert_stdout_count 1 "$NULL_ID"
  assert_stdout_count 1 '"result"'
  assert_stdout_count 2 ''
}

@test "58 a wrong version with a wrong id is refused without an id" {
  server_start "$FIXTURE"
  send '{"jsonrpc":"1.0","id":false,"method":"ping"}'
  send "$(ping_line 1500)"
  assert_ping 1500
  assert_stdout_count 1 "$NULL_ID"
}

@test "59 an id that is a string stays one" {
  server_start "$FIXTURE"
  send "$(ping_line '"7"')"
  assert_ping '"7"'
}

@test "60 an id with a fraction is refused" {
  server_start "$FIXTURE"
  send "$(ping_line 1.5)"
  send "$(ping_line 1700)"
  assert_ping 1700
  assert_stdout_count 1 "$NULL_ID"
  assert_stdout_count 1 '"result"'
}

@test "61 a large id comes back to the digit" {
  server_start "$FIXTURE"
  send "$(ping_line 9007199254740993)"
  assert_ping 9007199254740993
  assert_stdout_count 1 9007199254740993
}

@test "62 two documents on a line are refused, and none is served" {
  server_start "$FIXTURE"
  send "$(ping_line 1601) $(ping_line 1602)"
  send "$(ping_line 1603)"
  assert_ping 1603
  assert_stdout_count 1 '"id":null,"error":{"code":-32700'
  assert_stdout_count 1 'Expected exactly one JSON document per line'
  assert_stdout_count 0 1601
  assert_stdout_count 0 1602
}

@test "63 a list is no request" {
  server_start "$FIXTURE"
  send '[1,2]'
  send "$(ping_line 1612)"
  assert_ping 1612
  assert_stdout_count 1 "$NULL_ID"
}

@test "64 false is no request, and is JSON" {
  server_start "$FIXTURE"
  send 'false'
  send "$(ping_line 1622)"
  assert_ping 1622
  assert_stdout_count 1 "$NULL_ID"
  assert_stdout_count 0 -32700
}

# 65: there the call has a null id and is made to believe that it is in the
# loop; no request with such an id gets so far. Both halves are kept apart.
@test "65 a cancellation that names no request cancels none" {
  begin 65 slow
  send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'
  send '{"jsonrpc":"2.0","method":"notifications/cancelled"}'
  refute_response 65 1
  release
  assert_slow_done 65
}

@test "65 a direct call without an id is not cancelled by what waits on the input" {
  write_tools '{"tools":[{"name":"brief","inputSchema":{"type":"object"}}]}'
  source_core
  tool_brief() { sleep 1 && printf 'brief done\n'; }
  run --separate-stderr handle_tools_call null '{"name":"brief","arguments":{}}' \
    <<<'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'
  assert_success
  assert_ok_text 'brief done'
}

@test "66 a request that comes in mid-call is answered after the call" {
  begin 401 slow
  send "$(ping_line 402)"
  refute_response 402 1
  release
  assert_slow_done 401
  assert_ping 402
  response_order 401 402
}

@test "67 a request that comes before the cancellation is answered after it" {
  begin 451 slow
  send "$(ping_line 452)"
  send "$(cancel_line 451)"
  assert_ping 452
  refute_response 451 1
}

@test "68 a piece of a line waits for its rest while the queue is served" {
  export SLOW_SECS=2
  begin 1001 slow
  send "$(call_line 1002 slow_with_child)"
  send_part "$(half_ping 1003)"
  release
  await_file "$CHILD_PID_FILE"
  send 'ng"}'
  assert_slow_done 1001
  assert_ping 1003
  await_response 1002
  assert_ok_text 'slow_with_child done' "$RESPONSE"
  assert_logged 'characters out of tools/call 1001 (slow) to the read loop' 1
  assert_stdout_count 0 '"error"'
}

@test "69 a line begun in mid-call may be finished after it" {
  begin 461 slow
  send_part "$(half_ping 462)"
  release
  assert_slow_done 461
  send 'ng"}'
  assert_ping 462
}

@test "70 a malformed cancellation cancels nothing, and is answered like any request" {
  begin 471 slow
  send '{"jsonrpc":"2.0","id":472,"method":"notifications/cancelled","params":{"requestId":471}}'
  refute_response 471 1
  release
  assert_slow_done 471
  await_response 472
  assert_error -32601 'Method not found: notifications/cancelled' "$RESPONSE"

  begin 473 slow
  send '{"method":"notifications/cancelled","params":{"requestId":473}}'
  refute_response 473 1
  release
  assert_slow_done 473
  send "$(ping_line 474)"
  assert_ping 474
  assert_stdout_count 1 "$NULL_ID"
}

@test "71 a string does not cancel a number, nor anything a call that is over" {
  begin 7 slow
  send "$(cancel_line '"7"')"
  refute_response 7 1
  release
  assert_slow_done 7
  send "$(cancel_line 7)"
  send "$(ping_line 475)"
  assert_ping 475
}

@test "72 a tool that ignores SIGTERM is killed" {
  begin 501 stubborn
  send "$(cancel_line 501)"
  send "$(ping_line 502)"
  assert_ping 502 5
  refute_response 501 1
}

# 73: there a ps that fails leaves the framework without a sign of life; here
# nobody asks ps, and the tool must be killed all the same.
@test "73 a tool that ignores SIGTERM is killed where ps does not work" {
  mkdir bin
  printf '#!/bin/sh\nexit 1\n' >bin/ps
  chmod +x bin/ps
  PATH="$WORK/bin:$PATH" server_start "$FIXTURE"
  begin 801 stubborn
  send "$(cancel_line 801)"
  await_log 'Tool stubborn ignored SIGTERM; process group killed' 4
  send "$(ping_line 802)"
  assert_ping 802
  refute_response 801 1
}

@test "74 the cancel hook gets the call's arguments" {
  begin 601 hooked '{"alpha": 1, "beta": "two"}'
  send "$(cancel_line 601)"
  await_file "$CANCEL_HOOK_FILE"
  assert_equal "$(cat "$CANCEL_HOOK_FILE")" '{"alpha":1,"beta":"two"}'
}

@test "75 a cancel hook that takes too long is killed with its child" {
  begin 611 hooked_child
  send "$(cancel_line 611)"
  await_file "$HOOK_CHILD_PID_FILE"
  await_gone "$(cat "$HOOK_CHILD_PID_FILE")" 5
  refute_response 611 1
}

@test "76 the whole group has the grace period, and ends with it" {
  server_start "$FIXTURE"
  send "$(call_line 621 term_wrapper_stubborn_child)"
  await_file "$CHILD_PID_FILE"
  local child
  child=$(cat "$CHILD_PID_FILE")
  send "$(cancel_line 621)"
  refute_gone "$child" 1
  await_gone "$child" 3
  refute_response 621 1
}

# assert_cancelled_promptly ID cancels a call that obeys and wants it to be over
# before a grace period could be.
assert_cancelled_promptly() {
  local start
  start=$(now)
  send "$(cancel_line "$1")"
  await_log "Cancelled tools/call $1 ("
  assert [ "$(($(now) - start))" -lt 1900 ]
  refute_logged 'ignored SIGTERM'
  refute_response "$1" 1
}

@test "77 a tool that obeys is not waited for" {
  begin 641 slow
  assert_cancelled_promptly 641
}

@test "78 a tool's input is empty" {
  server_start "$FIXTURE"
  send "$(call_line 701 reads_stdin)"
  await_response 701
  assert_ok_text $'status 1, read []\nEOF' "$RESPONSE"
}

@test "79 a tool cannot read the next request" {
  server_start "$FIXTURE"
  send "$(call_line 711 reads_stdin)"$'\n'"$(ping_line 712)"
  await_response 711
  assert_ok_text $'status 1, read []\nEOF' "$RESPONSE"
  assert_ping 712
}

@test "80 a nested call leaves the server and its cancellations as they were" {
  server_start "$FIXTURE"
  send "$(call_line 1101 nested_dispatch)"
  await_response 1101
  assert_json false it.result.isError "$RESPONSE"
  assert_ok_text 'fast done' "$(json 'it.result.content[0].text' "$RESPONSE")"
  refute_gone "$SERVER_PID" 1
  send "$(ping_line 1102)"
  assert_ping 1102
  begin 1103 slow
  assert_cancelled_promptly 1103
}

# direct declares the tools that the cases about direct calls define.
direct() {
  write_tools '{"tools":[{"name":"trivial","inputSchema":{"type":"object"}}]}'
}

# The new shells expand what the cases below give them.
# shellcheck disable=SC2016
TRIVIAL='tool_trivial() { printf "trivial done\n"; }'
CALL_TRIVIAL="handle_tools_call 991 '{\"name\":\"trivial\",\"arguments\":{}}'"

@test "94 the file may be sourced twice" {
  # shellcheck disable=SC2016
  run core_in 'set -e' 'source "$CORE"' 'echo sourced twice'
  assert_success
  assert_output 'sourced twice'
}

@test "95 a direct call prints its response and nothing else" {
  direct
  source_core
  tool_trivial() { printf 'trivial done\n'; }
  run --separate-stderr handle_tools_call 1 '{"name":"trivial","arguments":{}}' </dev/null
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"trivial done"}],"isError":false}}'
}

@test "96 a direct call after the loop leaves the caller's input alone" {
  direct
  # shellcheck disable=SC2016
  run --separate-stderr core_in "$TRIVIAL" '( run_mcp_server </dev/null )' "$CALL_TRIVIAL" \
    'IFS= read -r line; printf "%s\n" "$line"' <<<'still waiting'
  assert_success
  assert_ok_text 'trivial done' "${lines[0]}"
  assert_equal "${lines[1]}" 'still waiting'
}

@test "97 a direct call leaves job control on" {
  direct
  # shellcheck disable=SC2016
  run --separate-stderr core_in "$TRIVIAL" 'set -m' "$CALL_TRIVIAL" \
    'if [[ $- == *m* ]]; then echo on; fi'
  assert_success
  assert_ok_text 'trivial done' "${lines[0]}"
  assert_equal "${lines[1]}" on
}

@test "98 errexit does not reach the tool of a direct call" {
  direct
  run --separate-stderr core_in 'set -e' \
    'tool_trivial() { false; printf "went on\n"; return 7; }' "$CALL_TRIVIAL"
  assert_success
  assert_err_text 'Error executing trivial: went on'
}
