#!/usr/bin/env conch
# The server that the stories of conch test begin with.
# shellcheck shell=bash disable=SC2154 # arg_… are set by conch

tool_say() { printf '%s\n' "$arg_text"; }

tool_fail() {
  printf '%s\n' "$arg_text"
  return 1
}

tool_refuse() { mcp_fail -32050 'out of ink'; }

tool_data() { mcp_emit_json "$1"; }

tool_picture() {
  printf 'no picture' >"$MCP_CALL_TMPDIR/x.png"
  mcp_emit_text 'A picture:'
  mcp_emit_image "$MCP_CALL_TMPDIR/x.png" image/png
  mcp_emit_link file:///x 'its frame'
}

tool_steps() {
  local i
  for ((i = 1; i <= 3; i++)); do
    mcp_progress "$i" "step $i" 3
    mcp_log_info steps "did $i"
  done
  echo 'walked'
}

# Ends once so many calls are here.
tool_meet() {
  local -a here=()
  : >"$CONCH_TEST_DIR/$BASHPID"
  until here=("$CONCH_TEST_DIR"/*) && ((${#here[@]} >= arg_others)); do sleep 0.02; done
  echo 'met'
}

# Tells its process id and stays until it is stopped.
tool_linger() {
  printf '%s\n' "$BASHPID" >"$arg_pidfile.new"
  mv "$arg_pidfile.new" "$arg_pidfile"
  while :; do sleep 1; done
}

# Leaves a process in a session of its own, and a file.
tool_leave() {
  setsid sleep 1000 </dev/null >/dev/null 2>&1 &
  printf '%s\n' "$!" >"$arg_pidfile"
  mktemp >/dev/null
}

tool_ask() { mcp_elicit_confirm --key sure 'Are you sure?'; }

tool_ask_twice() {
  mcp_elicit_string --key name 'Your name?'
  mcp_elicit_choice --key size 'What size?' small large
}

tool_think() { mcp_sample "Say something about $arg_about"; }

tool_roots() { mcp_roots_list; }

# Takes longer than a person cares to wait without a sign.
tool_wait() { sleep 2.5; }

tool_env() { printf '%s\n' "${UNITS-none}"; }
