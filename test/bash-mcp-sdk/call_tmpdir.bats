#!/usr/bin/env bats
# MCP_CALL_TMPDIR: each call's directory, of its own and gone with the call.
#
# Tools and hooks are called by the dispatch, and what they change is theirs.
# shellcheck disable=SC2317,SC2329,SC2030,SC2031

load helpers/common
load helpers/client

setup() {
  common_setup
  write_tools '{"tools":[
    {"name":"x","inputSchema":{"type":"object"}},
    {"name":"nested","inputSchema":{"type":"object"}},
    {"name":"inner","inputSchema":{"type":"object"}},
    {"name":"recorder","inputSchema":{"type":"object"}},
    {"name":"stubborn_recorder","inputSchema":{"type":"object"}}]}'
  export MARKER="$BATS_TEST_TMPDIR/marker" DIRS="$BATS_TEST_TMPDIR/dirs" HOOKED="$BATS_TEST_TMPDIR/hooked"
  source_core
}

# dir is the directory that a tool has left the name of in DIRS.
dir() { head -n 1 "$DIRS"; }

# assert_gone wants that directory to be a call's, below TMPDIR, and gone.
assert_gone() {
  [[ $(dir) == "$TMPDIR"/mcp-call.*/tmp ]] || fail "no call directory: $(dir)"
  refute [ -e "$(dirname "$(dir)")" ]
  assert_no_call_roots
}

# recording starts a server whose tools say where they work, and then stay.
recording() {
  # shellcheck disable=SC2016 # The server expands it.
  server_write '
    tool_recorder() {
      trap ": >\"\$MARKER\"" EXIT
      printf "recorded by the call" >"$MCP_CALL_TMPDIR/note"
      printf "%s\n" "$MCP_CALL_TMPDIR" >"$DIRS"
      sleep 30
    }
    tool_recorder_cancel() {
      printf "%s|%s" "$MCP_CALL_TMPDIR" "$(cat "$MCP_CALL_TMPDIR/note")" >"$HOOKED"
    }
    tool_stubborn_recorder() { trap "" TERM; tool_recorder; }
    run_mcp_server'
  server_start --isolated "$SCRIPT"
}

# record ID TOOL starts a server and has that tool at work in it.
record() {
  recording
  send "$(call_line "$1" "$2")"
  await_file "$DIRS"
}

@test "26 the directory is private, empty, below TMPDIR and another for each call" {
  tool_x() {
    printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"
    ls -A "$MCP_CALL_TMPDIR"
    : >"$MCP_CALL_TMPDIR/file" || return
    # shellcheck disable=SC2012 # Only the mode is wanted.
    ls -ld "$MCP_CALL_TMPDIR" | cut -c 1-10
  }
  pr "$(call_line 1 x)"
  assert_ok_text drwx------
  pr "$(call_line 2 x)"
  assert_ok_text drwx------
  run sort -u "$DIRS"
  assert_equal "${#lines[@]}" 2
  local dir
  for dir in "${lines[@]}"; do
    assert_equal "${dir%/mcp-call.*/tmp}" "$TMPDIR"
  done
}

@test "27 hook, tool and their children see the same directory" {
  mcp_before_tool_call() { printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"; }
  tool_x() {
    printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"
    # shellcheck disable=SC2016 # The child expands it.
    sh -c 'printf "%s\n" "$MCP_CALL_TMPDIR"' >>"$DIRS"
  }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_equal "$(grep -c . "$DIRS")" 3
  assert_equal "$(sort -u "$DIRS")" "$(dir)"
}

@test "28 a nested call has a directory of its own" {
  tool_nested() {
    printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"
    handle_tools_call 9001 '{"name":"inner","arguments":{}}' >/dev/null 2>&1
    printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"
  }
  tool_inner() { printf '%s\n' "$MCP_CALL_TMPDIR" >>"$DIRS"; }
  pr "$(call_line 1 nested)"
  assert_ok_text ''
  run cat "$DIRS"
  assert_equal "${#lines[@]}" 3
  assert_equal "${lines[2]}" "${lines[0]}"
  assert_not_equal "${lines[1]}" "${lines[0]}"
  assert_equal "${lines[0]%/mcp-call.*/tmp}" "$TMPDIR"
  assert_equal "${lines[1]%/mcp-call.*/tmp}" "$TMPDIR"
}

@test "29 the directory is gone with all that is in it" {
  tool_x() {
    mkdir -p "$MCP_CALL_TMPDIR/one/two"
    : >"$MCP_CALL_TMPDIR/one/two/file"
    printf '%s\n' "$MCP_CALL_TMPDIR" >"$DIRS"
  }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_gone
}

@test "30 the directory of a tool that fails is gone too" {
  tool_x() {
    : >"$MCP_CALL_TMPDIR/file"
    printf '%s\n' "$MCP_CALL_TMPDIR" | tee "$DIRS"
    return 4
  }
  pr "$(call_line 1 x)"
  assert_err_text "Error executing x: $(dir)"
  assert_gone
}

# x_leaves_a_read_only_directory is a tool's body.
x_leaves_a_read_only_directory() {
  printf '%s\n' "$MCP_CALL_TMPDIR" >"$DIRS"
  mkdir "$MCP_CALL_TMPDIR/sub"
  : >"$MCP_CALL_TMPDIR/sub/file"
  chmod 555 "$MCP_CALL_TMPDIR/sub"
}

@test "31 a read-only directory in it is removed" {
  tool_x() { x_leaves_a_read_only_directory; }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_gone
  refute_logged WARN
}

@test "32 a read-only directory in it is removed in posix mode" {
  server_write "set -o posix
    tool_x() { $(declare -f x_leaves_a_read_only_directory); x_leaves_a_read_only_directory; }
    run_mcp_server"
  server_start "$SCRIPT"
  send "$(call_line 51 x)"
  await_response 51
  assert_ok_text '' "$RESPONSE"
  assert_gone
  send "$(ping_line 52)"
  await_response 52
  assert_result '{}' "$RESPONSE"
}

@test "33 no link is followed out of it" {
  mkdir "$WORK/outside"
  chmod 555 "$WORK/outside"
  tool_x() {
    x_leaves_a_read_only_directory
    ln -s "$WORK/outside" "$MCP_CALL_TMPDIR/link"
  }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_gone
  # shellcheck disable=SC2012 # Only the mode is wanted.
  assert_equal "$(ls -ld "$WORK/outside" | cut -c 1-10)" dr-xr-xr-x
}

@test "34 directories of mode 000 in it are removed" {
  tool_x() {
    mkdir -p "$MCP_CALL_TMPDIR/one/two"
    : >"$MCP_CALL_TMPDIR/one/two/file"
    chmod 000 "$MCP_CALL_TMPDIR/one/two" "$MCP_CALL_TMPDIR/one"
    printf 'tool output\n'
  }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert_no_call_roots
  refute_logged WARN
}

@test "35 it is removed when it has mode 000 itself" {
  tool_x() {
    : >"$MCP_CALL_TMPDIR/file"
    chmod 000 "$MCP_CALL_TMPDIR"
    printf 'tool output\n'
  }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert_no_call_roots
  refute_logged WARN
}

# 36: what else is in the root, and under which names, is the framework's own
# business; that nobody else can look is not.
@test "36 the directory's root is private too" {
  # shellcheck disable=SC2016 # The server expands it.
  server_write '
    mcp_before_tool_call() { printf "hook output\n"; }
    tool_x() { ls -ld "$(dirname "$MCP_CALL_TMPDIR")" | cut -c 1-10; }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 36 x)"
  await_response 36
  assert_ok_text drwx------ "$RESPONSE"
}

@test "37 a relative TMPDIR is relative to the shell, whatever the hook does" {
  mkdir "$WORK/tmp"
  TMPDIR=tmp
  mcp_before_tool_call() { cd / || return; }
  tool_x() {
    test -d "$MCP_CALL_TMPDIR" && printf '%s\n' "$MCP_CALL_TMPDIR" >"$DIRS"
  }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert_equal "$(dirname "$(dirname "$(dir)")")" "$WORK/tmp"
  assert_no_call_roots "$WORK/tmp"
}

@test "38 nothing is left below a relative TMPDIR" {
  mkdir "$WORK/tmp"
  TMPDIR=tmp
  tool_x() { printf 'tool output\n'; }
  pr "$(call_line 1 x)"
  assert_ok_text 'tool output'
  assert_empty "$WORK/tmp"
}

@test "39 a server leaves nothing of a call" {
  server_write '
    tool_x() { printf "tool output\n"; }
    run_mcp_server'
  server_start "$SCRIPT"
  send "$(call_line 39 x)"
  await_response 39
  assert_ok_text 'tool output' "$RESPONSE"
  assert_no_call_roots
}

@test "40 a cancelled call that had to be killed leaves nothing" {
  record 44 stubborn_recorder
  send "$(cancel_line 44)"
  await_log 'Tool stubborn_recorder ignored SIGTERM; process group killed' 6
  await_log 'Cancelled tools/call 44 (stubborn_recorder)' 3
  assert_gone
}

@test "41 the directory of a cancelled call is removed once" {
  record 55 recorder
  send "$(cancel_line 55)"
  await_log 'Cancelled tools/call 55 (recorder)' 6
  assert_gone
  send "$(ping_line 56)"
  await_response 56
  refute_response 55 1
  refute_logged 'call directory'
}

@test "42 a server that is ended in mid-call leaves nothing" {
  record 45 recorder
  kill -TERM "-$SERVER_PID"
  await_exit 6
  assert_gone
}

@test "43 the cancel hook sees the call's directory" {
  record 46 recorder
  send "$(cancel_line 46)"
  await_log 'Cancelled tools/call 46 (recorder)' 6
  assert_equal "$(cat "$HOOKED")" "$(dir)|recorded by the call"
}

@test "44 the cancel hook sees the call's directory when the server ends" {
  record 47 recorder
  kill -TERM "-$SERVER_PID"
  await_exit 6
  assert_equal "$(cat "$HOOKED")" "$(dir)|recorded by the call"
}

@test "45 the tool's EXIT trap runs before its output is read" {
  tool_x() {
    trap 'printf "trap output\n"; : >"$MARKER"' EXIT
    printf 'body output\n'
  }
  pr "$(call_line 1 x)"
  assert_ok_text $'body output\ntrap output'
  assert [ -e "$MARKER" ]
}

@test "46 the EXIT trap of a cancelled tool runs" {
  record 48 recorder
  send "$(cancel_line 48)"
  await_log 'Cancelled tools/call 48 (recorder)' 6
  assert [ -e "$MARKER" ]
  refute_logged 'ignored SIGTERM'
}

@test "47 the EXIT trap of a tool runs when the server ends" {
  record 49 recorder
  kill -TERM "-$SERVER_PID"
  await_exit 6
  assert [ -e "$MARKER" ]
}

@test "48 the EXIT trap of a tool that had to be killed does not run" {
  record 50 stubborn_recorder
  send "$(cancel_line 50)"
  await_log 'Tool stubborn_recorder ignored SIGTERM; process group killed' 6
  await_log 'Cancelled tools/call 50 (stubborn_recorder)' 3
  refute [ -e "$MARKER" ]
}

@test "49 a call whose directory cannot be made does not run, and the server goes on" {
  # shellcheck disable=SC2016 # The server expands it.
  server_write '
    set -o posix
    tool_x() { : >"$MARKER"; }
    run_mcp_server'
  local tmp="$BATS_TEST_TMPDIR/replaced"
  mkdir "$tmp"
  TMPDIR="$tmp" server_start "$SCRIPT"
  send "$(ping_line 57)"
  await_response 57
  mv "$tmp" "$tmp.moved"
  : >"$tmp"
  send "$(call_line 56 x)"
  await_response 56
  assert_err_text 'Cannot run x: its call directory could not be created.' "$RESPONSE"
  refute [ -e "$MARKER" ]
  assert_empty "$WORK"
  assert_logged "Tool x not run: cannot create its call directory in $tmp: "
  send "$(ping_line 58)"
  await_response 58
  assert_result '{}' "$RESPONSE"
}

# 50: a function called mkdir has no part in it here, since no shell makes the
# directory; a direct call's directory fails for a TMPDIR that is not there.
@test "50 a direct call whose directory cannot be made does not run" {
  tool_x() { : >"$MARKER"; }
  mkdir() { return 1; }
  pr "$(call_line 1 x)"
  assert_ok_text ''
  assert [ -e "$MARKER" ]
  rm "$MARKER"
  TMPDIR="$WORK/missing"
  pr "$(call_line 2 x)"
  assert_err_text 'Cannot run x: its call directory could not be created.'
  refute [ -e "$MARKER" ]
  assert_empty "$WORK"
  assert_logged "Tool x not run: cannot create its call directory in $TMPDIR: " 1
}
