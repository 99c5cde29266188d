#!/usr/bin/env bats
# Servers over HTTP: statuses, headers, and what comes first. Cases with a number
# after H are what the framework itself tests.
#
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2153,SC2154

load helpers/common
load helpers/http

setup() {
  http_setup
}

@test "H1 server/discover is answered 200" {
  http_serve
  ask_http server/discover
  assert_status 200
  assert_json '["2026-07-28"]' it.result.supportedVersions
  grep -qi '^content-type: application/json' "$FIELDS"
}

@test "H2 tools/call is answered 200" {
  http_serve
  call_http films
  assert_status 200
  assert_text '[1,2]'
}

@test "H3 Mcp-Name may be in base64" {
  http_serve 'tool_films_2() { echo two; }'
  headers tools/call '=?base64?ZmlsbXNfMg==?='
  post "$(call 1 films_2)"
  assert_status 200
  assert_text two
}

@test "H4 a Mcp-Name other than the body's is refused" {
  http_serve
  headers tools/call echo
  post "$(call 1 films)"
  assert_status 400 -32020
}

@test "H5 a request without Mcp-Method is refused" {
  http_serve
  HEADERS=('MCP-Protocol-Version: 2026-07-28')
  post "$(request 1 tools/list)"
  assert_status 400 -32020
}

@test "H6 a request without MCP-Protocol-Version is refused" {
  http_serve
  HEADERS=('Mcp-Method: tools/list')
  post "$(request 1 tools/list)"
  assert_status 400 -32020
}

@test "H7 a revision other than the body's is a mismatch, and not one that is not served" {
  http_serve
  HEADERS=('MCP-Protocol-Version: 2025-06-18' 'Mcp-Method: tools/list')
  post "$(request 1 tools/list)"
  assert_status 400 -32020
}

@test "H8 a revision that is not served is told which there are" {
  http_serve
  HEADERS=('MCP-Protocol-Version: 1999-01-01' 'Mcp-Method: tools/list')
  post '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}'
  assert_status 400 -32022
  assert_json '{"supported":["2026-07-28"],"requested":"1999-01-01"}' it.error.data
}

@test "H9 an unknown method is answered 404" {
  http_serve
  ask_http resources/list
  assert_status 404 -32601
}

@test "H10 what is no JSON is answered 400" {
  http_serve
  headers tools/list
  post garbage
  assert_status 400 -32700 null
}

@test "H11 a notification is answered 202, and nothing" {
  http_serve
  headers notifications/cancelled
  post '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
  assert_status 202
  assert_output ''
}

@test "H12 GET is answered 405" {
  http_serve
  fetch
  assert_status 405
  grep -qi '^allow: POST' "$FIELDS"
}

@test "H13 DELETE is answered 405" {
  http_serve
  fetch -X DELETE
  assert_status 405
}

@test "H14 a page of somebody else's is answered 403" {
  http_serve
  headers tools/list
  post "$(request 1 tools/list)" -H 'Origin: https://evil.example'
  assert_status 403 -32600 null
}

@test "H15 a page of this machine is answered, whatever its port" {
  http_serve
  headers tools/list
  post "$(request 1 tools/list)" -H 'Origin: http://localhost:5173'
  assert_status 200
}

@test "H16 Mcp-Session-Id and Last-Event-ID are ignored" {
  http_serve
  headers tools/list
  post "$(request 1 tools/list)" -H 'Mcp-Session-Id: 5' -H 'Last-Event-ID: 7'
  assert_status 200
  refute grep -qi '^mcp-session-id' "$FIELDS"
}

# connection has a script answer the request on standard input.
connection() {
  http_script
  run --separate-stderr "${BASH_CMD[@]}" "$SCRIPT" handle-connection
}

# assert_answer STATUS wants output to begin so, and sets it to the body.
assert_answer() {
  [[ $output == "HTTP/1.1 $1"* ]] || fail "$output"
  output=${output#*$'\r\n\r\n'}
}

@test "H17 handle-connection answers the request on standard input" {
  local body
  body=$(call 1 films)
  connection < <(raw_request "$body" "Content-Length: ${#body}")
  assert_success
  assert_answer '200 OK'
  assert_text '[1,2]'
}

@test "H18 it does so in every Bash there is" {
  local shell body
  body=$(call 1 films)
  http_script
  for shell in /bin/bash /usr/bin/bash /usr/local/bin/bash /opt/homebrew/bin/bash; do
    [[ -x $shell ]] || continue
    run --separate-stderr "$shell" "$SCRIPT" handle-connection < <(raw_request "$body" "Content-Length: ${#body}")
    assert_success
    assert_answer '200 OK'
    assert_text '[1,2]'
  done
}

@test "H19 another path is answered 404" {
  http_serve
  URL=${URL%/mcp}/other
  ask_http tools/list
  assert_status 404 -32600 null
}

@test "handle-connection needs no script file" {
  local body
  body=$(call 1 films)
  run --separate-stderr "${BASH_CMD[@]}" -c '
    source "$SDK/mcpserver_core.sh"; source "$SDK/mcpserver_http.sh"
    tool_films() { echo two; }
    run_mcp_http_server handle-connection' < <(raw_request "$body" "Content-Length: ${#body}")
  assert_success
  assert_answer '200 OK'
  assert_text two
}

@test "handle-connection answers what is no request, and nothing to nothing" {
  connection <<<garbage
  assert_success
  assert_answer '400 Bad Request'
  connection < <(raw_request '{' 'Content-Length: 99')
  assert_answer '400 Bad Request'
  assert_code -32600 null
  connection < <(raw_request '' 'Origin: https://evil.example' 'Content-Length: 0')
  assert_answer '403 Forbidden'
  connection </dev/null
  assert_success
  assert_output ''
}

@test "handle-connection waits for a request no longer than a server does" {
  mkfifo pipe
  exec {open}<>pipe
  raw_request '{' 'Content-Length: 99' >&"$open"
  CONCH_FLAGS='--header-timeout 200ms --read-timeout 200ms' connection <pipe
  exec {open}>&-
  assert_success
  assert_answer '408 Request Timeout'
}

@test "handle-connection may be what another program starts for each connection" {
  local body
  body=$(call 1 films)
  http_script 'tool_films() { echo two >&2; echo two; }'
  # Both ends of a pipe at once, as a socket has them.
  coproc CLIENT { "${BASH_CMD[@]}" "$SCRIPT" handle-connection 2>/dev/null 3>&-; }
  raw_request "$body" "Content-Length: ${#body}" >&"${CLIENT[1]}"
  output=$(cat <&"${CLIENT[0]}")
  assert_answer '200 OK'
  assert_text two
}

@test "server/discover need not say which revision it wants" {
  http_serve
  HEADERS=('MCP-Protocol-Version: 1999-01-01' 'Mcp-Method: server/discover')
  post '{"jsonrpc":"2.0","id":1,"method":"server/discover"}'
  assert_status 200
}

@test "the faults of a message are looked for in an order" {
  http_serve
  HEADERS=('MCP-Protocol-Version: 2026-07-28')
  post '{"jsonrpc":"1.0"'
  assert_status 400 -32700 null
  # What has no id is a notification, whatever else it is.
  post '{"jsonrpc":"1.0","method":"tools/list"}'
  assert_status 202
  post '{"jsonrpc":"1.0","id":1,"method":"tools/list"}'
  assert_status 400 -32600
  # The version's header comes before the method's, that before the name's, and
  # they before the revision.
  HEADERS=('Mcp-Method: x')
  post "$(call 1 films)"
  assert_status 400 -32020
  [[ $output == *MCP-Protocol-Version* ]] || fail "$output"
  HEADERS=('MCP-Protocol-Version: 2026-07-28' 'Mcp-Name: x')
  post "$(call 1 films)"
  [[ $output == *Mcp-Method* ]] || fail "$output"
  HEADERS=('MCP-Protocol-Version: 1999-01-01' 'Mcp-Method: tools/list')
  post '{"jsonrpc":"2.0","id":1,"method":"nonsense","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}'
  assert_status 400 -32020
  # A revision comes before a method.
  HEADERS=('MCP-Protocol-Version: 1999-01-01' 'Mcp-Method: nonsense')
  post '{"jsonrpc":"2.0","id":1,"method":"nonsense","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}'
  assert_status 400 -32022
}

@test "an origin is looked at before a method, and a method before a path" {
  http_serve
  URL=${URL%/mcp}/other
  fetch -H 'Origin: https://evil.example'
  assert_status 403
  fetch
  assert_status 405
  fetch -X PUT
  assert_status 405
  post '{}'
  assert_status 404
}

@test "what a tool or its caller did wrong is answered 200" {
  http_serve 'tool_fail() { echo no; return 3; }'
  call_http fail
  assert_status 200
  assert_failed no
  call_http nonsense
  assert_status 200 -32602
  rm "$MCP_TOOLS_LIST_FILE"
  ask_http tools/list
  assert_status 200 -32603
  rm "$MCP_CONFIG_FILE"
  ask_http server/discover
  assert_status 200 -32603
}

@test "a name that cannot be one is answered 400" {
  http_serve
  call_http invalid-tool-name!
  assert_status 400 -32600
}

@test "the path is MCP_HTTP_PATH, whatever the query" {
  export MCP_HTTP_PATH=/a/b
  http_serve
  [[ $URL == */a/b ]] || fail "$URL"
  ask_http tools/list
  assert_status 200
  URL="$URL?x=y"
  ask_http tools/list
  assert_status 200
  URL=${URL%b?x=y}
  ask_http tools/list
  assert_status 404
}

@test "settings count as they are when the server starts, and files as they are at each request" {
  http_serve 'MCP_HTTP_PATH=/later'
  [[ $URL == */later ]] || fail "$URL"
  ask_http tools/list
  assert_json 2 it.result.tools.length
  write_tools '{"tools":[]}'
  ask_http tools/list
  assert_json 0 it.result.tools.length
}

@test "neither Content-Type nor Accept is asked for" {
  http_serve
  headers tools/list
  post "$(request 1 tools/list)" -H 'Content-Type: text/plain' -H 'Accept: text/html'
  assert_status 200
  post "$(request 1 tools/list)" -H 'Content-Type;' -H 'Accept:'
  assert_status 200
}

@test "origins are those of MCP_ALLOWED_ORIGINS, to the letter, with any port" {
  local origin
  export MCP_ALLOWED_ORIGINS='https://app.example , http://localhost:8080,'
  http_serve
  headers tools/list
  for origin in https://app.example https://app.example:8443 http://localhost:8080; do
    post "$(request 1 tools/list)" -H "Origin: $origin"
    assert_status 200
  done
  for origin in http://app.example https://app.example.evil.example https://app.example: https://app.example:x \
    https://APP.example http://localhost http://localhost:80 http://127.0.0.1 null; do
    post "$(request 1 tools/list)" -H "Origin: $origin"
    assert_status 403
  done
  post "$(request 1 tools/list)" -H 'Origin: https://app.example' -H 'Origin: https://evil.example'
  assert_status 403
  post "$(request 1 tools/list)"
  assert_status 200
}

@test "any name may lead to the server" {
  http_serve
  headers tools/list
  post "$(request 1 tools/list)" -H 'Host: mcp.example'
  assert_status 200
}

@test "clients of older revisions have sessions, where the configuration lists one" {
  local session
  write_config '{"supportedVersions":["2026-07-28","2025-06-18"]}'
  http_serve
  HEADERS=()
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
  assert_status 200
  assert_json 2025-06-18 it.result.protocolVersion
  session=$(sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: \([^[:space:]]*\).*/\1/p' "$FIELDS")
  [[ -n $session ]] || fail "$(<"$FIELDS")"
  HEADERS=("Mcp-Session-Id: $session" 'MCP-Protocol-Version: 2025-06-18')
  post '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  assert_status 202
  post '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"films"}}'
  assert_status 200
  assert_text '[1,2]'
  fetch -X DELETE
  assert_status 204
  post '{"jsonrpc":"2.0","id":3,"method":"ping"}'
  assert_status 404 -32600 3
  # The other era is served beside them.
  call_http films
  assert_status 200
}

@test "without one, initialize is told which revisions there are" {
  http_serve
  HEADERS=()
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
  assert_status 400 -32022
  assert_json '{"supported":["2026-07-28"],"requested":"2025-06-18"}' it.error.data
}
