#!/usr/bin/env bats
# How calls and servers end: which processes there are, and that none and no
# file is left.
#
# STATUS is the client's.
# shellcheck disable=SC2153

load helpers/common
load helpers/client

setup() {
  common_setup
  FIXTURE="$BATS_TEST_DIRNAME/fixtures/cancellation_server.sh"
  export SLOW_MARKER_FILE="$BATS_TEST_TMPDIR/marker"
  export CHILD_PID_FILE="$BATS_TEST_TMPDIR/child"
  export GRANDCHILD_PID_FILE="$BATS_TEST_TMPDIR/grandchild"
  export CANCEL_HOOK_FILE="$BATS_TEST_TMPDIR/cancel_hook"
}

# begin SECONDS ID TOOL FILE… starts the fixture in a process group of its own
# and waits until the tool, which is to take so long, has written the files.
begin() {
  local file
  SLOW_SECS=$1 server_start --isolated "$FIXTURE"
  send "$(call_line "$2" "$3")"
  for file in "${@:4}"; do await_file "$file"; done
}

begin_tree() { begin "$1" "$2" spawns_tree "$SLOW_MARKER_FILE" "$CHILD_PID_FILE" "$GRANDCHILD_PID_FILE"; }

# assert_tree_gone [SECONDS] waits for the end of what spawns_tree has started.
assert_tree_gone() {
  await_gone "$(cat "$CHILD_PID_FILE")" "$@"
  await_gone "$(cat "$GRANDCHILD_PID_FILE")" "$@"
}

# assert_nothing_left waits until there is neither a process nor a file.
assert_nothing_left() {
  await_nothing_runs 5
  assert_empty "$TMPDIR"
  assert_empty "$XDG_RUNTIME_DIR"
}

@test "136 an idle server is one process" {
  server_start --isolated "$FIXTURE"
  server_start --isolated "$FIXTURE"
  send "$(ping_line 1)"
  await_response 1
  assert_equal "$(server_count)" 1
}

@test "137 when the server's group is killed the call's processes end" {
  begin_tree 6 101
  kill -KILL "-$SERVER_PID"
  assert_tree_gone 3
  await_count 0 3
  assert_equal "$(cat "$SLOW_MARKER_FILE")" started
  assert_nothing_left
}

@test "138 when the server alone is killed the call's processes end" {
  begin_tree 6 101
  kill -KILL "$SERVER_PID"
  assert_tree_gone 3
  await_count 0 3
  assert_equal "$(cat "$SLOW_MARKER_FILE")" started
  assert_nothing_left
}

@test "139 SIGTERM for the server's group ends the call at once" {
  begin 8 201 slow_with_child "$CHILD_PID_FILE"
  kill -TERM "-$SERVER_PID"
  await_exit 5
  assert_equal "$STATUS" 143
  await_gone "$(cat "$CHILD_PID_FILE")" 5
  await_count 0
  assert_nothing_left
}

@test "140 SIGTERM for the server alone lets the call finish" {
  begin_tree 2 301
  kill -TERM "$SERVER_PID"
  finished() { grep -qx 'done' "$SLOW_MARKER_FILE"; }
  within 5 finished || fail 'the tool did not finish'
  await_exit 5
  assert_equal "$STATUS" 143
  assert_tree_gone
  await_count 0
  assert_nothing_left
}

# 141: how many processes a call takes is the framework's own business.
@test "141 after a call the server is one process again" {
  begin 2 401 slow "$SLOW_MARKER_FILE"
  await_response 401
  assert_ok_text 'slow done' "$RESPONSE"
  await_count 1 5
}

@test "142 a child that the tool does not wait for ends with the call" {
  begin 5 451 unawaited_child "$CHILD_PID_FILE"
  await_response 451
  assert_ok_text 'unawaited_child done' "$RESPONSE"
  await_gone "$(cat "$CHILD_PID_FILE")" 3
}

@test "143 cancelling ends the whole tree, and the server goes on" {
  begin_tree 30 501
  send "$(cancel_line 501)"
  assert_tree_gone 3
  refute_response 501 1
  send "$(ping_line 502)"
  await_response 502
  await_count 1 5
}

@test "144 SIGTERM for the server's group leaves nothing of the call's files" {
  begin 30 601 slow_with_child "$CHILD_PID_FILE"
  assert_equal "$(call_roots | grep -c .)" 1
  kill -TERM "-$SERVER_PID"
  await_exit 5
  assert_empty "$TMPDIR"
}

# 145: how many processes a call takes is the framework's own business.
@test "145 when the group is killed in a grace period the stubborn tool ends too" {
  begin 12 601 stubborn "$SLOW_MARKER_FILE"
  send "$(cancel_line 601)"
  await_log 'Cancelling in-flight tools/call 601'
  kill -KILL "-$SERVER_PID"
  await_count 0 3
  assert_nothing_left
}

@test "146 a second signal does not cut the first one's work short" {
  begin 10 701 hooked_stubborn "$SLOW_MARKER_FILE"
  kill -TERM "-$SERVER_PID"
  await_file "$CANCEL_HOOK_FILE"
  kill -TERM "$SERVER_PID"
  await_exit 5
  assert_equal "$STATUS" 143
  assert_equal "$(cat "$CANCEL_HOOK_FILE")" 'cancelled with []'
  assert_no_call_roots
  await_count 0
  assert_nothing_left
}

# 147: there the harness waits for 0.2 s after each start; here it notices an
# end as soon as an answer is wanted.
@test "147 the client tells a server that has exited from one that is silent" {
  server_start "$(command -v true)"
  run await_response 1
  assert_failure
  assert_output --partial 'exited without a response for 1'
}

# 148: is about the form of a record that the framework keeps of a running call.
