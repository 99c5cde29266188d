#!/usr/bin/env bats
# What goes wrong over HTTP in the framework itself, by the number of its fault
# where it has one, and how servers end.
#
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2153,SC2154

load helpers/common
load helpers/http

setup() {
  http_setup
}

# assert_raw STATUS wants output to begin with that status.
assert_raw() { [[ $output == "HTTP/1.1 $1 "* ]] || fail "not $1: $output"; }

# servers_alive is how many processes the server has.
servers_alive() { started | grep -c . || true; }

@test "fault 1: a length is never evaluated" {
  local length
  http_serve
  for length in 'x[$(touch ran)]' 'a[$(touch ran)0]' '$(touch ran)' '`touch ran`' 1e3 0x10 -1 '5 5'; do
    raw "$(raw_request '{}' "Content-Length: $length")"
    assert_raw 400
  done
  [[ ! -e ran ]] || fail 'a command was run'
  call_http films
  assert_status 200
}

@test "fault 2: MCP_HTTP_BIND says where it listens" {
  export MCP_HTTP_BIND=127.0.0.2
  http_serve
  [[ $URL == http://127.0.0.2:* ]] || fail "$URL"
  call_http films
  assert_status 200
  run curl -s -m 5 "http://127.0.0.1:$PORT/mcp"
  assert_failure 7
}

@test "fault 2: an address that others can reach is warned of" {
  export MCP_HTTP_BIND=0.0.0.0
  http_start_anywhere
  grep -q -- '--token-file' "$SERVER_STDERR"
  log_has '[WARN] anybody who reaches'
}

# http_start_anywhere starts a server, and asks it nothing.
http_start_anywhere() {
  http_script
  server_start --isolated "$SCRIPT" --http
  within '' listening_or_end || fail 'it does not listen'
}

@test "fault 3: a separator smuggles no method past the headers" {
  http_serve 'tool_hit() { touch hit; echo hit; }'
  headers tools/list
  post "$(request 1 'tools/call\u001fx' '"name":"hit"')"
  assert_status 400 -32020
  HEADERS=('MCP-Protocol-Version: 2026-07-28' 'Mcp-Method: tools/call' 'Mcp-Name: films')
  post "$(request 1 tools/call '"name":"films\u001fhit"')"
  assert_status 400 -32020
  [[ ! -e hit ]] || fail 'the tool ran'
}

@test "fault 5: base64 that is none, and headers that are there twice, are refused" {
  local name
  http_serve
  for name in '=?base64?!!!?=' '=?base64?Zmlsb?=' '=?base64?/w==?=' '=?base64?ZmlsbXM?='; do
    headers tools/call "$name"
    post "$(call 1 films)"
    assert_status 400 -32020
  done
  for name in 'MCP-Protocol-Version: 2026-07-28' 'Mcp-Method: tools/call' 'Mcp-Name: films'; do
    headers tools/call films
    post "$(call 1 films)" -H "$name"
    assert_status 400 -32020
  done
}

@test "fault 7: a body that is no ASCII is whole" {
  local text='Dvořák – 東京 🎬'
  http_serve
  call_http echo "{\"text\":\"$text\"}"
  assert_status 200
  assert_json "{\"text\":\"$text\"}" 'it.result.content[0].text'
}

@test "a body of a megabyte is whole" {
  local long
  printf -v long '%01000000d' 0
  http_serve 'tool_size() { printf "%s" "${#arg_text}"; }'
  call_http size "{\"text\":\"$long\"}"
  assert_text 1000000
}

@test "fault 16: a tool that hangs holds nobody up" {
  http_serve 'tool_hang() { echo "$BASHPID" >pid; sleep 100; }'
  call_aside hang answer
  await_file pid
  call_http films
  assert_status 200
}

@test "fault 17: what a tool leaves running does not hold its answer up" {
  http_serve 'tool_leave() { sleep 100 & echo "$!" >pid; echo done; }'
  call_http leave
  assert_text 'done'
  await_gone "$(<pid)"
}

@test "fault 18: a client that leaves has its tool ended, with all that it has started" {
  http_serve 'tool_hang() { sleep 100 & echo "$BASHPID $!" >pids; wait; }'
  call_aside hang answer
  await_file pids
  kill "$ASIDE"
  local pid
  for pid in $(<pids); do await_gone "$pid"; done
  call_http films
  assert_status 200
}

@test "fault 19: SIGTERM, SIGINT and SIGHUP end the server at once, by the signal, and free the port" {
  local signal
  for signal in TERM INT HUP; do
    http_serve 'tool_hang() { sleep 100 & echo "$BASHPID $!" >pids; wait; }'
    call_aside hang answer
    await_file pids
    kill "-$signal" "$SERVER_PID"
    # The drain of conch serve, and the minute of standard input, are longer.
    await_exit 9
    assert_equal "$STATUS" "$((128 + $(kill -l "$signal")))"
    await_nothing_runs
    run curl -s -m 5 "$URL"
    assert_failure 7
    within '' grep -q '503$' answer || fail "the call in flight: $(<answer)"
    refute_logged --drain
    rm pids answer
  done
  assert_empty "$TMPDIR"
  assert_empty "$XDG_RUNTIME_DIR"
}

@test "SIGTERM to the whole group ends it as well" {
  http_serve 'tool_hang() { sleep 100 & echo "$BASHPID $!" >pids; wait; }'
  call_aside hang answer
  await_file pids
  kill -TERM -- "-$SERVER_PID"
  await_exit 9
  assert_equal "$STATUS" 143
  await_nothing_runs
}

@test "SIGKILL of the script or of conch leaves nothing" {
  local victim conch
  for victim in script conch; do
    http_serve 'tool_hang() { sleep 100 & echo "$BASHPID $!" >pids; wait; }'
    call_aside hang answer
    await_file pids
    conch=$(pgrep -P "$SERVER_PID" -f __mcp-server-bash-sdk)
    if [[ $victim == script ]]; then kill -KILL "$SERVER_PID"; else kill -KILL "$conch"; fi
    await_exit
    await_nothing_runs
    run curl -s -m 5 "$URL"
    assert_failure 7
    rm pids
  done
}

@test "the script's EXIT trap runs when the server ends" {
  http_serve 'trap "echo trapped >ended" EXIT'
  kill "$SERVER_PID"
  await_exit
  assert_equal "$(<ended)" trapped
}

@test "fault 20: two hundred idle connections are no processes" {
  local i before fds=() fd
  http_serve
  call_http films
  before=$(servers_alive)
  for ((i = 0; i < 200; i++)); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
    fds+=("$fd")
    if ((i % 2)); then printf 'POST /mcp HTTP/1.1\r\n' >&"$fd"; fi
  done
  call_http films
  assert_status 200
  (($(servers_alive) <= before + 2)) || fail "$before processes became $(servers_alive)"
  for fd in "${fds[@]}"; do exec {fd}>&-; done
}

@test "fault 21: a body has a limit, with a name" {
  export CONCH_FLAGS='--max-body 1KiB'
  http_serve
  headers tools/call echo
  post "$(call 1 echo "{\"text\":\"$(printf '%02000d' 0)\"}")"
  assert_status 413 -32600 null
  [[ $output == *--max-body* ]] || fail "$output"
  # One that does not say how long it is, too.
  post "$(call 1 echo "{\"text\":\"$(printf '%02000d' 0)\"}")" -H 'Transfer-Encoding: chunked'
  assert_status 413 -32600 null
  raw "$(raw_request '{' 'Content-Length: 99999999999999')"
  assert_raw 413
  call_http films
  assert_status 200
}

@test "fault 22: two thousand headers are answered soon" {
  local before many
  http_serve
  many=$(printf 'X-Header-Number-%d: a value that is of no use\r\n' {1..2000})
  before=$(now)
  raw "$(raw_request '{}' "$many"$'\r' 'Content-Length: 2')"
  assert_raw 431
  (($(now) - before < 6000)) || fail "it took $(($(now) - before)) ms"
  call_http films
  assert_status 200
}

@test "fault 22: spaces around a header's value and any case of its name are fine" {
  local body
  body=$(call 1 films)
  http_serve
  output=$(printf 'POST /mcp HTTP/1.1\r\nHost: x\r\nmcp-protocol-VERSION:   2026-07-28  \r\nMCP-METHOD:\ttools/call\t\r\nmcp-name:films\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
    "${#body}" "$body" | curl -sS -m "$CLIENT_SECONDS" "telnet://127.0.0.1:$PORT")
  assert_raw 200
}

@test "fault 23: bodies may come in chunks, and after a 100" {
  http_serve
  headers tools/call films
  post "$(call 1 films)" -H 'Transfer-Encoding: chunked'
  assert_status 200
  assert_text '[1,2]'
  # curl waits for the 100 for longer than this test may take.
  post "$(call 1 films)" -H 'Expect: 100-continue' --expect100-timeout 60
  assert_status 200
  grep -q '^HTTP/1.1 100 ' "$FIELDS"
}

@test "fault 24: the script's path may have blanks and quotes" {
  local place="$BATS_TEST_TMPDIR/a b'c\"d\$e"
  mkdir "$place"
  http_serve '' "$place/my server.sh"
  call_http films
  assert_status 200
}

@test "fault 25: a port that is taken is said, with what to do, and nothing of listening" {
  local first taken
  http_serve
  first=$SERVER_PID taken=$PORT
  MCP_HTTP_PORT=$taken server_start --isolated "$SCRIPT" --http
  await_exit
  [[ $STATUS == 1 ]] || fail "status $STATUS"
  grep -q 'MCP_HTTP_PORT.*another program listens there.*another port' "$SERVER_STDERR"
  refute grep -q 'listening on' "$SERVER_STDERR"
  alive "$first"
  call_http films
  assert_status 200
}

@test "settings that make no sense are named, and end the server" {
  local setting
  for setting in MCP_HTTP_PORT=x MCP_HTTP_PORT=70000 MCP_HTTP_PATH=mcp MCP_HTTP_PATH=/healthz 'MCP_HTTP_PATH=/mcp?x' 'MCP_HTTP_BIND=a b' CONCH_FLAGS=--max-body=0 \
    CONCH_FLAGS=--token-file=none CONCH_FLAGS=--tls-cert=x; do
    http_script "export '$setting'"
    run --separate-stderr timeout "$CLIENT_SECONDS" "${BASH_CMD[@]}" "$SCRIPT" --http
    assert_failure
    [[ $status -lt 124 && $stderr == *"\$${setting%%=*}"* ]] || fail "$setting: $status, $stderr"
    [[ $stderr != *'listening on'* ]] || fail "$stderr"
  done
}

@test "fault 27: the log holds no bodies, and is for its owner alone" {
  http_serve
  call_http echo '{"text":"secret one"}'
  assert_status 200
  headers tools/call echo
  post '{"secret two'
  raw "$(raw_request 'secret three' 'Content-Length: x')"
  await_log 'tool=echo'
  refute_logged secret
  assert_equal "$(stat -c %a "$MCP_LOG_FILE")" 600
  assert_logged 'MCP HTTP server listening on http://127.0.0.1:'
}

@test "what a tool says on standard error is the server's" {
  http_serve 'tool_warn() { echo careful >&2; echo done; }'
  call_http warn
  assert_text 'done'
  within '' grep -qx careful "$SERVER_STDERR" || fail 'it is not there'
}

@test "a server may be one line, with tools that are in memory alone" {
  http_start_line 'tool_memory() { echo "$known"; }; known=before; MCP_HTTP_PORT=0'
  call_http memory
  assert_text before
}

# http_start_line CODE starts a server that has no script.
http_start_line() {
  SCRIPT="$BATS_TEST_TMPDIR/start"
  # The client knows the server by its arguments.
  printf '#!/bin/sh\nexec bash -c "$CODE" "$0" "$@"\n' >"$SCRIPT"
  chmod +x "$SCRIPT"
  BASH_CMD=(bash)
  CODE='source "$SDK/mcpserver_core.sh"; source "$SDK/mcpserver_http.sh"; '"$1; run_mcp_http_server" http_start "$SCRIPT"
}

@test "calls beside each other are all answered" {
  local i pids=()
  http_serve 'tool_slow() { sleep 0.2; echo slow; }'
  for i in {1..12}; do
    call_aside slow "answer$i"
    pids+=("$ASIDE")
  done
  for i in {1..12}; do
    wait "${pids[i - 1]}"
    grep -q '"text":"slow".*200$' "answer$i" || fail "$(<"answer$i")"
  done
}

@test "CONCH_FLAGS asks for tokens, and counts requests" {
  printf 'ada 0123456789abcdef0123\n' >tokens
  chmod 600 tokens
  export CONCH_FLAGS='--token-file tokens --rate 0.001 --burst 2'
  http_serve
  call_http films
  assert_status 401
  headers tools/call films
  post "$(call 1 films)" -H 'Authorization: Bearer 0123456789abcdef0123'
  assert_status 200
  post "$(call 1 films)" -H 'Authorization: Bearer 0123456789abcdef0123'
  assert_status 200
  post "$(call 1 films)" -H 'Authorization: Bearer 0123456789abcdef0123'
  assert_status 429
  refute_logged 0123456789
}

@test "a client that is slow to send is told so, by the flag's name" {
  export CONCH_FLAGS='--read-timeout 200ms'
  http_serve
  exec {RAW}<>"/dev/tcp/127.0.0.1/$PORT"
  raw_request '{' 'Content-Length: 99' >&"$RAW"
  output=$(timeout "$CLIENT_SECONDS" cat <&"$RAW")
  exec {RAW}>&-
  assert_raw 408
  [[ $output == *--read-timeout* ]] || fail "$output"
}
