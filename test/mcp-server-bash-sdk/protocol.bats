#!/usr/bin/env bats
# Requests, their revision, and what every answer has. Cases with a number after
# U are what the framework itself tests; "fault" stands before what goes wrong
# there.
#
# conch reads the variables, which each test has for itself.
# shellcheck disable=SC2030,SC2031,SC2034

load helpers/common

setup() {
  sdk_setup
  cinema
}

@test "U1 another JSON-RPC is refused under its id, before the revision is looked at" {
  ask '{"jsonrpc":"1.0","id":4,"method":"tools/list"}'
  assert_code -32600 4
}

@test "U2 what is no JSON is a parse error without an id" {
  ask 'this is not json'
  assert_code -32700 null
}

@test "U3 white space is no message" {
  local line
  for line in '   ' '' $' \t\r\n '; do
    ask "$line"
    assert_output ''
  done
}

@test "U4 the revision that is served is served" {
  ask "$(request 1 tools/list)"
  assert_json '["films","book"]' 'it.result.tools.map(t => t.name)'
}

@test "U5 another revision is told which there are" {
  ask '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}}'
  assert_code -32022
  assert_json 2025-06-18 it.error.data.requested
  assert_json '["2026-07-28"]' it.error.data.supported
}

@test "U6 so is a request that names none" {
  local params
  for params in ',"params":{}' '' ',"params":{"_meta":{}}' ',"params":null'; do
    ask '{"jsonrpc":"2.0","id":1,"method":"tools/list"'"$params}"
    assert_code -32022
    assert_json '""' 'JSON.stringify(it.error.data.requested)'
    assert_json '["2026-07-28"]' it.error.data.supported
  done
}

@test "U7 a revision counts for its request alone" {
  serve ''
  send "$(request 1 tools/list)"
  await_response 1
  send '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  await_response 2
  output=$RESPONSE
  assert_code -32022 2
}

@test "U8 the configuration is the body of server/discover" {
  ask "$(request 1 server/discover)"
  assert_json '["2026-07-28"]' it.result.supportedVersions
  assert_json '{"tools":{"listChanged":false}}' it.result.capabilities
  assert_json 'Ask for films.' it.result.instructions
  assert_json complete it.result.resultType
  assert_json 3600000 it.result.ttlMs
  assert_json public it.result.cacheScope
}

@test "U9 server/discover is answered whatever revision is named, and with no metadata" {
  local params
  for params in ',"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}' \
    ",\"params\":{\"_meta\":{$REVISION}}" ',"params":{}' ''; do
    ask '{"jsonrpc":"2.0","id":1,"method":"server/discover"'"$params}"
    assert_json '["2026-07-28"]' it.result.supportedVersions
  done
}

@test "U10 U11 every result says that it is complete, and whose it is" {
  local line
  for line in "$(request 1 server/discover)" "$(request 1 tools/list)" "$(call 1 films)" "$(call 1 book '{}')"; do
    ask "$line"
    assert_json complete it.result.resultType
    assert_json '{"name":"Cinema","version":"1.2.3"}' 'it.result._meta["io.modelcontextprotocol/serverInfo"]'
  done
}

@test "U12 a list says how long and by whom it may be kept" {
  ask "$(request 1 tools/list)"
  assert_json 3600000 it.result.ttlMs
  assert_json public it.result.cacheScope
  write_tools '{"tools":[],"ttlMs":7,"cacheScope":"private"}'
  ask "$(request 1 tools/list)"
  assert_json '[7,"private"]' '[it.result.ttlMs, it.result.cacheScope]'
}

@test "the variables stand in for what neither file says, as they are at the request" {
  write_config '{}'
  ask "$(request 1 tools/list)"
  assert_json '[60000,"public"]' '[it.result.ttlMs, it.result.cacheScope]'
  MCP_DEFAULT_TTL_MS=5 MCP_DEFAULT_CACHE_SCOPE=private
  ask "$(request 1 server/discover)"
  assert_json '[5,"private"]' '[it.result.ttlMs, it.result.cacheScope]'
}

@test "U13 the order of the tools is the list's" {
  local first
  ask "$(request 1 tools/list)"
  first=$output
  ask "$(request 1 tools/list)"
  assert_output "$first"
}

@test "U14 a method that is not there" {
  local method
  for method in resources/list ping initialize logging/setLevel x; do
    ask "$(request 1 "$method")"
    assert_code -32601
  done
}

@test "U15 U16 what has no id is not answered, whatever is wrong with it" {
  local line
  for line in '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}' \
    '{"jsonrpc":"2.0","method":"notifications/whatever"}' '{"jsonrpc":"1.0","method":"tools/list"}' \
    '{}' '{"jsonrpc":"2.0","method":5}' '{"jsonrpc":"2.0","method":"tools/list","params":[1]}'; do
    ask "$line"
    assert_output ''
  done
}

@test "the order of faults: jsonrpc, then the revision, then the method" {
  ask '{"jsonrpc":"1.0","id":1,"method":"server/discover"}'
  assert_code -32600
  ask '{"jsonrpc":"2.0","id":1,"method":"nonsense"}'
  assert_code -32022
  ask "$(request 1 nonsense)"
  assert_code -32601
}

@test "both files are read at each request" {
  ask "$(request 1 tools/list)"
  write_tools '{"tools":[{"name":"other","inputSchema":{"type":"object"}}]}'
  ask "$(request 1 tools/list)"
  assert_json '["other"]' 'it.result.tools.map(t => t.name)'
  MCP_CONFIG_FILE=other.json
  printf '{"serverInfo":{"name":"Other","version":"9"}}' >other.json
  ask "$(request 1 tools/list)"
  assert_json Other 'it.result._meta["io.modelcontextprotocol/serverInfo"].name'
}

@test "U26 a file that is missing or no JSON is an error of the server's" {
  local text
  for text in '' '{ not json' '[]' '{} {}'; do
    write_config "$text"
    ask "$(request 1 server/discover)"
    assert_code -32603
    write_tools "$text"
    ask "$(request 1 tools/list)"
    assert_code -32603
  done
  rm "$MCP_CONFIG_FILE" "$MCP_TOOLS_LIST_FILE"
  ask "$(request 1 server/discover)"
  assert_code -32603
  ask "$(request 1 tools/list)"
  assert_code -32603
}

@test "fault 3: a separator in jsonrpc or method is a part of it" {
  ask "{\"jsonrpc\":\"2.0\\u001f1\\u001ftools/list\",\"id\":1,\"method\":\"x\",\"params\":{$META}}"
  assert_code -32600
  ask "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\\u001f2026-07-28\",\"params\":{}}"
  assert_code -32022
  ask "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\\u001f2026-07-28\\u001ffilms\",\"params\":{$META}}"
  assert_code -32601
}

@test "fault 8: a method, a name, an id and a revision of 200 KB are answered" {
  local long
  printf -v long '%0200000d' 0
  ask "$(request 1 "$long")"
  assert_code -32601
  ask "$(call 1 "a$long")"
  assert_code -32602
  ask "$(request "\"$long\"" tools/list)"
  [[ $output == "{\"jsonrpc\":\"2.0\",\"id\":\"$long\",\"result\":"* ]] || fail 'another id'
  ask "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"$long\"}}}"
  [[ $output == *'"code":-32022,'* ]] || fail "${output:0:100}"
}

@test "fault 9: odd values in the configuration and the variables are as good as none" {
  write_config '{"supportedVersions":"x","capabilities":[1],"ttlMs":"soon","cacheScope":7,"instructions":{"a":1},"serverInfo":5}'
  MCP_DEFAULT_TTL_MS=soon MCP_DEFAULT_CACHE_SCOPE=everybody
  ask "$(request 1 server/discover)"
  assert_json '[["2026-07-28"],"object",60000,"public"]' \
    '[it.result.supportedVersions, Array.isArray(it.result.capabilities) ? "array" : typeof it.result.capabilities, it.result.ttlMs, it.result.cacheScope]'
  assert_json '{"name":"BashMCPServer","version":"0.0.0"}' 'it.result._meta["io.modelcontextprotocol/serverInfo"]'
  write_config '{"supportedVersions":["1999-01-01"],"ttlMs":-1}'
  ask "$(request 1 tools/list)"
  assert_json 60000 it.result.ttlMs
}

@test "fault 10: two documents on a line are none" {
  ask "$(call 1 films) {\"x\":1}"
  assert_code -32700 null
}

@test "fault 11: what is no object is refused" {
  local line
  for line in '[]' 5 null '"x"' "[$(call 1 films)]"; do
    ask "$line"
    assert_code -32600 null
  done
}

@test "fault 14: an id is a string or an integer, and a response is not answered" {
  local id
  for id in null 1.5 '[1]' true '{}'; do
    ask "$(request "$id" tools/list)"
    assert_code -32600 null
  done
  ask '{"jsonrpc":"2.0","id":1,"result":{}}'
  assert_output ''
}

@test "an id comes back to the digit" {
  local id
  for id in 9007199254740993 1e2 '"\u00e9"' -0; do
    ask "$(request "$id" tools/list)"
    [[ $output == "{\"jsonrpc\":\"2.0\",\"id\":$id,"* ]] || fail "$output"
  done
}

@test "a configuration that lists older revisions serves them" {
  write_config '{"supportedVersions":["2026-07-28","2025-06-18"],"serverInfo":{"name":"Cinema","version":"1.2.3"}}'
  serve 'tool_films() { echo two; }'
  send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
  await_response 1
  assert_json '["2025-06-18","Cinema"]' '[it.result.protocolVersion, it.result.serverInfo.name]' "$RESPONSE"
  send '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  send '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"films"}}'
  await_response 2
  assert_json '{"content":[{"type":"text","text":"two"}],"isError":false}' it.result "$RESPONSE"
  send '{"jsonrpc":"2.0","id":3,"method":"ping"}'
  await_response 3
  send "$(call 4 films)"
  await_response 4
  assert_json complete it.result.resultType "$RESPONSE"
}
