#!/usr/bin/env bats
# The functions that scripts call by themselves, the variables, and the log.
# "fault" stands before what goes wrong in the framework.
#
# run sets stderr, conch calls tools and reads the variables, and single quotes
# keep text for conch, and variables for the shells of others.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154,SC2317,SC2329

load helpers/common

setup() {
  sdk_setup
  cinema
}

http() {
  # shellcheck source=/dev/null
  source "$SDK/mcpserver_http.sh"
}

@test "sourcing sets the variables that are not set" {
  run env -i PATH="$PATH" CONCH_BIN="$CONCH_BIN" "${BASH_CMD[@]}" -c 'cd /; source "$1/mcpserver_core.sh"; source "$1/mcpserver_http.sh"
    printf "%s\n" "$MCP_PROTOCOL_VERSION" "$MCP_CONFIG_FILE" "$MCP_TOOLS_LIST_FILE" "$MCP_LOG_FILE" "$MCP_DEFAULT_TTL_MS" \
      "$MCP_DEFAULT_CACHE_SCOPE" "$MCP_HTTP_PORT" "$MCP_HTTP_BIND" "$MCP_HTTP_PATH" "$MCP_ALLOWED_ORIGINS"' x "$SDK"
  assert_success
  assert_output "2026-07-28
$SDK/assets/mcpserverconfig.json
$SDK/assets/tools_list.json
$SDK/mcpserver.log
60000
public
3000
127.0.0.1
/mcp
http://localhost,http://127.0.0.1"
}

@test "sourcing starts nothing and says nothing" {
  run "${BASH_CMD[@]}" -c 'set -eu; source "$CORE"; source "$SDK/mcpserver_http.sh"; jobs; echo "$-"'
  assert_success
  [[ $output == *e*u* || $output == *u*e* ]] || fail "$output"
  refute [ -e "$MCP_LOG_FILE" ]
}

@test "a missing conch is refused with what was looked at" {
  cp "$CORE" "$SDK/mcpserver_http.sh" .
  run --separate-stderr env -u CONCH_BIN PATH=/nonexistent "${BASH_CMD[@]}" -c 'source ./mcpserver_http.sh; echo "status $?"'
  assert_output 'status 1'
  [[ $stderr == 'mcp-server-bash-sdk: conch was not found'* ]] || fail "$stderr"
}

@test "what is wrong is said once, though both files are sourced" {
  cp "$CORE" "$SDK/mcpserver_http.sh" .
  run --separate-stderr env -u CONCH_BIN PATH=/nonexistent "${BASH_CMD[@]}" -c 'source ./mcpserver_core.sh; source ./mcpserver_http.sh; echo "status $?"'
  assert_output 'status 1'
  [[ $stderr == *'conch was not found'* && $stderr != *'conch was not found'*'conch was not found'* ]] || fail "$stderr"
}

@test "a shell that has found conch after all has both files" {
  cp "$CORE" "$SDK/mcpserver_http.sh" .
  run --separate-stderr "${BASH_CMD[@]}" -c 'found=$CONCH_BIN; CONCH_BIN=/none; source ./mcpserver_core.sh
    CONCH_BIN=$found; source ./mcpserver_http.sh && declare -F run_mcp_http_server'
  assert_output 'run_mcp_http_server'
}

@test "what a program that is no conch prints is not evaluated" {
  printf '%s\n' '#!/bin/sh' 'echo ": >pwned"' >other
  chmod +x other
  run --separate-stderr env CONCH_BIN="$PWD/other" "${BASH_CMD[@]}" -c 'source "$CORE"'
  assert_failure 1
  [[ $stderr == *'does not answer as conch does'* ]] || fail "$stderr"
  refute [ -e pwned ]
}

@test "the HTTP file brings the other" {
  run "${BASH_CMD[@]}" -c 'cd "$SDK"; source ./mcpserver_http.sh; type -t process_request'
  assert_output function
}

@test "handle_discover, handle_tools_list and handle_tools_call answer under an id" {
  run handle_discover '"x"'
  assert_json '["x",["2026-07-28"]]' '[it.id, it.result.supportedVersions]'
  run handle_tools_list 2
  assert_json '[2,2,"complete"]' '[it.id, it.result.tools.length, it.result.resultType]'
  run handle_tools_call 3 book '{"film":1,"seats":2}'
  assert_json '[3,"2 of 1","complete"]' '[it.id, it.result.content[0].text, it.result.resultType]'
  run handle_tools_call 4 films
  assert_json 4 it.id
  run handle_tools_call 5 films 'no JSON'
  assert_code -32602 5
  run handle_tools_call 6 'a b' '{}'
  assert_code -32600 6
}

@test "create_response completes the result on standard input" {
  run create_response 1 <<<'{ "a": 1.50, "_meta": {"x": 1} }'
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":{"a":1.50,"_meta":{"x":1,"io.modelcontextprotocol/serverInfo":{"name":"Cinema","version":"1.2.3"}},"resultType":"complete"}}'
  run create_response null <<<'{"resultType":"input_required"}'
  assert_json '[null,"input_required"]' '[it.id, it.result.resultType]'
  run --separate-stderr create_response 1 <<<'[]'
  assert_failure 1
  assert_output ''
}

@test "create_error_response has data when there is any" {
  run create_error_response 1 -32602 'a "b"'
  assert_output '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"a \"b\""}}'
  run create_error_response null -32700 no null
  assert_output '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'
  run create_error_response 1 1 no '{ "a": [1] }'
  assert_output '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no","data":{"a":[1]}}}'
}

@test "fault 1: nothing that is given is evaluated" {
  http
  run create_error_response 1 'x[$(: >pwned)]' no
  assert_failure
  MCP_DEFAULT_TTL_MS='x[$(: >pwned)]'
  write_config '{}'
  ask "$(request 1 tools/list)"
  assert_json 60000 it.result.ttlMs
  MCP_HTTP_PORT='x[$(: >pwned)]'
  run run_mcp_http_server
  assert_failure
  tool_pay() { echo "$arg_x"; }
  ask "$(call 1 pay '{"x":"$(: >pwned)","y[$(: >pwned)]":1}')"
  assert_text '$(: >pwned)'
  refute [ -e pwned ]
}

@test "parse_message takes a message apart" {
  local us=$'\037'
  run parse_message <<<"$(call 1 book '{"film": 1}')"
  assert_success
  assert_output "2.0${us}1${us}tools/call${us}2026-07-28${us}book${us}{\"film\":1}"
  run parse_message <<<'{"jsonrpc":"2.0","method":"a\u001fb\nc"}'
  assert_output "2.0${us}${us}a b c${us}${us}${us}{}"
  run parse_message <<<'garbage'
  assert_failure
  assert_output ''
}

@test "read_json_file prints any one document on one line" {
  printf '[ 1,\n {"a": 1.0} ]\n' >list.json
  run read_json_file list.json
  assert_success
  assert_output '[1,{"a":1.0}]'
  printf '{} {}' >list.json
  run read_json_file list.json
  assert_failure 1
  assert_output ''
  assert_logged '[ERROR]' 1
  run read_json_file missing.json
  assert_failure 1
}

@test "mcp_server_info is the configuration's, or stands for it" {
  run mcp_server_info
  assert_output '{"name":"Cinema","version":"1.2.3"}'
  rm "$MCP_CONFIG_FILE"
  run mcp_server_info
  assert_output '{"name":"BashMCPServer","version":"0.0.0"}'
}

@test "log writes a line, in a directory it makes" {
  MCP_LOG_FILE=deep/down/log
  log INFO 'hello there'
  run cat deep/down/log
  assert_output --regexp '^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\] \[INFO\] hello there$'
  MCP_LOG_STDERR=1
  run --separate-stderr log WARN aside
  assert_success
  assert_output ''
  assert_equal "$stderr" '[WARN] aside'
  MCP_LOG_FILE=$CORE/below/a/file
  run log INFO nowhere
  assert_success
}

@test "fault 27: the log is nobody else's to read, and holds no arguments" {
  log INFO first
  assert_equal "$(stat -c %a "$MCP_LOG_FILE")" 600
  rm "$MCP_LOG_FILE"
  tool_secret() { return 1; }
  ask "$(call 1 secret '{"password":"hunter2"}')"
  assert_equal "$(stat -c %a "$MCP_LOG_FILE")" 600
  assert_logged secret
  refute_logged hunter2
}

@test "fault 27: a log that is full makes way for a new one" {
  truncate -s 11M "$MCP_LOG_FILE"
  serve ''
  send "$(request 1 tools/list)"
  await_response 1
  await_log 'MCP Server starting'
  [[ $(stat -c %s "$MCP_LOG_FILE.1") -gt 10000000 ]]
}

@test "fault 5: a header's value is decoded, or refused" {
  http
  run mcp_header_decode plain
  assert_output plain
  run mcp_header_decode '=?base64?Y2Fmw6k=?='
  assert_success
  assert_output café
  local bad
  for bad in '=?base64?!!!?=' '=?base64?Y2Fmw6k?=' '=?base64?/w==?='; do
    run mcp_header_decode "$bad"
    assert_failure 1
    assert_output ''
  done
}

@test "an origin is allowed with any port, and no other" {
  http
  local origin
  for origin in http://localhost http://localhost:5173 http://127.0.0.1:80; do
    mcp_origin_allowed "$origin" || fail "$origin"
  done
  for origin in https://evil.example http://localhost.evil.example http://localhost: http://localhost:80.evil.example https://localhost ''; do
    if mcp_origin_allowed "$origin"; then fail "$origin"; fi
  done
  MCP_ALLOWED_ORIGINS='https://a.example , *'
  mcp_origin_allowed https://a.example:8443
  if mcp_origin_allowed https://b.example; then fail 'a star'; fi
}

@test "fault 7: a response's length is in bytes" {
  http
  run http_write '200 OK' text/plain 'é€'
  assert_output --partial $'HTTP/1.1 200 OK\r\n'
  assert_output --partial $'Content-Length: 5\r\n'
  run http_json '200 OK' '{}'
  assert_output --partial $'Content-Type: application/json\r\n'
  run http_empty '202 Accepted'
  assert_output $'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r'
  run http_rpc_error '400 Bad Request' 1 -32020 no '{"a":1}'
  assert_output --partial '{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no","data":{"a":1}}}'
}
