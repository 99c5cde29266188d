# shellcheck shell=bash
# A server's library: source it, define tool_<name> functions, call
# run_mcp_server. It takes the place of mcp-server-bash-sdk's file of the same
# name; scripts written for that framework need no change.
#
#   MCP_TOOLS_LIST_FILE=assets/tools.json MCP_CONFIG_FILE=assets/config.json
#   source mcpserver_core.sh
#   tool_greet() { echo "Hello, $arg_name"; }
#   run_mcp_server "$@"
#
# The conch binary does the work: it speaks the protocol, validates arguments
# and contains calls. It is started by run_mcp_server, and for one request by
# the functions that answer one. Either way the shell that asks for it becomes
# its root shell: a fork of it, with all that the script has set up by then, runs
# each call. The Bash code of that comes from conch itself, so that the two
# always fit together.
#
# Bash 3.2 is enough. `builtin` stands before the builtins, since a script may
# define a function called printf or read. Names of the library's own begin with
# _mcp_, of the forks' with _conch_.

# --- Finding conch ----------------------------------------------------------

# The format, and what this file and the binary have to agree on.
_mcp_format=mcp-server-bash-sdk _mcp_protocol=2

# Sets SCRIPT_DIR, which scripts of the framework know, to this file's directory,
# and _mcp_conch to the path of conch, or says what is wrong. Where CONCH_BIN is
# set, nothing else is looked at: another conch than the one asked for would be a
# surprise.
_mcp_find_conch() {
  builtin local _mcp_here="${BASH_SOURCE[0]%/*}"
  [[ $_mcp_here != "${BASH_SOURCE[0]}" ]] || _mcp_here=.
  SCRIPT_DIR=$(CDPATH='' builtin cd -- "$_mcp_here" && builtin pwd) || SCRIPT_DIR=$_mcp_here
  if [[ -n ${CONCH_BIN:-} ]]; then
    _mcp_conch=$CONCH_BIN
  elif [[ -f $SCRIPT_DIR/conch && -x $SCRIPT_DIR/conch ]]; then
    _mcp_conch=$SCRIPT_DIR/conch
  else
    _mcp_conch=$(builtin type -P conch) || {
      _mcp_refuse "conch was not found: CONCH_BIN is not set, and there is no such program in $SCRIPT_DIR or on PATH"
      builtin return 1
    }
  fi
  [[ $_mcp_conch == /* ]] || _mcp_conch=$PWD/$_mcp_conch
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
  # What another program prints is not to be evaluated.
  [[ $_mcp_code != "# conch: protocol $_mcp_protocol"* ]] || builtin return 0
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

_mcp_install_hint() {
  builtin printf '%s\n' "  build $1 in a checkout of Conch with: make build" \
    "  then put bin/conch on PATH, or set CONCH_BIN to its path (this is $OSTYPE; conch runs on Linux and macOS)"
}

# Before anything is set, but for where conch was looked for: the file beside this
# one is not to say the same again.
if ! _mcp_find_conch; then
  # shellcheck disable=SC2034 # the file beside this one reads it
  _mcp_refused=${CONCH_BIN:-}:$PATH
  # shellcheck disable=SC2317 # where the file was not sourced
  builtin return 1 2>/dev/null || builtin exit 1
fi

# --- Settings ---------------------------------------------------------------

# For scripts to read.
# shellcheck disable=SC2034
MCP_PROTOCOL_VERSION=2026-07-28

: "${MCP_CONFIG_FILE:=$SCRIPT_DIR/assets/mcpserverconfig.json}"
: "${MCP_TOOLS_LIST_FILE:=$SCRIPT_DIR/assets/tools_list.json}"
: "${MCP_LOG_FILE:=$SCRIPT_DIR/mcpserver.log}"
: "${MCP_DEFAULT_TTL_MS:=60000}" "${MCP_DEFAULT_CACHE_SCOPE:=public}"

# What conch is to see, as it is at each request; the last are for the file
# beside this one. The code is conch's own.
# shellcheck disable=SC2034
_mcp_exports=(MCP_CONFIG_FILE MCP_TOOLS_LIST_FILE MCP_LOG_FILE MCP_LOG_STDERR
  MCP_DEFAULT_TTL_MS MCP_DEFAULT_CACHE_SCOPE MCP_VALIDATE MCP_CONCURRENCY TMPDIR CONCH_FLAGS
  MCP_HTTP_PORT MCP_HTTP_BIND MCP_HTTP_PATH MCP_ALLOWED_ORIGINS)
# shellcheck source=internal/shell/attached.bash
builtin eval "$_mcp_code"
builtin unset -v _mcp_code

# --- What scripts call ------------------------------------------------------

# Serves the client on standard input and output until its input ends, and
# returns; dies by a signal that ends the server. Arguments mean nothing.
run_mcp_server() { _mcp_serve_client loop; }

# Answers a line as the server would.
process_request() { _mcp_answer request "$1"; }

# Answers tools/call. $1: the id, JSON, $2: the tool, $3: its arguments, JSON.
handle_tools_call() { _mcp_answer call "$1" "$2" "${3:-}"; }

# Answers server/discover. $1: the id, JSON.
handle_discover() { _mcp_ask discover "$1"; }

# Answers tools/list. $1: the id, JSON.
handle_tools_list() { _mcp_ask list "$1"; }

# Prints a response with the result, a JSON object, that comes on standard input.
# $1: the id, JSON.
create_response() { { builtin printf '%s\0' "$1" && cat; } | (_mcp_run response); }

# Prints an error response. $1: the id, JSON, $2: the code, $3: the message,
# $4: data, JSON; null is none.
create_error_response() {
  builtin local _mcp_data="${4:-}"
  [[ $_mcp_data != null ]] || _mcp_data=''
  _mcp_ask error "$1" "$2" "$3" "$_mcp_data"
}

# Takes apart the message that comes on standard input, and prints, with U+001F
# between them: jsonrpc, the id as JSON or nothing, the method, the protocol's
# revision, the tool's name, and its arguments as JSON. Fails where there is no
# JSON document.
parse_message() { (_mcp_run parse); }

# Prints a file that holds one JSON document, on one line, or fails.
read_json_file() { _mcp_ask document "$1"; }

# Prints what the configuration says the server is, or what stands for it.
mcp_server_info() { _mcp_ask info ''; }

# --- The log ----------------------------------------------------------------

# Writes a line to the log, and to standard error where MCP_LOG_STDERR is 1.
# $1: the level, $2: the message. Never fails.
log() {
  builtin local _mcp_line
  # Bash 3.2 cannot tell the time.
  builtin printf -v _mcp_line '[%(%Y-%m-%d %H:%M:%S)T] [%s] %s' -1 "$1" "$2" 2>/dev/null ||
    _mcp_line="[$(date '+%Y-%m-%d %H:%M:%S')] [$1] $2"
  if [[ -n ${MCP_LOG_FILE:-} ]]; then
    [[ -e $MCP_LOG_FILE ]] || _mcp_make_log
    builtin printf '%s\n' "$_mcp_line" 2>/dev/null >>"$MCP_LOG_FILE" || builtin :
  fi
  [[ ${MCP_LOG_STDERR:-} != 1 ]] || builtin printf '[%s] %s\n' "$1" "$2" >&2 || builtin :
}

# Makes the log's directory, and the log, which is for nobody else to read: what
# scripts write there is what models have said.
_mcp_make_log() {
  (
    builtin umask 077
    mkdir -p -- "$(dirname -- "$MCP_LOG_FILE")"
    builtin printf '' >>"$MCP_LOG_FILE"
  ) 2>/dev/null || builtin :
}
