# What every suite here shares. The client for whole servers and the words for
# responses are those of test/bash-mcp-sdk.
#
#   load helpers/common
#   setup() { sdk_setup; }
#
# Settings of the environment are as there; CONCH_LIB is the directory of the
# drop-in files.
#
# shellcheck shell=bash
# bats sets `output` and `status`; the suites use what is set here, and conch calls
# the tools.
# shellcheck disable=SC2034,SC2154,SC2317,SC2329

load ../bash-mcp-sdk/helpers/common
load ../bash-mcp-sdk/helpers/client

sdk_setup() {
  local suite
  suite=$(cd "$BATS_TEST_DIRNAME/../bash-mcp-sdk" && pwd)
  REPO=$(cd "$suite/../.." && pwd)
  SDK=${CONCH_LIB:-$REPO/lib/mcp-server-bash-sdk}
  export SDK CORE="$SDK/mcpserver_core.sh" CONCH_BIN="${CONCH_BIN:-$REPO/bin/conch}"
  load "$suite/node_modules/bats-support/load.bash"
  load "$suite/node_modules/bats-assert/load.bash"
  [[ -f $CORE && -x $CONCH_BIN ]] || fail "there is no $CORE or no $CONCH_BIN; make build"
  BASH_CMD=("$BASH")
  if [[ ${CONCH_TEST_POSIX:-} == 1 ]]; then BASH_CMD+=(--posix); fi
  GREP=$(type -P grep)
  unset MCP_VALIDATE MCP_DEFAULT_TTL_MS MCP_DEFAULT_CACHE_SCOPE CONCH_FLAGS
  common_private
  rm "$MCP_LOG_FILE"
  write_config '{"supportedVersions":["2026-07-28"],"serverInfo":{"name":"Cinema","version":"1.2.3"},
    "capabilities":{"tools":{"listChanged":false}},"ttlMs":3600000,"cacheScope":"public","instructions":"Ask for films."}'
  write_tools '{"tools":[{"name":"films","inputSchema":{"type":"object"}},{"name":"book","inputSchema":{"type":"object",
    "properties":{"film":{"type":"integer"},"seats":{"type":"integer","minimum":1}},"required":["film"]}}]}'
}

# cinema sources the drop-in file into the test's own shell, and defines tools.
cinema() {
  if [[ ${CONCH_TEST_POSIX:-} == 1 ]]; then set -o posix; fi
  # shellcheck source=/dev/null
  source "$CORE"
  tool_films() { echo '[{"id":1},{"id":2}]'; }
  tool_book() { printf '%s of %s\n' "${arg_seats-}" "$arg_film"; }
}

# The metadata of a request.
REVISION='"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
META="\"_meta\":{$REVISION,\"io.modelcontextprotocol/clientCapabilities\":{}}"

# request ID METHOD [MEMBERS] is a request, with more members in its params; all
# but METHOD are JSON text.
request() {
  printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":{%s%s}}' "$1" "$2" "${3:+$3,}" "$META"
}

# call ID TOOL [ARGUMENTS] is a tools/call request.
call() { request "$1" tools/call "\"name\":\"$2\"${3:+,\"arguments\":$3}"; }

# ask LINE has this shell's process_request answer a line, on one line or none.
ask() {
  run --separate-stderr process_request "$1"
  assert_success
  [[ ${#lines[@]} -le 1 ]] || fail "more than a line: $output"
}

# assert_code CODE [ID] wants an error of that code, under that id, JSON text.
assert_code() {
  assert_json "$1" it.error.code
  assert_json undefined 'String(it.result)'
  assert_json "${2:-1}" 'JSON.stringify(it.id)'
}

# assert_text TEXT and assert_failed TEXT want a tool's success, or failure, with
# that text, and nothing beside it.
assert_text() {
  assert_json "[{\"type\":\"text\",\"text\":$(json_string "$1")}]" it.result.content
  assert_json false 'it.result.isError || false'
}

assert_failed() {
  assert_json "[{\"type\":\"text\",\"text\":$(json_string "$1")}]" it.result.content
  assert_json true it.result.isError
}

# serve BODY starts a server of these lines of Bash, which end in run_mcp_server.
serve() {
  # shellcheck disable=SC2016 # The script expands it.
  SCRIPT="$BATS_TEST_TMPDIR/server.sh"
  printf '%s\n' '#!/usr/bin/env bash' "source \"\$CORE\"" "$1" run_mcp_server >"$SCRIPT"
  chmod +x "$SCRIPT"
  server_start --isolated "$SCRIPT"
}
