#!/usr/bin/env bats
# Scripts that change what a shell's code usually relies on are served all the
# same.
#
# RESPONSE is set by what is called here.
# shellcheck disable=SC2153,SC2154

load helpers/common
load helpers/client

setup() {
  common_setup
  export MARKER="$BATS_TEST_TMPDIR/marker"
  write_config '{}'
  write_tools '{"tools":[{"name":"t","inputSchema":{}},{"name":"inner","inputSchema":{}}]}'
}

# answer CODE… starts a server of these lines and wants its tool t to answer
# "t", twice: the second call meets what the first has left.
answer() {
  server_write "$(printf '%s\n' "$@" run_mcp_server)"
  server_start "$SCRIPT"
  local id
  for id in 1 2; do
    send "$(call_line "$id" t)"
    await_response "$id"
    assert_ok_text t "$RESPONSE"
  done
  close_input
  await_exit
  assert_equal "$STATUS" 0
}

# In POSIX mode there can be no functions of such names.
no_posix() { BASH_CMD=("${BASH_CMD[0]}"); }

@test "functions called like builtins" {
  no_posix
  local name functions=''
  for name in printf read exec trap local eval source set exit return kill unset declare shopt echo; do
    functions+="$name() { builtin :; }"$'\n'
  done
  answer "$functions" 'tool_t() { builtin echo t; }'
}

@test "a function called exec is the tool's again" {
  no_posix
  answer 'exec() { builtin echo t; }' 'tool_t() { exec; }'
}

@test "aliases called like builtins" {
  local prefix='shopt -s expand_aliases; alias exec=false read=false local=false trap=false'
  server_write "$(printf '%s\n' 'tool_t() { command echo t; }' run_mcp_server)"
  sed -i "1a $prefix" "$SCRIPT"
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  assert_ok_text t "$RESPONSE"
}

@test "options and IFS that change how words are split and paths are found" {
  answer 'shopt -s failglob nullglob nocasematch extglob; set -o noclobber; IFS=x' \
    'mcp_before_tool_call() { :; }' 'tool_t() { echo t; }'
}

@test "traps that every function and subshell inherits" {
  # shellcheck disable=SC2016 # The script expands it.
  answer 'set -ET' 'trap "echo debug >>\"$BATS_TEST_TMPDIR/debug\"" DEBUG' 'trap "echo error >&2" ERR' \
    'tool_t() { trap - DEBUG ERR; false; echo t; }'
}

@test "a trap that every function inherits is there in the tool" {
  server_write "$(printf '%s\n' 'set -ET' 'trap "echo trapped" ERR' 'tool_t() { false; echo t; }' run_mcp_server)"
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  assert_ok_text $'trapped\nt' "$RESPONSE"
}

@test "a dispatch inside a tool leaves the script's EXIT trap to the server" {
  # shellcheck disable=SC2016 # The script expands it.
  server_write "$(printf '%s\n' 'trap '\''echo ended >>"$MARKER"'\'' EXIT' 'tool_inner() { echo inner; }' \
    'tool_t() { handle_tools_call 7 '\''{"name":"inner"}'\'' >/dev/null; [[ -e $MARKER ]] || echo t; }' run_mcp_server)"
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  assert_ok_text t "$RESPONSE"
  close_input
  await_exit
  assert_equal "$(<"$MARKER")" ended
}

@test "a conch that is killed leaves the script's EXIT trap to its shell" {
  # shellcheck disable=SC2016 # The script expands it.
  server_write "$(printf '%s\n' 'trap '\''echo ended >>"$MARKER"'\'' EXIT' 'tool_t() { echo t; }' run_mcp_server)"
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  local pid
  # The server's only child when it is idle: its forks are gone by then.
  await_count 1 5
  for pid in $(pgrep -P "$SERVER_PID"); do
    kill -KILL "$pid"
  done
  await_exit
  assert_equal "$STATUS" 1
  assert_equal "$(<"$MARKER")" ended
}
