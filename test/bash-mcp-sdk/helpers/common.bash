# What every suite here shares: where things are, a private place for each
# test, and words for what a response should be.
#
#   load helpers/common
#   setup() { common_setup; }
#
# Settings of the environment: CONCH_CORE is the drop-in file, CONCH_BIN the
# program; CONCH_TEST_POSIX=1 starts every shell in posix mode;
# CONCH_TEST_BUSYBOX is a directory of busybox's commands to put on PATH.
#
# shellcheck shell=bash
# bats sets `output`, `stderr` and `status`; the suites use what is set here.
# shellcheck disable=SC2034,SC2154

bats_require_minimum_version 1.5.0

common_setup() {
  local suite
  suite=$(cd "$BATS_TEST_DIRNAME" && pwd)
  REPO=$(cd "$suite/../.." && pwd)
  CORE=${CONCH_CORE:-$REPO/lib/bash-mcp-sdk/mcpserver_core.sh}
  export CORE CONCH_BIN="${CONCH_BIN:-$REPO/bin/conch}"
  load "$suite/node_modules/bats-support/load.bash"
  load "$suite/node_modules/bats-assert/load.bash"
  [[ -f "$CORE" ]] || fail "there is no $CORE"
  [[ -x "$CONCH_BIN" ]] || fail "there is no $CONCH_BIN; make build"

  # The shell every script is started with.
  BASH_CMD=("$BASH")
  if [[ ${CONCH_TEST_POSIX:-} == 1 ]]; then BASH_CMD+=(--posix); fi
  # The client looks into /proc with it, where busybox's stops at a NUL.
  GREP=$(type -P grep)
  if [[ -n ${CONCH_TEST_BUSYBOX:-} ]]; then PATH="$CONCH_TEST_BUSYBOX:$PATH"; fi
  common_private
}

# common_private gives the test directories and files of its own, and takes
# away what the caller's environment says about servers.
common_private() {
  unset MCP_EXTRA_LOG_FILE MCP_LOG_STDERR MCP_CALL_TMPDIR MCP_CONCURRENCY PROJECT_ROOT
  WORK="$BATS_TEST_TMPDIR/work"
  export TMPDIR="$BATS_TEST_TMPDIR/tmp" XDG_RUNTIME_DIR="$BATS_TEST_TMPDIR/run"
  mkdir -m 700 "$WORK" "$TMPDIR" "$XDG_RUNTIME_DIR"
  export MCP_LOG_FILE="$BATS_TEST_TMPDIR/mcp.log"
  export MCP_TOOLS_LIST_FILE="$BATS_TEST_TMPDIR/tools.json"
  export MCP_CONFIG_FILE="$BATS_TEST_TMPDIR/config.json"
  : >"$MCP_LOG_FILE"
  write_tools '{"tools":[]}'
  write_config '{}'
  cd "$WORK" || return
}

# write_tools JSON and write_config JSON say what the server offers.
write_tools() { printf '%s\n' "$1" >"$MCP_TOOLS_LIST_FILE"; }
write_config() { printf '%s\n' "$1" >"$MCP_CONFIG_FILE"; }

# source_core sources the drop-in file into the test's own shell.
source_core() {
  if [[ ${CONCH_TEST_POSIX:-} == 1 ]]; then set -o posix; fi
  # shellcheck source=/dev/null
  source "$CORE"
  # bats and its libraries read variables that are not always set.
  set +u +o pipefail
}

# core_in CODE… runs lines of code in a new shell that has sourced the file.
# shellcheck disable=SC2016 # The new shell expands it.
core_in() {
  "${BASH_CMD[@]}" -c 'source "$CORE"'$'\n'"$(printf '%s\n' "$@")" core_in
}

# pr LINE has this shell's process_request answer a line, which must succeed.
# Sets output and stderr as run does.
pr() {
  run --separate-stderr process_request "$1"
  assert_success
}

# call_line ID TOOL [ARGUMENTS] is a tools/call request; ID and ARGUMENTS are
# JSON text.
call_line() {
  local arguments=${3-'{}'}
  printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":%s}}' \
    "$1" "$(json_string "$2")" "$arguments"
}

# cancel_line ID is the notification that cancels the request of that id.
cancel_line() {
  printf '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}' "$1"
}

# ping_line ID is a ping.
ping_line() {
  printf '{"jsonrpc":"2.0","id":%s,"method":"ping"}' "$1"
}

# json_string TEXT prints TEXT as a JSON string, escaped as responses are.
json_string() {
  local text=$1 char code out=
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\b'/\\b}
  text=${text//$'\f'/\\f}
  text=${text//$'\n'/\\n}
  text=${text//$'\r'/\\r}
  text=${text//$'\t'/\\t}
  while [[ $text =~ ^([^[:cntrl:]]*)([[:cntrl:]])(.*)$ ]]; do
    char=${BASH_REMATCH[2]} out+=${BASH_REMATCH[1]} text=${BASH_REMATCH[3]}
    printf -v code '\\u%04x' "'$char"
    out+=$code
  done
  printf '"%s"' "$out$text"
}

# json EXPRESSION [TEXT] prints what a JavaScript expression says of the
# document `it`: a string as it is, all else as JSON, undefined as nothing.
# TEXT defaults to the output of the last run. Numbers are doubles here.
# shellcheck disable=SC2016 # That is JavaScript.
json() {
  node -e '
    const [expression, text] = process.argv.slice(1);
    const value = new Function("it", `return ${expression}`)(JSON.parse(text));
    if (value !== undefined) console.log(typeof value === "string" ? value : JSON.stringify(value));
  ' -- "$1" "${2-$output}"
}

# assert_json EXPECTED EXPRESSION [TEXT] compares what json prints.
assert_json() {
  local actual
  actual=$(json "$2" "${3-$output}") || fail "no $2 in: ${3-$output}"
  assert_equal "$actual" "$1"
}

# assert_line_ends LINE END fails unless LINE is one response, of whatever id,
# whose bytes behind the id are END.
assert_line_ends() {
  local line=$1 rest=$2 start='{"jsonrpc":"2.0","id":'
  if [[ $line != "$start"*"$rest" || $line == *$'\n'* ]]; then
    batslib_print_kv_single_or_multi 8 'expected' "$start…$rest" 'actual' "$line" \
      | batslib_decorate 'not the response that was expected' | fail
  fi
}

# assert_ok_text TEXT [LINE] wants a tool's success with that text, in LINE or
# the output of the last run; assert_err_text TEXT [LINE], its failure.
assert_ok_text() {
  assert_line_ends "${2-$output}" \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":$(json_string "$1")}],\"isError\":false}}"
}

assert_err_text() {
  assert_line_ends "${2-$output}" \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":$(json_string "$1")}],\"isError\":true}}"
}

# assert_error CODE MESSAGE [LINE] wants a JSON-RPC error without data.
assert_error() {
  assert_line_ends "${3-$output}" ",\"error\":{\"code\":$1,\"message\":$(json_string "$2")}}"
}

# assert_result JSON [LINE] wants that result, byte for byte.
assert_result() {
  assert_line_ends "${2-$output}" ",\"result\":$1}"
}

# assert_logged TEXT [COUNT] wants lines in the log that hold TEXT: COUNT of
# them, or any. refute_logged TEXT wants none.
assert_logged() {
  local count
  count=$(grep -cF -- "$1" "$MCP_LOG_FILE") || true
  if [[ -n ${2-} && $count != "$2" ]] || ((count == 0)); then
    fail "${2:-any} wanted, $count found of: $1"$'\n'"$(cat "$MCP_LOG_FILE")"
  fi
}

refute_logged() {
  if grep -qF -- "$1" "$MCP_LOG_FILE"; then
    fail "logged: $1"$'\n'"$(cat "$MCP_LOG_FILE")"
  fi
}

# call_roots [DIR] lists the call directories below DIR or TMPDIR.
call_roots() {
  find "${1:-$TMPDIR}" -mindepth 1 -maxdepth 1 -name 'mcp-call.*'
}

# assert_no_call_roots [DIR] wants none.
assert_no_call_roots() {
  assert_equal "$(call_roots "$@")" ''
}

# assert_empty DIR wants a directory with nothing in it.
assert_empty() {
  assert_equal "$(ls -A "$1")" ''
}
