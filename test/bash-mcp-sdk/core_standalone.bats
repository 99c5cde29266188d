#!/usr/bin/env bats
# A server as its author tries it first: `bash server.sh` with one request on
# standard input. `run` merges the streams, so standard error is silent where
# the whole output is compared.

load helpers/common
load helpers/client

setup() {
  common_setup
  write_tools '{"tools":[{"name":"greet","inputSchema":{"type":"object","required":["name"],
    "properties":{"name":{"type":"string","pattern":"^[a-z]+$"}},"additionalProperties":false}}]}'
  # shellcheck disable=SC2016 # The script expands it.
  server_write 'tool_greet() {
    [[ $1 =~ \"name\":\"([a-z]+)\" ]]
    printf "Hello, %s\n" "${BASH_REMATCH[1]}"
  }
  run_mcp_server "$@"'
}

# answer REQUEST runs the server with that request as all of its input.
answer() {
  run "${BASH_CMD[@]}" "$SCRIPT" <<<"$1"
}

@test "104 initialize is answered with the defaults and nothing else" {
  answer '{"jsonrpc":"2.0","id":1,"method":"initialize"}'
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"mcp-server","version":"1.0.0"},"capabilities":{"tools":{}}}}'
}

@test "105 a tool's text is the result and nothing else is printed" {
  answer "$(call_line 2 greet '{"name":"martin"}')"
  assert_success
  assert_output '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, martin"}],"isError":false}}'
}

@test "106 a missing argument is named" {
  answer "$(call_line 3 greet)"
  assert_success
  assert_err_text 'Missing required parameter(s): name.'
}

@test "107 the file sources no other file" {
  run grep -nE '^[[:blank:]]*(source|\.)[[:blank:]]' "$CORE"
  assert_failure 1
  assert_output ''
}
