# shellcheck shell=bash
# What a script's functions use to stay within the roots: functions, and nothing
# else. The script is sourced after this, as after talk.bash.
#
# A call finds the roots in its environment. Where CONCH_ASK_ROOTS is set, they
# are the server's own, and the client has others, which it has to be asked for:
# that, and every judgement of a path, is conch's own to do.

# Prints the paths of the roots, a line each.
mcp_roots_list() {
  if [[ -n ${CONCH_ASK_ROOTS-} ]]; then
    _conch_tool roots list
  elif [[ -n ${MCP_ROOTS_PATHS-} ]]; then
    builtin printf '%s\n' "$MCP_ROOTS_PATHS"
  fi
}

# Prints how many roots there are.
mcp_roots_count() {
  if [[ -n ${CONCH_ASK_ROOTS-} ]]; then
    _conch_tool roots count
  else
    builtin printf '%s\n' "${MCP_ROOTS_COUNT:-0}"
  fi
}

# Whether a path leads into a root. PATH
mcp_roots_contains() { _conch_tool roots contains -- "$1"; }

# Prints where the path leads to that the argument KEY holds, or ends the call
# with an error where that is in no root. KEY [--default-to-single-root]
# [--allow-empty]
mcp_require_path() {
  builtin printf '%s' "${_conch_arguments-}" | _conch_tool roots require "$@" || builtin exit 1
}
