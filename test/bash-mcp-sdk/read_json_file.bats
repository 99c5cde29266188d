#!/usr/bin/env bats
# The configuration and the tools list, read at each request: what is not one
# JSON object is an error that names the file.

load helpers/common

setup() {
  common_setup
  source_core
}

# assert_no_config wants the error for a configuration that cannot be read.
assert_no_config() {
  pr '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
  assert_error -32603 "Cannot read server configuration: $MCP_CONFIG_FILE"
}

# assert_no_list wants the error for a tools list that cannot be read.
assert_no_list() {
  pr '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  assert_error -32603 "Cannot read tools list: $MCP_TOOLS_LIST_FILE"
}

# assert_unreadable TEXT wants read_json_file to fail silently on that text.
assert_unreadable() {
  printf '%s\n' "$1" >file.json
  run read_json_file file.json
  assert_failure 1
  assert_output ''
  assert_logged '[ERROR] Not exactly one parseable JSON object: file.json' 1
}

@test "273 initialize without a configuration file" {
  rm "$MCP_CONFIG_FILE"
  assert_no_config
}

@test "274 initialize with a configuration that is no JSON" {
  write_config '{ not json'
  assert_no_config
}

@test "275 initialize with an empty configuration" {
  : >"$MCP_CONFIG_FILE"
  assert_no_config
}

@test "276 initialize with two documents for a configuration" {
  write_config '{} {}'
  assert_no_config
}

@test "277 initialize with an array for a configuration" {
  write_config '[1,2]'
  assert_no_config
}

@test "278 initialize with the configuration's own values" {
  write_config '{"protocolVersion":"2025-06-18","serverInfo":{"name":"probe","version":"9.9.9"}}'
  pr '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
  assert_result '{"protocolVersion":"2025-06-18","serverInfo":{"name":"probe","version":"9.9.9"},"capabilities":{"tools":{}}}'
}

@test "279 tools/list without a tools list" {
  rm "$MCP_TOOLS_LIST_FILE"
  assert_no_list
}

@test "280 tools/list with a tools list that is no JSON" {
  write_tools '{"tools": [ broken'
  assert_no_list
}

@test "281 tools/list with an empty tools list" {
  : >"$MCP_TOOLS_LIST_FILE"
  assert_no_list
}

@test "282 tools/list with two documents for a tools list" {
  write_tools '{"tools":[]} {"tools":[]}'
  assert_no_list
}

@test "283 tools/list with a number for a tools list" {
  write_tools 5
  assert_no_list
}

@test "284 tools/list with an entry that has no inputSchema" {
  write_tools '{"tools":[{"name":"greet","description":"says hello"}]}'
  pr '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  assert_result '{"tools":[{"name":"greet","description":"says hello"}]}'
}

@test "285 read_json_file without a file" {
  run read_json_file absent.json
  assert_failure 1
  assert_output ''
  assert_logged '[ERROR] File not found: absent.json' 1
}

@test "286 read_json_file with two documents" {
  assert_unreadable '{} {}'
}

@test "287 read_json_file prints the object on one line" {
  printf '{\n  "a": 1,\n  "b": 2\n}\n' >file.json
  run read_json_file file.json
  assert_success
  assert_output '{"a":1,"b":2}'
}

@test "288 read_json_file with a number" {
  assert_unreadable 5
}

@test "289 read_json_file with a string" {
  assert_unreadable '"x"'
}

@test "290 read_json_file with an array" {
  assert_unreadable '[1,2]'
}

@test "291 read_json_file with true" {
  assert_unreadable true
}

@test "292 read_json_file with false" {
  assert_unreadable false
}

@test "293 read_json_file with null" {
  assert_unreadable null
}

@test "294 a tools list that cannot be read does not end the server" {
  write_tools 5
  run core_in '( run_mcp_server )' \
    <<<'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'$'\n'"$(ping_line 3)"
  assert_success
  assert_equal "${#lines[@]}" 2
  assert_error -32603 "Cannot read tools list: $MCP_TOOLS_LIST_FILE" "${lines[0]}"
  assert_result '{}' "${lines[1]}"
}
