# shellcheck shell=bash
# A server's library: source it, define tool_<name> functions, call
# run_mcp_server. It takes the place of bash-mcp-sdk's file of the same name;
# scripts written for that framework need no change.
#
#   source lib/mcpserver_core.sh
#   tool_greet() { echo "Hello, $arg_name"; }
#   run_mcp_server "$@"
#
# The conch binary does the work: it speaks the protocol, validates arguments
# and contains calls. It is started by run_mcp_server, and for one request by
# the functions that answer one. Either way the shell that asks for it becomes
# its root shell: conch tells it on descriptor 47 to fork, and a fork of it, with
# all that the script has set up by then, runs each call. Descriptor 46 is the
# protocol's output on its way to conch. The Bash code of the forks comes from
# conch itself, so that the two always fit together.
#
# Bash 3.2 is enough. `builtin` stands before the builtins, since a script may
# define a function called printf or read; exec cannot do with it, and is set
# aside. The backslash keeps it from being an alias. Names of the library's own begin with _mcp_, of the forks' with _conch_.

# --- Finding conch ----------------------------------------------------------

# What this file and the binary have to agree on.
_mcp_protocol=1

# Prints the path of conch, or says what is wrong.
_mcp_find_conch() {
  builtin local _mcp_here="${BASH_SOURCE[0]%/*}" _mcp_path
  [[ $_mcp_here != "${BASH_SOURCE[0]}" ]] || _mcp_here=.
  if [[ -n ${CONCH_BIN:-} ]]; then
    _mcp_path=$CONCH_BIN
  elif [[ -f $_mcp_here/conch && -x $_mcp_here/conch ]]; then
    _mcp_path=$_mcp_here/conch
  else
    _mcp_path=$(builtin type -P conch) || {
      _mcp_refuse "conch was not found; looked at \$CONCH_BIN, $_mcp_here/conch and PATH"
      builtin return 1
    }
  fi
  [[ $_mcp_path == /* ]] || _mcp_path=$PWD/$_mcp_path
  _mcp_check_conch "$_mcp_path" && builtin printf '%s\n' "$_mcp_path"
}

# Whether $1 is a conch that fits this file; says what is wrong. A wrapper around
# conch must not read what the client has written.
_mcp_check_conch() {
  builtin local _mcp_speaks
  if [[ ! -f $1 || ! -x $1 ]]; then
    _mcp_refuse "$1 is no program, and \$CONCH_BIN names it"
    builtin return 1
  fi
  _mcp_speaks=$("$1" __bash-mcp-sdk protocol 2>/dev/null </dev/null) || _mcp_speaks=''
  if [[ $_mcp_speaks != "$_mcp_protocol" ]]; then
    _mcp_refuse "the conch at $1 does not fit this file: it speaks protocol ${_mcp_speaks:-0}, needed is $_mcp_protocol"
    builtin return 1
  fi
}

_mcp_refuse() {
  builtin printf 'bash-mcp-sdk: %s\n' "$1" >&2
  _mcp_install_hint conch >&2
}

# Prints how to get $1 on this platform. conch comes from its own checkout; jq
# and bash are not needed, and asked for by the tests of some scripts.
_mcp_install_hint() {
  case $1 in
    conch)
      builtin printf '%s\n' '  build it in a checkout of Conch with: make build' \
        "  then put bin/conch on PATH, or set CONCH_BIN to its path (this is $OSTYPE; conch runs on Linux and macOS)"
      ;;
    jq) _mcp_package_hint jq 'jq 1.7' "$(uname 2>/dev/null)" ;;
    *) _mcp_package_hint bash 'bash 3.2' "$(uname 2>/dev/null)" ;;
  esac
}

# $1: the package, $2: its least version, $3: the system.
_mcp_package_hint() {
  builtin local _mcp_command _mcp_hint="  install $2 or newer with your platform's package manager"
  for _mcp_command in 'brew install' 'apt-get install' 'apk add' 'dnf install'; do
    case $3$_mcp_command in
      Darwinbrew* | Linuxa* | Linuxd*) ;;
      *) builtin continue ;;
    esac
    builtin type -P "${_mcp_command%% *}" >/dev/null || builtin continue
    _mcp_hint="  $_mcp_command $1"
    builtin break
  done
  builtin printf '%s\n' "$_mcp_hint"
  [[ $1$3 != bashDarwin ]] ||
    builtin printf '  then place its directory before /usr/bin in the PATH the MCP host launches this server with\n'
}

# Before any option is changed.
if ! _mcp_conch=$(_mcp_find_conch); then
  # shellcheck disable=SC2317 # where the file was not sourced
  builtin return 1 2>/dev/null || builtin exit 1
fi

# --- Settings ---------------------------------------------------------------

: "${MCP_CONFIG_FILE:=config.json}" "${MCP_TOOLS_LIST_FILE:=tools.json}"
: "${MCP_LOG_FILE:=/dev/null}" "${MCP_EXTRA_LOG_FILE:=}" "${MCP_LOG_STDERR:=0}"

# Variables of the environment that a tool would take for arguments that were
# checked.
_mcp_strangers=()
for _mcp_name in "${!arg_@}"; do
  case $(builtin declare -p "$_mcp_name") in
    'declare -'*x*' arg_'*) _mcp_strangers[${#_mcp_strangers[@]}]=$_mcp_name ;;
  esac
done
builtin unset -v _mcp_name

# --- Asking conch -----------------------------------------------------------

# Runs conch in place of the subshell that calls this. $1: what is asked of it.
# shellcheck disable=SC2034 # conch uses them
_mcp_run() {
  builtin export MCP_CONFIG_FILE MCP_TOOLS_LIST_FILE MCP_LOG_FILE MCP_EXTRA_LOG_FILE \
    MCP_LOG_STDERR MCP_CONCURRENCY TMPDIR CONCH_FLAGS
  builtin unset -f exec
  \exec "$_mcp_conch" __bash-mcp-sdk "$1"
}

# Asks what needs no fork of this shell. $1: what; the rest: its fields.
_mcp_ask() {
  builtin local _mcp_what="$1"
  builtin shift
  builtin printf '%s\0' "$@" | (_mcp_run "$_mcp_what")
}

# Starts conch, which says on descriptor 47 what this shell is to do. Not in a
# redirection of a group, of which Bash would keep a copy in every fork.
_mcp_start() {
  builtin local _mcp_what="$1"
  builtin shift
  if [[ $_mcp_what == loop ]]; then
    { \exec 47< <(_mcp_run loop); } 46>&1
  else
    { \exec 47< <(builtin printf '%s\0' "$@" | _mcp_run "$_mcp_what"); } 46>&1
  fi
}

# Has conch answer, with this shell as its root shell. $1: what is asked; the
# rest: its fields. Sets _mcp_failed to 1 when there is no conch any more to
# answer, and to 2 when it could not. It never fails itself, so that it need not
# be called in a condition, where a tool's own errexit would be without effect.
# The options and traps of the caller are set aside; a call gets them back but
# for errexit and monitor.
_mcp_attend() {
  builtin local _mcp_options="$-" _mcp_exec='' _mcp_kept="$((${_mcp_kept:-46} - 1))"
  builtin local _conch_dir='' _conch_root='' _conch_kind='' _conch_restore='' \
    _conch_declared='' _conch_kept='' _conch_traps='' _conch_order='' _conch_name='' _conch_last=''
  # Traps that are inherited would speak in what is captured.
  { builtin set +evxmET; } 2>/dev/null
  _conch_traps=$(builtin trap -p ERR DEBUG RETURN)
  [[ -z $_conch_traps ]] || builtin trap - ERR DEBUG RETURN
  [[ $1 != loop ]] || _mcp_take_exit_handler
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
    failed) _mcp_failed=2 ;;
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
  # A signal that came before conch could be told.
  [[ -z ${_mcp_signal:-} ]] || _mcp_note_signal "$_mcp_signal"
  _conch_serve
  _mcp_failed=$? _mcp_handled=$_conch_last
  case $_conch_order in
    end) _mcp_signal=${_mcp_signal:-$_conch_name} ;;
    failed) _mcp_failed=2 ;;
  esac
  ((_mcp_failed != 1)) ||
    builtin printf 'bash-mcp-sdk: conch has ended without a word; what it ran has been stopped\n' >&2
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

# Serves the client on standard input and output until its input ends, and
# returns; dies by a signal that ends the server. Arguments mean nothing.
run_mcp_server() {
  if builtin declare -F _conch_begin >/dev/null && [[ -z ${_conch_served:-} ]]; then
    _mcp_be_served
    builtin return
  fi
  builtin local _mcp_signal='' _mcp_handler='' _mcp_handled='' _mcp_failed=0 _mcp_name
  for _mcp_name in INT TERM HUP PIPE; do
    # shellcheck disable=SC2064 # the name of now
    builtin trap "_mcp_note_signal $_mcp_name" "$_mcp_name"
  done
  _mcp_attend loop
  [[ -z $_mcp_handler ]] || _mcp_drop_exit_handler
  [[ -z $_mcp_signal ]] || _mcp_die "$_mcp_signal"
  builtin trap - INT TERM HUP PIPE
  builtin return "$_mcp_failed"
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

# Answers a line as the server would.
process_request() { _mcp_answer request "$1"; }

# Answers tools/call. $1: the id, $2: params, both JSON.
handle_tools_call() { _mcp_answer call "$1" "$2"; }

_mcp_answer() {
  builtin local _mcp_failed=0 _mcp_handled='' _mcp_signal=''
  _mcp_attend "$@"
  builtin return "$_mcp_failed"
}

# Answers initialize. $1: the id, $2: params, both JSON.
handle_initialize() { _mcp_ask initialize "$1" "$2"; }

# Answers tools/list. $1: the id, JSON.
handle_tools_list() { _mcp_ask list "$1"; }

# Prints what is wrong with arguments and fails, or prints nothing. $1: the tool,
# $2: its arguments, JSON.
validate_tool_arguments() { _mcp_ask validate "$1" "$2"; }

# Prints a response. $1: the id, $2: the result, both JSON.
create_response() { _mcp_ask response "$1" "$2"; }

# Prints an error response. $1: the id, JSON, $2: the code, $3: the message,
# $4: data, JSON, if any.
create_error_response() { _mcp_ask error "$1" "$2" "$3" "${4:-}"; }

# Prints a file that holds one JSON object, on one line, or fails.
read_json_file() { _mcp_ask object "$1"; }

# --- The log ----------------------------------------------------------------

# Writes a line to the log files, and to standard error where MCP_LOG_STDERR is
# 1. $1: the level, $2: the message. Never fails.
log() {
  builtin local _mcp_line _mcp_file
  # Bash 3.2 cannot tell the time.
  builtin printf -v _mcp_line '[%(%Y-%m-%d %H:%M:%S)T] [%s] %s' -1 "$1" "$2" 2>/dev/null ||
    _mcp_line="[$(date '+%Y-%m-%d %H:%M:%S')] [$1] $2"
  for _mcp_file in "${MCP_LOG_FILE:-}" "${MCP_EXTRA_LOG_FILE:-}"; do
    [[ -z $_mcp_file || $_mcp_file == /dev/null ]] || builtin printf '%s\n' "$_mcp_line" 2>/dev/null >>"$_mcp_file" || builtin :
  done
  [[ ${MCP_LOG_STDERR:-} != 1 ]] || builtin printf '%s\n' "$_mcp_line" >&2 || builtin :
}

# Logs to the file $1 too; a relative path is one below PROJECT_ROOT.
_configure_extra_log_file() {
  builtin local _mcp_path="$1"
  [[ -n $_mcp_path ]] || builtin return 0
  [[ $_mcp_path == /* ]] || _mcp_path=${PROJECT_ROOT:-.}/$_mcp_path
  if [[ ! -d ${_mcp_path%/*} ]]; then
    log WARN "log_file parent directory does not exist: ${_mcp_path%/*} — extra log file disabled"
    builtin return 0
  fi
  builtin export MCP_EXTRA_LOG_FILE="$_mcp_path"
  log INFO "Extra log file configured: $_mcp_path"
}

# --- Floors, for scripts whose tests ask for them ----------------------------

# Whether Bash $1.$2 is new enough for this file.
_mcp_bash_meets_floor() { _mcp_version_meets "$1" "$2" 3 2; }

# Whether $1, as jq --version prints it, is 1.7 or newer.
_mcp_jq_meets_floor() {
  [[ $1 =~ ^jq-([0-9]+)\.([0-9]+)([.-]|$) ]] || builtin return 1
  _mcp_version_meets "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 1 7
}

# Whether version $1.$2 is $3.$4 or newer. Fails with 1 for what are no numbers.
_mcp_version_meets() {
  [[ $1 =~ ^[0-9]+$ && $2 =~ ^[0-9]+$ ]] || builtin return 1
  # A leading zero would make them octal.
  (((10#$1 > $3) || (10#$1 == $3 && 10#$2 >= $4))) || builtin return 1
}

set -euo pipefail
