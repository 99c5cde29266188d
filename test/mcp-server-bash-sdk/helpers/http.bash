# Servers over HTTP, and curl for their client.
#
#   load helpers/common
#   load helpers/http
#   setup() { http_setup; }
#
# The servers are those of client.bash, and so is the teardown.
#
# shellcheck shell=bash
# bats sets `output` and `status`; the suites use what is set here.
# shellcheck disable=SC2034,SC2154

http_setup() {
  sdk_setup
  unset MCP_HTTP_BIND MCP_HTTP_PATH MCP_ALLOWED_ORIGINS
  # No two servers ask for the same: each says which port it was given.
  export MCP_HTTP_PORT=0
  # curl is not to send anything elsewhere.
  unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
  CURLS=()
}

# What ends the scripts: the client's marker is no argument of theirs.
# shellcheck disable=SC2016 # The script expands it.
HTTP_CHOICE='[[ ${1-} != --mcp-test-instance=* ]] || shift
case ${1-} in
  --http) run_mcp_http_server ;;
  handle-connection) run_mcp_http_server handle-connection ;;
  *) run_mcp_server ;;
esac'

# http_script [BODY] [FILE] writes a script with two tools and these lines of
# Bash, which chooses its transport by its arguments. Sets SCRIPT.
http_script() {
  SCRIPT=${2:-$BATS_TEST_TMPDIR/server.sh}
  # shellcheck disable=SC2016 # The script expands it.
  printf '%s\n' '#!/usr/bin/env bash' 'source "$SDK/mcpserver_core.sh"' 'source "$SDK/mcpserver_http.sh"' \
    'tool_films() { echo "[1,2]"; }' 'tool_echo() { printf "%s" "$1"; }' "${1-}" "$HTTP_CHOICE" >"$SCRIPT"
  chmod +x "$SCRIPT"
}

# http_serve [BODY] [FILE] starts such a script with --http, and waits until it
# says where it listens. Sets URL and PORT.
http_serve() {
  http_script "$@"
  http_start "$SCRIPT" --http
}

http_start() {
  server_start --isolated "$@"
  within '' listening_or_end || fail 'it does not listen'
  URL=$(sed -n 's/^MCP HTTP server listening on //p' "$SERVER_STDERR")
  [[ -n $URL ]] || fail "it has ended: $(<"$SERVER_STDERR")"
  PORT=${URL#*://*:} PORT=${PORT%%/*}
}

listening_or_end() {
  grep -q '^MCP HTTP server listening on ' "$SERVER_STDERR" || ! alive "$SERVER_PID"
}

# headers METHOD [TOOL] sets HEADERS to those of a request.
headers() {
  HEADERS=('MCP-Protocol-Version: 2026-07-28' "Mcp-Method: $1")
  if [[ -n ${2-} ]]; then HEADERS+=("Mcp-Name: $2"); fi
}

# post BODY [ARGUMENT…] posts a body with HEADERS and further arguments of
# curl's. Sets CODE, output to the body of the answer, and FIELDS to a file of its
# headers.
post() {
  printf '%s' "$1" >"$BATS_TEST_TMPDIR/posted"
  shift
  fetch --data-binary "@$BATS_TEST_TMPDIR/posted" "$@"
}

# fetch [ARGUMENT…] has curl ask without a body.
fetch() {
  local header
  local -a arguments=()
  for header in ${HEADERS[@]+"${HEADERS[@]}"}; do arguments+=(-H "$header"); done
  FIELDS="$BATS_TEST_TMPDIR/fields"
  CODE=$(curl -sS -m "$CLIENT_SECONDS" -o "$BATS_TEST_TMPDIR/answer" -D "$FIELDS" -w '%{http_code}' \
    ${arguments[@]+"${arguments[@]}"} "$@" "$URL") || fail "curl ended with $?"
  output=$(<"$BATS_TEST_TMPDIR/answer")
}

# ask_http METHOD, and call_http TOOL [ARGUMENTS], post a request as clients do.
ask_http() {
  headers "$1"
  post "$(request 1 "$1")"
}

call_http() {
  headers tools/call "$1"
  post "$(call 1 "$1" "${2-}")"
}

# call_aside TOOL NAME posts a call in the background, whose answer, and then its
# status, are written to a file NAME. Sets ASIDE to the pid of its curl.
call_aside() {
  local header
  local -a arguments=()
  headers tools/call "$1"
  for header in "${HEADERS[@]}"; do arguments+=(-H "$header"); done
  curl -sS -m 60 -w '%{http_code}\n' "${arguments[@]}" -d "$(call 1 "$1")" "$URL" >"$2" 2>&1 3>&- &
  ASIDE=$!
  CURLS+=("$ASIDE")
}

teardown() {
  local pid
  for pid in ${CURLS[@]+"${CURLS[@]}"}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  client_teardown
}

# assert_status CODE [NUMBER [ID]] wants a status, and an error of that number
# where there is one.
assert_status() {
  [[ $CODE == "$1" ]] || fail "status $CODE, not $1: $output"
  if [[ -n ${2-} ]]; then assert_code "$2" "${3:-1}"; fi
}

# raw TEXT writes bytes to the server, and sets output to all that it answers.
# Slow or huge requests go on while it writes.
raw() {
  exec {RAW}<>"/dev/tcp/127.0.0.1/$PORT"
  printf '%s' "$1" >&"$RAW"
  output=$(timeout "$CLIENT_SECONDS" cat <&"$RAW") || true
  exec {RAW}>&-
}

# raw_request BODY [LINE…] is the text of a call of films, on a connection of its
# own, with these further header lines.
raw_request() {
  local body=$1
  shift
  printf '%s\r\n' 'POST /mcp HTTP/1.1' 'Host: localhost' 'MCP-Protocol-Version: 2026-07-28' \
    'Mcp-Method: tools/call' 'Mcp-Name: films' 'Connection: close' "$@"
  printf '\r\n%s' "$body"
}
