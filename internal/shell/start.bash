# shellcheck shell=bash
# What `conch serve` runs: it sources the script, reports, and serves.
#
# While the script is sourced no descriptor of Conch's is open: the script may
# use any. A script that calls run_mcp_server, as those written for other
# frameworks do, enters the loop there (_conch_begin); any other at its end.

# What every call looks at is made one after the other, so that it lies together: of
# each page that a fork writes to it gets a copy.
_conch_group='' _conch_more='' _conch_wake='' _conch_names=() _conch_function=''
_conch_arguments='' _conch_base='' _conch_side='' _conch_error=''
_conch_status='' _conch_restore='' _conch_before='' _conch_apart='' _conch_declared=''

_conch_dir=$CONCH_CONTROL _conch_root=$CONCH_CONTROL/$CONCH_ROOT
unset -v CONCH_CONTROL CONCH_ROOT

# shellcheck source=internal/shell/runtime.bash
. "$_conch_dir/runtime.bash"
# Who the functions for scripts ask for what Bash cannot do.
_conch_binary=${CONCH_BIN:-conch}
# shellcheck source=internal/shell/lazy.bash
[[ ! -f $_conch_dir/talk.bash ]] || . "$_conch_dir/talk.bash"
# shellcheck source=internal/shell/command.bash
[[ ! -f $_conch_dir/wanted.bash ]] || . "$_conch_dir/command.bash"
# shellcheck source=/dev/null
[[ ! -f $_conch_dir/wanted.bash ]] || . "$_conch_dir/wanted.bash"

# Tells where a script ended the shell while it was sourced. Replaced when the
# script sets an EXIT trap of its own.
_conch_on_exit() {
  builtin printf 'failed\0%s\0%s\0%s\0' "$1" "$_conch_line" "$_conch_read" >"$_conch_root.report"
}

# Serves until Conch is done. $1: the options of the script.
_conch_begin() {
  case $(builtin trap -p EXIT) in *_conch_on_exit*) builtin trap - EXIT ;; esac
  _conch_enter "$1"
  [[ ! -f $_conch_dir/talk.bash ]] || _conch_load_used
  # Not in a redirection of a group, of which Bash would keep a copy in every
  # fork.
  exec </dev/null 47<"$_conch_root.orders"
  _conch_served=1
  _conch_serve
  exec 47<&-
}

# --- Start ------------------------------------------------------------------

# One compound command, which Bash reads before the script can define aliases.
{
  _conch_line=0 _conch_read=''
  # In this file alone, BASH_SOURCE has one element.
  trap '((${#BASH_SOURCE[@]} < 2)) || _conch_line=$LINENO' ERR
  trap '_conch_on_exit $?' EXIT

  # `.` looks for a name without a slash on PATH.
  # shellcheck source=/dev/null
  case $0 in
    */*) . "$0" "$@" ;;
    *) . "./$0" "$@" ;;
  esac
  {
    _conch_status=$? _conch_options=$-
    # Traps that are inherited would speak in what is captured below.
    builtin set +aexvET
  } 2>/dev/null
  [[ -z ${_conch_served-} ]] || builtin exit "$_conch_status"
  # A subshell of the script's has served, and the host is done.
  [[ -p $_conch_root.orders ]] || builtin exit "$_conch_status"
  _conch_read=1
  ((_conch_status == 0)) || builtin exit "$_conch_status"

  # Not in a function, which would not see them.
  case $(builtin trap -p ERR) in *_conch_line*) builtin trap - ERR ;; esac
  _conch_traps=$(builtin trap -p ERR DEBUG RETURN)
  builtin trap - ERR DEBUG RETURN
  _conch_begin "$_conch_options"
}
