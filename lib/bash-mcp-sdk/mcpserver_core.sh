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
# protocol's output on its way to conch. The Bash code of all that comes from
# conch itself, so that the two always fit together.
#
# Bash 3.2 is enough. `builtin` stands before the builtins, since a script may
# define a function called printf or read. Names of the library's own begin with
# _mcp_, of the forks' with _conch_.

# --- Finding conch ----------------------------------------------------------

# The format, and what this file and the binary have to agree on.
_mcp_format=bash-mcp-sdk _mcp_protocol=2

# Sets _mcp_conch to the path of conch, or says what is wrong. Where CONCH_BIN is
# set, nothing else is looked at: another conch than the one asked for would be a
# surprise.
_mcp_find_conch() {
  builtin local _mcp_here="${BASH_SOURCE[0]%/*}" _mcp_path
  [[ $_mcp_here != "${BASH_SOURCE[0]}" ]] || _mcp_here=.
  if [[ -n ${CONCH_BIN:-} ]]; then
    _mcp_path=$CONCH_BIN
  elif [[ -f $_mcp_here/conch && -x $_mcp_here/conch ]]; then
    _mcp_path=$_mcp_here/conch
  else
    _mcp_path=$(builtin type -P conch) || {
      _mcp_refuse "conch was not found: CONCH_BIN is not set, and there is no such program in $_mcp_here or on PATH"
      builtin return 1
    }
  fi
  [[ $_mcp_path == /* ]] || _mcp_path=$PWD/$_mcp_path
  _mcp_conch=$_mcp_path
  _mcp_get_code
}

# Sets _mcp_code to the Bash code that conch has for this file, or says why that
# conch does not fit. A wrapper around conch must not read what the client has
# written.
_mcp_get_code() {
  builtin local _mcp_speaks
  if [[ ! -f $_mcp_conch || ! -x $_mcp_conch ]]; then
    _mcp_refuse "$(_mcp_why_no_program)"
    builtin return 1
  fi
  _mcp_code=$("$_mcp_conch" "__$_mcp_format" code "$_mcp_protocol" 2>/dev/null </dev/null) || _mcp_code=''
  [[ -z $_mcp_code ]] || builtin return 0
  _mcp_speaks=$("$_mcp_conch" "__$_mcp_format" protocol 2>/dev/null </dev/null) || _mcp_speaks=''
  case $_mcp_speaks in
    '' | *[!0-9]*) _mcp_refuse "$_mcp_conch does not answer as conch does" ;;
    *) _mcp_refuse "the conch at $_mcp_conch does not fit this file: it speaks protocol $_mcp_speaks, needed is $_mcp_protocol; conch vendor writes the file that fits it" ;;
  esac
  builtin return 1
}

# CONCH_BIN is the only path that is tried unseen.
_mcp_why_no_program() {
  if [[ ${CONCH_BIN:-} == '~'* ]]; then
    builtin printf '%s\n' "CONCH_BIN is $CONCH_BIN, and nobody expands the ~ in it; write the directory out"
  elif [[ -d $_mcp_conch ]]; then
    builtin printf '%s\n' "$_mcp_conch, which CONCH_BIN names, is a directory; name the program in it"
  elif [[ -e $_mcp_conch ]]; then
    builtin printf '%s\n' "$_mcp_conch, which CONCH_BIN names, is not executable; chmod +x it"
  else
    builtin printf '%s\n' "there is no $_mcp_conch, which CONCH_BIN names"
  fi
}

# Says what is wrong, and how to mend it: whoever has set CONCH_BIN may have a good
# conch elsewhere.
_mcp_refuse() {
  builtin printf '%s: %s\n' "$_mcp_format" "$1" >&2
  if [[ -n ${CONCH_BIN:-} ]]; then
    builtin printf '  correct CONCH_BIN; or unset it, and conch is looked for beside this file and on PATH\n' >&2
  else
    _mcp_install_hint conch >&2
  fi
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
if ! _mcp_find_conch; then
  # shellcheck disable=SC2317 # where the file was not sourced
  builtin return 1 2>/dev/null || builtin exit 1
fi

# --- Settings ---------------------------------------------------------------

: "${MCP_CONFIG_FILE:=config.json}" "${MCP_TOOLS_LIST_FILE:=tools.json}"
: "${MCP_LOG_FILE:=/dev/null}" "${MCP_EXTRA_LOG_FILE:=}" "${MCP_LOG_STDERR:=0}"

# What conch is to see. The code is conch's own.
# shellcheck disable=SC2034
_mcp_exports=(MCP_CONFIG_FILE MCP_TOOLS_LIST_FILE MCP_LOG_FILE MCP_EXTRA_LOG_FILE
  MCP_LOG_STDERR MCP_CONCURRENCY TMPDIR CONCH_FLAGS)
# shellcheck source=internal/shell/attached.bash
builtin eval "$_mcp_code"
builtin unset -v _mcp_code

# --- What scripts call ------------------------------------------------------

# Serves the client on standard input and output until its input ends, and
# returns; dies by a signal that ends the server. Arguments mean nothing.
run_mcp_server() { _mcp_serve_client loop; }

# Answers a line as the server would.
process_request() { _mcp_answer request "$1"; }

# Answers tools/call. $1: the id, $2: params, both JSON.
handle_tools_call() { _mcp_answer call "$1" "$2"; }

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
