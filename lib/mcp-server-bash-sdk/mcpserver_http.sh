# shellcheck shell=bash
# The HTTP side of a server: source it behind mcpserver_core.sh, and call
# run_mcp_http_server in the place of run_mcp_server. It takes the place of
# mcp-server-bash-sdk's file of the same name; scripts written for that framework
# need no change.
#
#   source mcpserver_core.sh
#   source mcpserver_http.sh
#   case "${1:-}" in
#     --http) run_mcp_http_server ;;
#     *) run_mcp_server ;;
#   esac
#
# conch listens and speaks HTTP; this shell becomes its root shell, as it does for
# run_mcp_server. No socat and no netcat is needed.

# Without the file beside it there is nothing here to build on. What it has just
# said is not said again.
if ! builtin declare -F _mcp_serve_client >/dev/null; then
  if [[ ${_mcp_refused:-} == "${CONCH_BIN:-}:$PATH" ]]; then
    # shellcheck disable=SC2317 # where the file was not sourced
    builtin return 1 2>/dev/null || builtin exit 1
  fi
  case ${BASH_SOURCE[0]} in
    */*) _mcp_core=${BASH_SOURCE[0]%/*}/mcpserver_core.sh ;;
    *) _mcp_core=./mcpserver_core.sh ;;
  esac
  # shellcheck source=lib/mcp-server-bash-sdk/mcpserver_core.sh
  builtin source "$_mcp_core" || {
    # shellcheck disable=SC2317 # where the file was not sourced
    builtin return 1 2>/dev/null || builtin exit 1
  }
fi

# --- Settings ---------------------------------------------------------------

: "${MCP_HTTP_PORT:=3000}" "${MCP_HTTP_BIND:=127.0.0.1}" "${MCP_HTTP_PATH:=/mcp}"
: "${MCP_ALLOWED_ORIGINS:=http://localhost,http://127.0.0.1}"

# --- The server -------------------------------------------------------------

# Serves clients over HTTP until a signal ends the server. With
# "handle-connection" it answers one request instead.
run_mcp_http_server() {
  if [[ ${1:-} == handle-connection ]]; then
    handle_http_request
  else
    _mcp_serve_client http
  fi
}

# Answers the HTTP request on standard input.
handle_http_request() { _mcp_answer connection; }

# --- Small helpers ----------------------------------------------------------

# Prints the text of a header's value, which may be base64 between =?base64? and
# ?=. Fails where that is not the base64 of a text.
mcp_header_decode() {
  case $1 in
    '=?base64?'*'?=') _mcp_ask decode "$1" ;;
    *) builtin printf '%s' "$1" ;;
  esac
}

# Whether a page of the origin $1 may ask: MCP_ALLOWED_ORIGINS lists those that
# may, each with any port.
mcp_origin_allowed() {
  builtin local _mcp_allowed _mcp_port
  builtin local -a _mcp_list
  IFS=',' builtin read -r -a _mcp_list <<<"$MCP_ALLOWED_ORIGINS"
  for _mcp_allowed in ${_mcp_list[@]+"${_mcp_list[@]}"}; do
    _mcp_allowed=${_mcp_allowed#"${_mcp_allowed%%[! ]*}"}
    _mcp_allowed=${_mcp_allowed%"${_mcp_allowed##*[! ]}"}
    [[ -n $_mcp_allowed ]] || builtin continue
    [[ $1 != "$_mcp_allowed" ]] || builtin return 0
    _mcp_port=${1#"$_mcp_allowed:"}
    [[ $_mcp_port == "$1" || $_mcp_port == *[!0-9]* || -z $_mcp_port ]] || builtin return 0
  done
  builtin return 1
}

# Prints an HTTP response. $1: the status line behind the version, $2: the type
# of the body, $3: the body. In a subshell, for the length in bytes.
http_write() (
  LC_ALL=C
  builtin printf 'HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n' "$1" "$2" "${#3}"
  builtin printf 'Connection: close\r\nX-Accel-Buffering: no\r\n\r\n%s' "$3"
)

# Prints an HTTP response with JSON, $2, for its body.
http_json() { http_write "$1" application/json "$2"; }

# Prints an HTTP response without a body.
http_empty() { builtin printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1"; }

# Prints an HTTP response with a JSON-RPC error. $1: the status line; the rest is
# as for create_error_response.
http_rpc_error() {
  builtin local _mcp_body
  _mcp_body=$(create_error_response "$2" "$3" "$4" "${5:-null}") || builtin return
  http_json "$1" "$_mcp_body"
}
