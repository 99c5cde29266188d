#!/usr/bin/env bats
# Scripts that are in odd places, that name their variables as the drop-in file
# might, and that are ended at odd times.
#
# RESPONSE, STATUS and SCRIPT are set by what is called here.
# shellcheck disable=SC2153,SC2154,SC2317,SC2329

load helpers/common
load helpers/client

setup() {
  common_setup
  export MARKER="$BATS_TEST_TMPDIR/marker"
  write_tools '{"tools":[{"name":"t","inputSchema":{}},{"name":"slow","inputSchema":{}},{"name":"look","inputSchema":{}}]}'
}

# place PATH puts the drop-in file and conch into a directory of that name, and
# has the file used from there.
place() {
  mkdir -p "$1"
  cp "$CORE" "$1/mcpserver_core.sh"
  CORE="$1/mcpserver_core.sh"
}

@test "the file may be in a directory whose name has blanks and wildcards" {
  touch a b
  place "$WORK/a place * with [ab] and x=y"
  run --separate-stderr core_in 'create_response 1 1'
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":1}'
  assert_equal "$stderr" ''
}

@test "conch is found beside a file in such a directory" {
  place "$WORK/a place"
  ln -s "$CONCH_BIN" "$WORK/a place/conch"
  unset CONCH_BIN
  PATH=/usr/bin:/bin run --separate-stderr core_in 'create_response 1 1'
  assert_success
  assert_equal "$stderr" ''
}

@test "the extra log may be in such a directory" {
  PROJECT_ROOT="$WORK/a project"
  mkdir -p "$PROJECT_ROOT/its log"
  source_core
  _configure_extra_log_file 'its log/x y.log'
  assert_equal "$MCP_EXTRA_LOG_FILE" "$PROJECT_ROOT/its log/x y.log"
  log INFO said
  run cat "$MCP_EXTRA_LOG_FILE"
  assert_output --partial '[INFO] said'
}

@test "any IFS will do" {
  local ifs
  for ifs in 'abcdefghijklmnopqrstuvwxyz' '0123456789' '/.-_' 'ehuBsmET'; do
    # shellcheck disable=SC2016
    run --separate-stderr env IFS_TO_USE="$ifs" "${BASH_CMD[@]}" -c 'source "$CORE"; IFS=$IFS_TO_USE
      tool_t() { echo t; }
      process_request "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"
      create_response 2 {}'
    assert_success
    assert_line --index 0 --partial '"text":"t"'
    assert_line --index 1 '{"jsonrpc":"2.0","id":2,"result":{}}'
    assert_equal "$stderr" ''
  done
}

@test "a script's readonly variables are not in the way" {
  local name
  for name in here path speaks line file trap aliases floor command system word dir status; do
    server_write "trap 'echo bye >&2' EXIT
      log INFO 'with $name'
      _configure_extra_log_file '$BATS_TEST_TMPDIR/extra.log'
      tool_t() { echo t; }
      run_mcp_server"
    sed -i "1a readonly $name=x" "$SCRIPT"
    server_start "$SCRIPT"
    send "$(call_line 1 t)"
    await_response 1
    assert_ok_text t "$RESPONSE"
    close_input
    await_exit
    assert_equal "$STATUS" 0
    assert_equal "$(<"$SERVER_STDERR")" bye
    assert_logged "[INFO] with $name" 1
  done
}

@test "a script may have the last command of a pipe run in its own shell" {
  run --separate-stderr core_in 'shopt -s lastpipe' 'create_response 1 1' "validate_tool_arguments t '{}'" \
    "process_request '$(ping_line 2)'" 'echo goes on'
  assert_success
  assert_line --index 0 '{"jsonrpc":"2.0","id":1,"result":1}'
  assert_line --index 1 '{"jsonrpc":"2.0","id":2,"result":{}}'
  assert_line --index 2 'goes on'
}

@test "nocasematch turns no option on" {
  # shellcheck disable=SC2016
  run --separate-stderr core_in 'shopt -s nocasematch' 'before=$-' 'tool_t() { echo "$-"; }' \
    "process_request '$(call_line 1 t)'" 'echo "$before $-"'
  assert_success
  refute_line --index 0 --regexp '"text":"[^"]*E'
  assert_equal "${lines[1]% *}" "${lines[1]#* }"
}

@test "what a hook's set -x says is not in the result" {
  server_write 'mcp_before_tool_call() { set -xv; }
    tool_t() { echo t; }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  assert_ok_text t "$RESPONSE"
}

@test "who has left a call finds no other call's directory" {
  # shellcheck disable=SC2016
  server_write '
    tool_t() {
      setsid "$BASH" -c '\''cd "$MCP_CALL_TMPDIR" || exit; : >"$MARKER"; until [[ -e $MARKER.next ]]; do sleep 0.05; done
        echo secret >left; : >"$MARKER.wrote"'\'' >/dev/null 2>&1 &
      until [[ -e $MARKER ]]; do sleep 0.05; done
    }
    tool_look() {
      : >"$MARKER.next"
      until [[ -e $MARKER.wrote ]]; do sleep 0.05; done
      ls -A "$MCP_CALL_TMPDIR"
    }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 1 t)"
  await_response 1
  send "$(call_line 2 look)"
  await_response 2
  assert_ok_text '' "$RESPONSE"
}

@test "SIGTERM for the server alone lets the call under way finish, and begins no other" {
  # shellcheck disable=SC2016
  server_write '
    tool_slow() { echo begun >>"$MARKER"; until [[ -e $MARKER.go ]]; do sleep 0.05; done; kill -TERM "$$"; sleep 1; }
    run_mcp_server'
  server_start --isolated "$SCRIPT"
  send "$(call_line 1 slow)"
  await_file "$MARKER"
  send "$(call_line 2 slow)"
  send "$(ping_line 3)"
  : >"$MARKER.go"
  await_exit 5
  assert_equal "$STATUS" 143
  assert_equal "$(<"$MARKER")" begun
  assert_equal "$(grep -c . "$SERVER_STDOUT")" 1
  refute_logged 'Client closed stdin'
}

# slow_conch is a conch that takes long to start the loop, and says when.
slow_conch() {
  # shellcheck disable=SC2016 # The script expands it.
  printf '#!/bin/sh\nif [ "$2" = loop ]; then echo begun >"%s"; sleep 1; fi\nexec "%s" "$@"\n' "$MARKER" "$CONCH_BIN" >"$BATS_TEST_TMPDIR/conch"
  chmod +x "$BATS_TEST_TMPDIR/conch"
  CONCH_BIN="$BATS_TEST_TMPDIR/conch"
}

@test "a signal before there is a conch ends the server" {
  slow_conch
  server_write 'run_mcp_server'
  server_start --isolated "$SCRIPT"
  await_file "$MARKER"
  kill -TERM "$SERVER_PID"
  await_exit 5
  assert_equal "$STATUS" 143
  assert_empty "$WORK"
}

@test "a direct call ends with its script" {
  # shellcheck disable=SC2016
  printf '%s\n' 'source "$CORE"' 'tool_slow() { echo "$BASHPID" >"$MARKER"; exec sleep 60; }' \
    "handle_tools_call 1 '{\"name\":\"slow\"}'" >"$WORK/direct.sh"
  local signal
  for signal in KILL TERM; do
    rm -f "$MARKER"
    "${BASH_CMD[@]}" "$WORK/direct.sh" >/dev/null 2>&1 3>&- &
    local script=$!
    within '' test -s "$MARKER"
    kill "-$signal" "$script"
    await_gone "$(<"$MARKER")" 4
  done
}

@test "a signal that is ignored does not end a direct call" {
  # In a process group of its own, or bats would get the signal too.
  # shellcheck disable=SC2016
  run --separate-stderr setsid "${BASH_CMD[@]}" -c 'trap "" HUP; source "$CORE"
    tool_t() { kill -HUP -- "-$$"; sleep 0.5; echo t; }
    handle_tools_call 1 "{\"name\":\"t\"}"'
  assert_success
  assert_ok_text t
}

@test "conch serve serves such a script without CONCH_BIN and PATH" {
  # shellcheck disable=SC2016
  printf '%s\n' 'source "$CORE"' 'tool_t() { echo t; }' run_mcp_server >"$WORK/served.sh"
  export CORE
  # shellcheck disable=SC2016
  run --separate-stderr env -u CONCH_BIN PATH=/usr/bin:/bin "$BASH" -c 'printf "%s\n" "$2" | "$1" serve "$3"' - \
    "$CONCH_BIN" "$(call_line 1 t)" "$WORK/served.sh"
  assert_success
  assert_ok_text t
}
