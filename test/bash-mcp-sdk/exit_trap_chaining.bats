#!/usr/bin/env bats
# The EXIT trap that a script had when it called run_mcp_server runs once,
# bounded, with nothing of the protocol in reach, and changes no exit status.
#
# STATUS and stderr are set by what is called here.
# shellcheck disable=SC2153,SC2154

load helpers/common
load helpers/client

setup() {
  common_setup
  export MARKER="$BATS_TEST_TMPDIR/marker"
}

# serve CODE… runs a server of these lines on no input at all.
serve() {
  server_write "$(printf '%s\n' "$@")"
  run "${BASH_CMD[@]}" "$SCRIPT" </dev/null
}

# start CODE… starts a server of these lines and waits until it serves.
start() {
  server_write "$(printf '%s\n' "$@")"
  server_start "$SCRIPT"
  send "$(ping_line 1)"
  await_response 1
}

@test "113 the script's EXIT trap runs when the input ends" {
  : >"$MARKER"
  # shellcheck disable=SC2016 # The script expands it.
  serve 'trap '\''rm "$MARKER"'\'' EXIT' run_mcp_server
  assert_success
  refute [ -e "$MARKER" ]
}

@test "114 it runs on SIGTERM, by which the server then dies" {
  # shellcheck disable=SC2016 # The script expands it.
  start 'trap '\''printf chained >"$MARKER"'\'' EXIT' run_mcp_server
  kill -TERM "$SERVER_PID"
  await_exit
  assert_equal "$STATUS" 143
  assert_equal "$(<"$MARKER")" chained
}

@test "115 its standard input is at its end" {
  # shellcheck disable=SC2016 # The script expands it.
  start 'handler() { read -r -t 2 line; printf "%s" "$?" >"$MARKER"; }' 'trap handler EXIT' run_mcp_server
  kill -TERM "$SERVER_PID"
  await_exit
  assert_equal "$STATUS" 143
  assert_equal "$(<"$MARKER")" 1
}

@test "116 each command of a compound trap runs once" {
  # shellcheck disable=SC2016 # The script expands it.
  serve 'first() { echo first >>"$MARKER.1"; }' 'second() { echo second >>"$MARKER.2"; }' \
    'trap "first; second" EXIT' run_mcp_server
  assert_success
  assert_equal "$(<"$MARKER.1")" first
  assert_equal "$(<"$MARKER.2")" second
}

@test "117 what it prints goes to standard error" {
  server_write 'trap '\''echo handler stdout'\'' EXIT'$'\n''run_mcp_server'
  run --separate-stderr "${BASH_CMD[@]}" "$SCRIPT" <<<'{"jsonrpc":"2.0","id":1,"method":"initialize"}'
  assert_success
  assert_output --regexp '^\{"jsonrpc":"2\.0","id":1,"result":\{[^'$'\n'']*\}$'
  assert_regex "$stderr" 'handler stdout'
}

@test "118 its failure changes no exit status and leaves no file" {
  # shellcheck disable=SC2016 # The script expands it.
  serve 'trap '\''touch "$MARKER"; false'\'' EXIT' run_mcp_server
  assert_success
  assert [ -e "$MARKER" ]
  assert_empty "$TMPDIR"
  assert_empty "$XDG_RUNTIME_DIR"
  assert_logged 'Chained caller EXIT trap failed with status 1' 1
}

@test "119 in posix mode nothing runs where there is no trap" {
  serve 'set -o posix' run_mcp_server
  assert_success
  assert_output ''
  refute_logged 'Chained caller EXIT trap failed'
}

@test "120 a signal that the trap sends is what the server dies by" {
  # shellcheck disable=SC2016 # The script expands it.
  serve 'trap '\''kill -TERM $$'\'' EXIT' run_mcp_server
  assert_equal "$status" 143
}

@test "121 it is given two seconds" {
  local began=$SECONDS
  # shellcheck disable=SC2016 # The script expands it.
  serve 'trap '\''sleep 10; touch "$MARKER"'\'' EXIT' run_mcp_server
  assert_success
  ((SECONDS - began < 8))
  refute [ -e "$MARKER" ]
  assert_logged 'Chained caller EXIT trap did not finish within 2s; killed' 1
}

@test "122 a server run in a subshell leaves the trap to its parent" {
  # shellcheck disable=SC2016 # The new shell expands it.
  run "${BASH_CMD[@]}" -c 'trap '\''echo ran >>"$MARKER"'\'' EXIT
    source "$CORE"
    ( run_mcp_server )' server </dev/null
  assert_success
  assert_equal "$(<"$MARKER")" ran
}
