#!/usr/bin/env bats
# tools/call with params that are no object.
#
# run sets stderr.
# shellcheck disable=SC2154

load helpers/common

setup() {
  common_setup
}

# tools_call PARAMS is a request with that for its params.
tools_call() {
  printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}' "$1"
}

# assert_invalid PARAMS wants them to be refused.
assert_invalid() {
  source_core
  pr "$(tools_call "$1")"
  assert_error -32602 'Invalid params: expected an object'
  assert_equal "$(json it.id)" 1
}

# session CODE… runs lines of code, the last of which serves, on a call with a
# number for its params and a ping.
session() {
  run --separate-stderr "${BASH_CMD[@]}" -c "$(printf '%s\n' "$@")" \
    <<<"$(tools_call 5)"$'\n'"$(ping_line 2)"
  assert_success
  assert_equal "${#lines[@]}" 2
  assert_error -32602 'Invalid params: expected an object' "${lines[0]}"
  assert_result '{}' "${lines[1]}"
}

@test "307 a number for params" {
  assert_invalid 5
}

@test "308 a string for params" {
  assert_invalid '"x"'
}

@test "309 an array for params" {
  assert_invalid '[1,2]'
}

@test "310 a server in posix mode survives them" {
  # shellcheck disable=SC2016 # The new shell expands it.
  session 'set -o posix' 'source "$CORE"' '( run_mcp_server )'
}

@test "311 nothing is said of them on standard error" {
  # shellcheck disable=SC2016 # The new shell expands it.
  session 'source "$CORE"' '( run_mcp_server )'
  assert_equal "$stderr" ''
}
