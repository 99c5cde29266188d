#!/usr/bin/env bats
# A call takes part in the trace of its request, and in no other.
#
# RESPONSE and SCRIPT are set by what is called here.
# shellcheck disable=SC2016,SC2153,SC2154 # The scripts expand it.

load helpers/common
load helpers/client

PARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

setup() {
  common_setup
  export TRACEPARENT=00-11111111111111111111111111111111-1111111111111111-00 BAGGAGE=server=1
  write_tools '{"tools":[{"name":"t","inputSchema":{}},{"name":"outer","inputSchema":{}}]}'
}

# start CODE… starts a server whose tool t shows what a child of it has.
start() {
  server_write "$(printf '%s\n' \
    'tool_t() { env | grep -E "^(TRACEPARENT|TRACESTATE|BAGGAGE)=" | LC_ALL=C sort | tr "\n" " " || echo none; }' \
    "$@" run_mcp_server)"
  server_start "$SCRIPT"
}

# traced_line ID TOOL META is a request with that _meta, members of an object.
traced_line() {
  printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","_meta":{%s}}}' "$@"
}

all_three='"traceparent":"'$PARENT'","tracestate":"a=b","baggage":"user=x"'

@test "a call has its request's trace and none of the server's" {
  start
  send "$(call_line 1 t)"
  send "$(traced_line 2 t "$all_three")"
  send "$(traced_line 3 t '"traceparent":"00-0-0-00","tracestate":"a=b"')"
  await_response 1
  assert_ok_text none "$RESPONSE"
  await_response 2
  assert_ok_text "BAGGAGE=user=x TRACEPARENT=$PARENT TRACESTATE=a=b " "$RESPONSE"
  await_response 3
  assert_ok_text none "$RESPONSE"
}

@test "the server's shell keeps its trace" {
  export MARKER="$BATS_TEST_TMPDIR/marker"
  server_write 'tool_t() { :; }
    run_mcp_server
    env | grep -E "^(TRACEPARENT|BAGGAGE)=" | LC_ALL=C sort | tr "\n" " " >"$MARKER"'
  server_start "$SCRIPT"
  send "$(traced_line 1 t "$all_three")"
  await_response 1
  close_input
  await_file "$MARKER"
  assert_equal "$(<"$MARKER")" "BAGGAGE=$BAGGAGE TRACEPARENT=$TRACEPARENT "
}

@test "a variable of the script's stays as it is" {
  unset BAGGAGE
  start 'BAGGAGE=mine' 'tool_t() { echo "$BAGGAGE $TRACEPARENT"; }'
  send "$(traced_line 1 t "$all_three")"
  await_response 1
  assert_ok_text "mine $PARENT" "$RESPONSE"
}

@test "a call in a call has its own trace alone" {
  start "tool_outer() { handle_tools_call 8 '{\"name\":\"t\"}'; handle_tools_call 9 '{\"name\":\"t\",\"_meta\":{\"baggage\":\"inner=1\"}}'; }"
  send "$(traced_line 1 outer "$all_three")"
  await_response 1
  assert_equal "$(json 'it.result.content[0].text' "$RESPONSE" | json_texts)" $'[none]\n[BAGGAGE=inner=1 ]'
}

# json_texts prints, of responses, the texts in brackets.
json_texts() {
  local line
  while IFS= read -r line; do printf '[%s]\n' "$(json 'it.result.content[0].text' "$line")"; done
}
