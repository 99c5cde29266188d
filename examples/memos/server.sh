#!/usr/bin/env bash
# Memos that are kept for as long as the server runs. It is a process of its own,
# with the drop-in file for bash-mcp-sdk's scripts.
#
# shellcheck disable=SC2154 # Conch sets arg_…

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit
export MCP_TOOLS_LIST_FILE=$here/tools.json MCP_CONFIG_FILE=$here/config.json
# shellcheck source=lib/bash-mcp-sdk/mcpserver_core.sh
source "$here/../../lib/bash-mcp-sdk/mcpserver_core.sh" || exit

# A call runs in a fork of this shell, and what it sets goes with it. What it
# leaves to later calls has to be in a file.
memos=$(mktemp -d)
trap 'rm -rf "$memos"' EXIT
touch "$memos/all"

# Whoever prints takes the files out of this directory.
spool=${MEMOS_SPOOL:-$memos/spool}
mkdir -p "$spool"

# Asked before each call. What it prints is the answer when it refuses.
mcp_before_tool_call() {
  [[ ${MEMOS_READ_ONLY:-} == 1 && $1 == add ]] || return 0
  echo 'These memos are read-only (MEMOS_READ_ONLY).'
  return 1
}

tool_add() {
  printf '%s\n' "$arg_text" >>"$memos/all"
  # wc puts blanks before the number on some systems.
  echo "This is memo $(($(wc -l <"$memos/all")))."
}

tool_search() {
  grep -iF -e "$arg_word" "$memos/all" || {
    echo "No memo holds $arg_word."
    return 1
  }
}

# Hands the memos to the printer and waits until it has taken them. What is in
# the call's own directory goes with the call. The file in the spool does not,
# so its name is left where the hook below finds it.
tool_print() {
  local file=$spool/memos.$BASHPID end=$((SECONDS + 10))
  sort "$memos/all" >"$MCP_CALL_TMPDIR/sorted"
  echo "$file" >"$MCP_CALL_TMPDIR/spooled"
  mv "$MCP_CALL_TMPDIR/sorted" "$file"
  while [[ -e $file ]]; do
    ((SECONDS < end)) || {
      rm -f "$file"
      echo 'The printer did not take the memos within 10 seconds.'
      return 1
    }
    sleep 0.1
  done
  echo 'The memos are being printed.'
}

# Runs when a call of print is cancelled, or is ended for another reason: nobody
# wants the print any more.
tool_print_cancel() {
  [[ ! -e $MCP_CALL_TMPDIR/spooled ]] || rm -f "$(<"$MCP_CALL_TMPDIR/spooled")"
}

run_mcp_server "$@"
