# shellcheck shell=bash
# The functions that scripts may call, as long as nobody has called one. A fork
# costs the more the more a shell holds, and those of talk.bash, tools.bash,
# running.bash and roots.bash are most of what it would hold of Conch's: each of
# them is here under its name, and loads them all.
#
# What is loaded has other names, mcp_progress is _conch_do_progress, so that
# functions of the script's are not replaced. In what the host writes the functions
# follow, a line each.
#
# A script whose functions call one has them all loaded before it is forked.

_conch_functions=${BASH_SOURCE[0]%/*}/functions.bash _conch_loaded=''

# $1: the name without mcp_; the rest: the arguments.
_conch_do() {
  [[ -n $_conch_loaded ]] || _conch_load
  "_conch_do_$1" "${@:2}"
}

_conch_load() {
  _conch_include "$_conch_functions"
  _conch_loaded=1
}

# A program needs what a script without tags does not have yet. This one is replaced.
_conch_run_program() {
  _conch_include "${_conch_functions%/*}/command.bash"
  _conch_run_program
}

# Sources a file of Conch's. By now the script may have aliases, and have set -v.
_conch_include() {
  builtin local _conch_undo=''
  case $- in *v*) _conch_undo='builtin set -v' ;; esac
  if builtin shopt -q expand_aliases; then
    _conch_undo+=$'\nbuiltin shopt -s expand_aliases'
    builtin shopt -u expand_aliases
  fi
  builtin set +v
  # shellcheck source=/dev/null
  builtin . "$1"
  builtin eval "$_conch_undo"
}

# Loads the functions where one of the script's calls one: there is something other
# than a line's beginning before the name. The quotes keep this from finding itself.
_conch_load_used() {
  case $(builtin declare -f) in
    *[!$'\n']"mcp"_*) [[ -n $_conch_loaded ]] || _conch_load ;;
  esac
}
