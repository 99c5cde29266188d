# shellcheck shell=bash
# The Bash side of the fork server: sources the server script once, then forks
# a fresh copy of this shell for every call.
#
#   root shell    sources the script, reports, then forks a worker per order
#   worker        forks the next call's subshell ahead, waits for its end
#   subshell      waits to be woken, reads its job, runs the tool, ends
#
# Descriptors (high, so that scripts keep 3 to 9):
#   200  root: orders come in; worker and subshell: what wakes the subshell
#   201  root: the report goes out
# A worker's events: "w PID", the worker is there; "r PID OUTPUT", the subshell
# of that process group waits for a call; "d STATUS", it has ended.
#
# Bash 3.2 is enough. Functions and variables of this file begin with _conch_.
# `builtin` stands before the builtins, since a script may define a function
# called printf or read. No option of the script is relied on: errexit, xtrace
# and verbose are set aside while this file's code runs, nounset may stay.

_conch_dir=$CONCH_CONTROL
unset -v CONCH_CONTROL
exec 200<&3 201>&4 3<&- 4>&-

# --- The root shell ---------------------------------------------------------

# Tells where a script ended the shell while it was sourced. Replaced when the
# script sets an EXIT trap of its own.
_conch_on_exit() {
  [[ $_conch_phase == sourcing ]] || return 0
  builtin printf 'failed\0%s\0%s\0' "$1" "$_conch_line" >&201
}

# What the host needs to know of the sourced script, NUL between the fields.
_conch_report() {
  local _conch_name
  builtin printf 'ready\0%s\0' "$BASH_VERSION" >&201
  for _conch_name in PWD TMPDIR MCP_TOOLS_LIST_FILE MCP_CONFIG_FILE \
    MCP_LOG_FILE MCP_LOG_STDERR; do
    builtin printf '%s=%s\0' "$_conch_name" "${!_conch_name-}" >&201
  done
  builtin declare -F >&201
  builtin printf '\0end\0' >&201
}

# Forks workers until there are no more orders. set -m puts every worker in a
# process group of its own and keeps SIGINT and SIGQUIT from being ignored.
_conch_root() {
  local _conch_order _conch_name
  while IFS=' ' builtin read -r _conch_order _conch_name <&200; do
    [[ $_conch_order == worker ]] || break
    set -m
    _conch_worker "$_conch_name" </dev/null 2>/dev/null 201>&- 202>&- &
    set +m
    builtin printf 'w %s\n' "$!" >"$_conch_dir/$_conch_name.event"
  done
}

# --- A worker ---------------------------------------------------------------

# $1: the names of the worker's files in the control directory begin so. What
# the worker prints are its events. Two outputs take turns, or the subshell
# forked ahead would hold open what the call before it printed to.
#
# The subshells run in the foreground: Bash keeps a record of every process in
# the background, and reports its end. `wait` is what ( ) does anyway.
_conch_worker() {
  local _conch_base=$_conch_dir/$1
  exec 200<"$_conch_base.wake" >"$_conch_base.event" || exit
  # The arguments of a call shall not get attributes the script gave a name.
  _conch_declared=${!arg_@}
  export MCP_CALL_TMPDIR=
  set -m
  while :; do
    (_conch_subshell "$_conch_base" a)
    # The host is gone when nobody reads this.
    builtin printf 'd %s\n' "$?" || exit
    (_conch_subshell "$_conch_base" b)
    builtin printf 'd %s\n' "$?" || exit
  done
}

# --- The subshell of one call -----------------------------------------------

# All that does not depend on the call is done before the subshell is woken.
# What follows is kept short: each page it touches first is copied first.
_conch_subshell() {
  set +m
  _conch_ready "$2"
  # With this, only the worker holds the far end of its events: their end is
  # its end.
  exec >"$1.$2" 2>&1
  # End of file: the host is gone, or done with this worker.
  builtin read -r -u 200 _conch_wake || exit 0
  exec 200<&-
  {
    IFS=' ' builtin read -r -a _conch_names
    [[ -z $_conch_declared ]] || _conch_undeclare
    IFS=$'\037' builtin read -r -d '' "${_conch_names[@]}"
  } <"$1.job"
  [[ -z $_conch_more ]] || _conch_take_more "$1.more"
  [[ -z $_conch_restore ]] || _conch_restore_options
  # shellcheck disable=SC2154 # the job's first record names these
  "tool_$_conch_tool" "$_conch_arguments"
}

# Says that the subshell waits, in which process group, with which output.
if ((BASH_VERSINFO[0] >= 4)); then
  _conch_ready() { builtin printf 'r %s %s\n' "$BASHPID" "$1"; }
else
  # Bash 3.2 does not know its own process id here; a child knows its parent's.
  # shellcheck disable=SC2016 # for sh to expand
  _conch_ready() { /bin/sh -c 'printf "r %s %s\n" "$PPID" "$1"' sh "$1"; }
fi

# A job file is two records: the names of variables, a line; their values,
# with US between them and NUL behind the last. _conch_more tells that there
# are values that cannot be passed so: a second file has them.

_conch_undeclare() {
  local _conch_name
  for _conch_name in "${_conch_names[@]}"; do
    case $_conch_name in arg_*) builtin unset -v "$_conch_name" ;; esac
  done
}

# The second file is lines: "name=value" for a variable, or "name:count" for an
# array, with count lines of elements after it. Values are escaped for printf
# %b and hold no newline. All names here are prefixed, locals too: a script may
# have a readonly `i`.
_conch_take_more() {
  local -a _conch_lines
  local _conch_i=0 _conch_name
  _conch_read_lines "$1"
  while [[ -n ${_conch_lines[_conch_i]+set} ]]; do
    _conch_name=${_conch_lines[_conch_i]%%[=:]*}
    builtin unset -v "$_conch_name"
    case ${_conch_lines[_conch_i]} in
      "$_conch_name:"*) _conch_take_array "${_conch_lines[_conch_i]##*:}" ;;
      *) builtin printf -v "$_conch_name" '%b' "${_conch_lines[_conch_i]#*=}" ;;
    esac
    _conch_i=$((_conch_i + 1))
  done
}

# Sets the array to the next $1 lines and moves _conch_i to the last of them.
# eval sees the name alone, which the host has checked to be an identifier:
# Bash 3.2 has no other way to assign to an element of a computed array.
_conch_take_array() {
  local _conch_value _conch_n=0
  builtin eval "$_conch_name=()"
  while ((_conch_n < $1)); do
    _conch_i=$((_conch_i + 1))
    builtin printf -v _conch_value '%b' "${_conch_lines[_conch_i]}"
    builtin eval "$_conch_name"'[_conch_n]=$_conch_value'
    _conch_n=$((_conch_n + 1))
  done
}

# Reads the lines of file $1 into _conch_lines.
if ((BASH_VERSINFO[0] >= 4)); then
  _conch_read_lines() { builtin mapfile -t _conch_lines <"$1"; }
else
  # Bash 3.2 has no mapfile.
  _conch_read_lines() {
    local _conch_line _conch_n=0
    while IFS= builtin read -r _conch_line; do
      _conch_lines[_conch_n]=$_conch_line
      _conch_n=$((_conch_n + 1))
    done <"$1"
  }
fi

# Gives the tool the options and traps the script had set, errexit excepted: a
# tool goes on after a command that fails, as in a function called from `if`.
_conch_restore_options() {
  [[ -z $_conch_traps ]] || builtin eval "$_conch_traps"
  case $_conch_options in *v*) set -v ;; esac
  case $_conch_options in *x*) set -x ;; esac
}

# --- Start ------------------------------------------------------------------

_conch_phase=sourcing _conch_line=0 _conch_options='' _conch_traps=''
trap '_conch_line=$LINENO' ERR
trap '_conch_on_exit $?' EXIT

# `.` looks for a name without a slash on PATH. The script must not inherit
# the control channel, nor print on it.
# shellcheck source=/dev/null
case $0 in
  */*) . "$0" "$@" 200<&- 201>&- ;;
  *) . "./$0" "$@" 200<&- 201>&- ;;
esac
_conch_status=$?
_conch_options=$-
{ set +exv; } 2>/dev/null
exec </dev/null
if ((_conch_status != 0)); then
  exit "$_conch_status"
fi
_conch_phase=serving

# Errors, debug and return traps are the tools' business, not this file's.
_conch_traps=$(trap -p ERR DEBUG RETURN)
trap - ERR DEBUG RETURN
# shellcheck disable=SC2016 # compared as text
[[ $_conch_traps != "trap -- '_conch_line=\$LINENO' ERR" ]] || _conch_traps=''
case $_conch_options$_conch_traps in
  *[vx]* | *trap*) _conch_restore=1 ;;
  *) _conch_restore='' ;;
esac

_conch_report
# Bash reports the death of a worker; the host knows.
exec 202>&2 2>/dev/null
_conch_root
# The script's EXIT trap, if it has one, runs now.
exec 2>&202 202>&-
