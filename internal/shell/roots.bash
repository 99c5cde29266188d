# shellcheck shell=bash
# What a script's functions use to stay within the roots: functions, and nothing
# else. The script is sourced after this, as after talk.bash.
#
# A call finds the roots in its environment. Where CONCH_ASK_ROOTS is set, they
# are the server's own, and the client has others, which it has to be asked for:
# that, and every judgement of a path, is conch's own to do.

# --- Roots ------------------------------------------------------------------

# mcp_roots_list
#
# Prints the paths of the files and directories that are in scope, a line each.
#
# Status 1 or 4: the client had to be asked, and could not be, or did not answer.
mcp_roots_list() {
  if [[ -n ${CONCH_ASK_ROOTS-} ]]; then
    _conch_tool roots list
  elif [[ -n ${MCP_ROOTS_PATHS-} ]]; then
    builtin printf '%s\n' "$MCP_ROOTS_PATHS"
  fi
}

# mcp_roots_count
#
# Prints how many roots there are.
#
# Status as that of mcp_roots_list.
mcp_roots_count() {
  if [[ -n ${CONCH_ASK_ROOTS-} ]]; then
    _conch_tool roots count
  else
    builtin printf '%s\n' "${MCP_ROOTS_COUNT:-0}"
  fi
}

# mcp_roots_contains PATH
#
# Has status 0 if a path leads into a root, through all links, and 1 if not. A
# relative path is taken from the working directory. A path need not be there.
mcp_roots_contains() { _conch_tool roots contains -- "$1"; }

# mcp_require_path KEY [--default-to-single-root] [--allow-empty]
#
# Prints where the path leads to that the argument KEY holds: an absolute path without
# links. Where that is in no root, or there is no path, it ends the shell with status
# 1, and the call with the error -32602; within $( ) add || exit, or the tool goes on.
# Where no path is given, --default-to-single-root takes the only root, if there is
# exactly one, and --allow-empty prints nothing.
mcp_require_path() {
  builtin printf '%s' "${_conch_arguments-}" | _conch_tool roots require "$@" || builtin exit 1
}
