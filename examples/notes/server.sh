#!/usr/bin/env bash
# Notes that outlive the calls and end with the server: a server that is a
# process of its own, with the drop-in file for bash-mcp-sdk's scripts.
#
# shellcheck disable=SC2154 # Conch sets arg_…
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=lib/bash-mcp-sdk/mcpserver_core.sh
source "$here/../../lib/bash-mcp-sdk/mcpserver_core.sh"
export MCP_TOOLS_LIST_FILE=$here/tools.json MCP_CONFIG_FILE=$here/config.json

# What one call is to leave to the next has to be in a file: each call runs in a
# fork of this shell.
notes=$(mktemp -d)
trap 'rm -rf "$notes"' EXIT

# Asked before each call. What it prints is the answer when it refuses.
mcp_before_tool_call() {
  [[ ${NOTES_READ_ONLY:-} == 1 && $1 == add ]] || return 0
  echo "these notes are read-only (NOTES_READ_ONLY)"
  return 1
}

tool_add() {
  printf '%s\n' "$arg_text" >>"$notes/all"
  local count
  count=$(wc -l <"$notes/all")
  if ((count == 1)); then echo 'There is 1 note now.'; else echo "There are $((count)) notes now."; fi
}

tool_search() {
  local found
  found=$(grep -i -- "$arg_word" "$notes/all" 2>/dev/null) || {
    echo "no note holds $arg_word"
    return 1
  }
  printf '%s\n' "$found"
}

# Prints the notes sorted. The steps in between are files of the call's own,
# which go with it.
tool_sorted() {
  sort "$notes/all" >"$MCP_CALL_TMPDIR/sorted" 2>/dev/null
  # Once a run holds the lock, no other begins.
  mkdir "$notes/lock" 2>/dev/null || {
    echo "somebody is sorting; try again"
    return 1
  }
  cat -n "$MCP_CALL_TMPDIR/sorted"
  sleep "${arg_pause:-0}"
  rmdir "$notes/lock"
}

# Runs when a call of sorted is cancelled or has to end: the lock would stay.
tool_sorted_cancel() { rmdir "$notes/lock" 2>/dev/null; }

run_mcp_server "$@"
