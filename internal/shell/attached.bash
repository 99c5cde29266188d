# shellcheck shell=bash
# What the drop-in files have in common: how a script's shell asks conch, and
# how it becomes the root shell of the conch that it has started. Each of those
# files has conch print this when it is sourced, and defines it then.
#
# The file sets _mcp_format, the command that conch has for it without the
# underscores; _mcp_conch, the path of conch; and _mcp_exports, the variables of
# the script that conch is to see.
#
# Bash 3.2 is enough. `builtin` stands before the builtins, since a script may
# define a function called printf or read; exec cannot do with it, and is set
# aside. The backslash keeps it from being an alias.
#
# shellcheck disable=SC2154 # what the file sets

# --- Asking conch -----------------------------------------------------------

# Runs conch in place of the subshell that calls this. $1: what is asked of it.
_mcp_run() {
  builtin export "${_mcp_exports[@]}"
  builtin unset -f exec
  \exec "$_mcp_conch" "__$_mcp_format" "$1"
}

# Asks what needs no fork of this shell. $1: what; the rest: its fields.
_mcp_ask() {
  builtin local _mcp_what="$1"
  builtin shift
  builtin printf '%s\0' "$@" | (_mcp_run "$_mcp_what")
}

# Starts conch, which says on descriptor 47 what this shell is to do. Without
# fields it reads what this shell would. Not in a redirection of a group, of
# which Bash would keep a copy in every fork.
_mcp_start() {
  builtin local _mcp_what="$1"
  builtin shift
  if (($# == 0)); then
    { \exec 47< <(_mcp_run "$_mcp_what"); } 46>&1
  else
    { \exec 47< <(builtin printf '%s\0' "$@" | _mcp_run "$_mcp_what"); } 46>&1
  fi
}

# Has conch answer, with this shell as its root shell. $1: what is asked; the
# rest: its fields. Sets _mcp_failed to 1 when there is no conch any more to
# answer, and to 2 when it could not; _mcp_result is what it fails with then. It
# never fails itself, so that it need not
# be called in a condition, where a tool's own errexit would be without effect.
# The options and traps of the caller are set aside; a call gets them back but
# for errexit and monitor.
_mcp_attend() {
  builtin local _mcp_options="$-" _mcp_exec='' _mcp_kept="$((${_mcp_kept:-46} - 1))"
  builtin local _conch_dir='' _conch_root='' _conch_kind='' _conch_restore='' \
    _conch_declared='' _conch_kept='' _conch_traps='' _conch_order='' _conch_name='' _conch_apart='' _conch_last=''
  # Traps that are inherited would speak in what is captured.
  { builtin set +evxmET; } 2>/dev/null
  _conch_traps=$(builtin trap -p ERR DEBUG RETURN)
  [[ -z $_conch_traps ]] || builtin trap - ERR DEBUG RETURN
  [[ -z $_mcp_client ]] || _mcp_take_exit_handler
  _mcp_exec=$(builtin declare -f exec)
  builtin unset -f exec
  _mcp_keep_orders
  _mcp_start "$@"
  _mcp_obey
  _mcp_return_orders
  [[ -z $_mcp_exec ]] || builtin eval "$_mcp_exec"
  [[ -z $_conch_traps ]] || builtin eval "$_conch_traps"
  _mcp_restore "$_mcp_options"
}

# Descriptor 47 may be in use: where a signal's handler asks for something while
# the loop reads its orders. eval sees a number of this file's own.
_mcp_keep_orders() {
  if [[ -e /dev/fd/47 ]]; then
    builtin eval "\\exec $_mcp_kept<&47"
  else
    _mcp_kept=''
  fi
}

_mcp_return_orders() {
  if [[ -n $_mcp_kept ]]; then
    builtin eval "\\exec 47<&$_mcp_kept $_mcp_kept<&-"
  else
    \exec 47<&-
  fi
}

# Does what conch says, which need not be to serve.
_mcp_obey() {
  builtin local _mcp_word=''
  IFS=' ' builtin read -r -u 47 _mcp_word _conch_dir
  case $_mcp_word in
    attached) _mcp_serve ;;
    end) ;;
    failed) _mcp_failed=2 _mcp_result=${_conch_dir:-2} ;;
    *) _mcp_failed=1 ;;
  esac
}

# Serves until conch says that it is done. Once it has had the script's EXIT trap
# run, or has got a signal, this shell need not.
_mcp_serve() {
  builtin local -a _conch_stale
  _conch_stale=(${_mcp_strangers[@]+"${_mcp_strangers[@]}"})
  _conch_root=$_conch_dir/root
  _mcp_define_forks
  _conch_enter "$_mcp_options"
  [[ -z $_mcp_exec ]] || _conch_restore=$_mcp_exec$'\n'$_conch_restore
  # Where the script's PATH has no jq. Local, since the folder goes with conch; a
  # readonly PATH stays as it is.
  [[ ! -d $_conch_dir/bin ]] || builtin local PATH="$PATH:$_conch_dir/bin" 2>/dev/null || builtin :
  # A signal that came before conch could be told.
  [[ -z ${_mcp_signal:-} ]] || _mcp_note_signal "$_mcp_signal"
  _conch_serve
  _mcp_failed=$? _mcp_handled=$_conch_last
  case $_conch_order in
    end) _mcp_signal=${_mcp_signal:-$_conch_name} ;;
    failed) _mcp_failed=2 _mcp_result=${_conch_name:-2} ;;
  esac
  ((_mcp_failed != 1)) ||
    builtin printf '%s: conch has ended without a word; what it ran has been stopped\n' "$_mcp_format" >&2
}

# Defines what conch's forks run. The script's aliases must not be in it.
_mcp_define_forks() {
  builtin local _mcp_aliases
  _mcp_aliases=$(builtin shopt -p expand_aliases)
  builtin shopt -u expand_aliases
  # shellcheck source=internal/shell/runtime.bash
  builtin source "$_conch_dir/runtime.bash"
  builtin eval "builtin $_mcp_aliases"
}

# Gives the caller its options back; errexit last. Not by a pattern of case, to
# which E and e may be the same (nocasematch).
_mcp_restore() {
  builtin local _mcp_option
  for _mcp_option in m E T v x e; do
    [[ ${1%%"$_mcp_option"*} == "$1" ]] || builtin set "-$_mcp_option"
  done
  builtin return 0
}

# --- The server -------------------------------------------------------------

# Serves a client until that is over, and returns; dies by a signal that ends the
# server. $1: what is asked of conch.
_mcp_serve_client() {
  if builtin declare -F _conch_begin >/dev/null && [[ -z ${_conch_served:-} ]]; then
    _mcp_be_served
    builtin return
  fi
  builtin local _mcp_client=1 _mcp_signal='' _mcp_handler='' _mcp_handled='' _mcp_failed=0 _mcp_result='' _mcp_name
  for _mcp_name in INT TERM HUP PIPE; do
    # shellcheck disable=SC2064 # the name of now
    builtin trap "_mcp_note_signal $_mcp_name" "$_mcp_name"
  done
  _mcp_attend "$1"
  [[ -z $_mcp_handler ]] || _mcp_drop_exit_handler
  [[ -z $_mcp_signal ]] || _mcp_die "$_mcp_signal"
  builtin trap - INT TERM HUP PIPE
  builtin return "${_mcp_result:-$_mcp_failed}"
}

# Under `conch serve` the loop is that of the shell conch has started.
_mcp_be_served() {
  builtin local _mcp_options="$-"
  { builtin set +evxmET; } 2>/dev/null
  _conch_traps=$(builtin trap -p ERR DEBUG RETURN)
  [[ -z $_conch_traps ]] || builtin trap - ERR DEBUG RETURN
  _conch_begin "$_mcp_options"
  [[ -z $_conch_traps ]] || builtin eval "$_conch_traps"
  _mcp_restore "$_mcp_options"
}

# Takes down the handler of the script's EXIT trap, which conch has run, in a
# fork, when all else is over. A subshell would only see its parent's.
_mcp_take_exit_handler() {
  builtin local _mcp_trap _mcp_pid
  _mcp_learn_pid
  [[ $_mcp_pid == "$$" ]] || builtin return 0
  _mcp_trap=$(builtin trap -p EXIT)
  # In POSIX mode "trap -- - EXIT" is what there is without a trap.
  [[ -n $_mcp_trap && $_mcp_trap != 'trap -- - EXIT' ]] || builtin return 0
  builtin eval "_mcp_set_handler ${_mcp_trap#trap -- }"
  # shellcheck disable=SC2317 # conch has a fork call it
  _conch_exit_handler() {
    builtin unset -v MCP_CALL_TMPDIR
    builtin eval "$_mcp_handler"
  }
}

_mcp_set_handler() { _mcp_handler=$1; }

# The handler has had its turn, unless conch was killed before.
_mcp_drop_exit_handler() {
  builtin trap - EXIT
  [[ $_mcp_failed != 1 || -n $_mcp_handled ]] || _mcp_run_exit_handler || builtin :
  builtin unset -f _conch_exit_handler
}

# Gives the handler two seconds, as conch would have.
_mcp_run_exit_handler() {
  builtin local _mcp_pid _mcp_killer
  builtin set -m
  (
    builtin set +em
    _conch_exit_handler
  ) </dev/null >&2 &
  _mcp_pid=$!
  (
    sleep 2
    builtin kill -KILL -- "-$_mcp_pid"
  ) </dev/null >/dev/null 2>&1 &
  _mcp_killer=$!
  builtin disown "$_mcp_killer"
  builtin set +m
  builtin wait "$_mcp_pid"
  builtin kill -KILL -- "-$_mcp_killer"
}

# Sets _mcp_pid to the pid of this shell. Bash 3.2 does not know it; a child
# knows its parent.
_mcp_learn_pid() {
  _mcp_pid=${BASHPID:-}
  # shellcheck disable=SC2016 # for that sh to expand
  [[ -n $_mcp_pid ]] || _mcp_pid=$(exec /bin/sh -c 'echo "$PPID"')
}

# Notes the first signal, which this shell dies by in the end, and tells conch
# that no further request is to be begun. Sent to the whole process group, the
# signal has reached conch too, and stops the call as well.
_mcp_note_signal() {
  [[ -n $_mcp_signal ]] || _mcp_signal=$1
  # Too early: conch is told when it is there.
  [[ -n ${_conch_root:-} ]] || builtin return 0
  # Its files were removed: conch cannot be told, and the loop has to end.
  [[ -p $_conch_root.said ]] || {
    \exec 47<&-
    builtin return 0
  }
  # For reading too, or the open would wait for a conch that is gone.
  builtin printf 'signal %s\n' "$1" 2>/dev/null 1<>"$_conch_root.said" || builtin :
}

_mcp_die() {
  builtin local _mcp_pid
  _mcp_learn_pid
  builtin trap - "$1" EXIT
  builtin kill -s "$1" "$_mcp_pid"
  builtin exit 1
}

# --- One request ------------------------------------------------------------

# Has conch answer one request. $1: what is asked; the rest: its fields.
_mcp_answer() {
  builtin local _mcp_client='' _mcp_failed=0 _mcp_result='' _mcp_handled='' _mcp_signal=''
  _mcp_attend "$@"
  builtin return "${_mcp_result:-$_mcp_failed}"
}

# --- Strangers --------------------------------------------------------------

# Variables of the environment that a tool would take for arguments that were
# checked.
_mcp_strangers=()
for _mcp_name in "${!arg_@}"; do
  case $(builtin declare -p "$_mcp_name") in
    'declare -'*x*' arg_'*) _mcp_strangers[${#_mcp_strangers[@]}]=$_mcp_name ;;
  esac
done
builtin unset -v _mcp_name
