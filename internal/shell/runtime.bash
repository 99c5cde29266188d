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
# called printf or read, and `command` before exec, whose redirections would not
# last behind `builtin`. No option of the script is relied on: errexit, xtrace
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
    builtin set -m
    "$_conch_kind" "$_conch_name" </dev/null 2>/dev/null 201>&- 202>&- &
    builtin set +m
    builtin printf 'w %s\n' "$!" >"$_conch_dir/$_conch_name.event"
    # Or Bash would tell of its death at the end.
    builtin disown "$!"
  done
}

# --- A worker ---------------------------------------------------------------

# $1: the names of the worker's files in the control directory begin so. What
# the worker prints are its events. Two outputs take turns, or the subshell
# forked ahead would hold open what the call before it printed to.
#
# The subshells run in the foreground: of a process in the background Bash
# keeps a record. In a subshell all that does not depend on the call is done
# before the wake-up. What follows is kept short, and without functions of its
# own: each page it is the first to touch has to be copied first.
#
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # a job names the variables it sets
_conch_worker() {
  _conch_base=$_conch_dir/$1 _conch_side=0
  command exec 200<"$_conch_base.wake" >"$_conch_base.event" || builtin exit
  builtin export MCP_CALL_TMPDIR=
  builtin set -m
  while :; do
    (
      builtin set +m
      # Bash 3.2 does not know; a child knows its parent.
      [[ -n ${BASHPID-} ]] || BASHPID=$(/bin/sh -c 'echo "$PPID"')
      builtin echo "r $BASHPID $_conch_side"
      # With this, only the worker holds the far end of its events: their end
      # is its end.
      command exec >"$_conch_base.$_conch_side" 2>&1
      # End of file: the host is gone, or done with this worker.
      builtin read -r -u 200 _conch_wake || builtin exit 0
      command exec 200<&-
      {
        IFS=' ' builtin read -r -a _conch_names
        [[ -z $_conch_declared ]] || _conch_undeclare
        IFS=$'\037' builtin read -r -d '' "${_conch_names[@]}"
      } <"$_conch_base.job"
      [[ -z $_conch_more ]] || _conch_take_more "$_conch_base.more"
      [[ -z $_conch_restore ]] || _conch_restore_options
      "tool_$_conch_tool" "$_conch_arguments"
    )
    # The host is gone when nobody reads this.
    builtin echo "d $?" || builtin exit
    _conch_side=$((1 - _conch_side))
  done
}

# `builtin` and `command` keep the worker from running a function that the
# script has called read, say, and cost a tenth of a call. _conch_fast_worker
# is the same without them, for scripts that have no such function.
_conch_text=$(builtin declare -f _conch_worker)
_conch_text=${_conch_text/_conch_worker/_conch_fast_worker}
_conch_text=${_conch_text//builtin /}
eval "${_conch_text//command /}"

_conch_choose_worker() {
  local _conch_name
  for _conch_name in command echo exec exit export read set; do
    if builtin declare -F "$_conch_name" >/dev/null; then
      return
    fi
  done
  _conch_kind=_conch_fast_worker
}

# --- The job of one call ----------------------------------------------------

# A job file is two records: the names of variables, a line; their values,
# with US between them and NUL behind the last. _conch_more tells that there
# are values that cannot be passed so: a second file has them.

# shellcheck disable=SC2031 # runs in the subshell that read the names
_conch_undeclare() {
  local _conch_name
  for _conch_name in "${_conch_names[@]}"; do
    case $_conch_name in arg_*) _conch_forget "$_conch_name" ;; esac
  done
}

# Takes a variable away with its attributes: an integer would evaluate what it
# is given, a name reference lead it elsewhere.
_conch_forget() {
  # Bash 4.2 and older have no references.
  builtin unset -n "$1" 2>/dev/null
  builtin unset -v "$1"
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
    _conch_forget "$_conch_name"
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
  case $_conch_options in *v*) builtin set -v ;; esac
  case $_conch_options in *x*) builtin set -x ;; esac
}

# --- Start ------------------------------------------------------------------

_conch_phase=sourcing _conch_line=0 _conch_options='' _conch_traps=''
# In this file alone, BASH_SOURCE has one element.
trap '((${#BASH_SOURCE[@]} < 2)) || _conch_line=$LINENO' ERR
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
{ builtin set +exv; } 2>/dev/null
command exec </dev/null
if ((_conch_status != 0)); then
  builtin exit "$_conch_status"
fi
_conch_phase=serving

# Errors, debug and return traps are the tools' business, not this file's.
_conch_traps=$(builtin trap -p ERR DEBUG RETURN)
builtin trap - ERR DEBUG RETURN
# shellcheck disable=SC2016 # compared as text
case $_conch_traps in
  *'|| _conch_line=$LINENO'*) _conch_traps='' ;;
esac
_conch_restore=$_conch_traps
case $_conch_options in *[vx]*) _conch_restore=1 ;; esac
# An argument shall not get attributes that the script gave its name. A name
# without a value is only listed here.
_conch_declared=''
case $(builtin declare -p) in *' arg_'*) _conch_declared=1 ;; esac

_conch_kind=_conch_worker
_conch_choose_worker
_conch_report
# Bash reports the death of a worker; the host knows.
command exec 202>&2 2>/dev/null
_conch_root
# The script's EXIT trap, if it has one, runs now.
command exec 2>&202 202>&-
