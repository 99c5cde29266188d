#!/usr/bin/env bats
# Whole servers: their input, its end, signals, and calls beside each other. Cases
# with a number after U are what the framework itself tests; "fault" stands before
# what goes wrong there.
#
# STATUS and RESPONSE are the client's. Other shells expand what is in single
# quotes, and each test has the variables for itself.
# shellcheck disable=SC2016,SC2030,SC2031,SC2153

load helpers/common

setup() {
  sdk_setup
}

# answer [BODY] runs a server with standard input for all of its input.
answer() {
  run --separate-stderr "${BASH_CMD[@]}" -c 'source "$CORE"'$'\n'"${1-}"$'\nrun_mcp_server' server
}

@test "U27 four lines are four lines of JSON" {
  answer 'tool_films() { echo two; }' < <(
    request 1 tools/list && echo
    call 2 films && echo
    echo garbage
    request 3 server/discover && echo
  )
  assert_success
  assert_equal "${#lines[@]}" 4
  local line
  for line in "${lines[@]}"; do json it.jsonrpc "$line"; done
}

@test "U28 the end of the input ends the server with status 0" {
  answer <<<"$(request 1 tools/list)"
  assert_success
  answer </dev/null
  assert_success
  assert_output ''
}

@test "U29 a last line without its end is answered" {
  answer < <(printf '%s' "$(request 1 tools/list)")
  assert_success
  assert_json 1 it.id
  answer < <(printf 'garbage')
  assert_code -32700 null
}

@test "U30 the files are Bash to every Bash there is" {
  local shell
  for shell in /bin/bash /usr/bin/bash /usr/local/bin/bash /opt/homebrew/bin/bash; do
    [[ -x $shell ]] || continue
    "$shell" -n "$SDK/mcpserver_core.sh"
    "$shell" -n "$SDK/mcpserver_http.sh"
  done
}

@test "a server may be one line, with tools that are in memory alone" {
  run "${BASH_CMD[@]}" -c 'source "$CORE"; tool_big() { printf "%01000d" 0; }; run_mcp_server' <<<"$(call 1 big)"
  assert_success
  assert_json 1000 'it.result.content[0].text.length'
}

@test "what is in flight is answered when the input ends" {
  answer 'tool_slow() { sleep 0.3; echo slow; }' <<<"$(call 1 slow)"
  assert_success
  assert_text slow
}

@test "fault 16: a call that hangs holds nobody up, and can be cancelled" {
  serve 'tool_hang() { echo "$BASHPID" >pid; sleep 100; }
tool_films() { echo two; }'
  send "$(call 1 hang)"
  await_file pid
  send "$(call 2 films)"
  await_response 2
  send "$(cancel_line 1)"
  await_gone "$(cat pid)"
  send "$(call 3 films)"
  await_response 3
  refute_response 1 0
  close_input
  await_exit
  assert_equal "$STATUS" 0
}

@test "fault 16: a call that hangs does not outlive the input by more than --drain" {
  export CONCH_FLAGS='--drain 200ms'
  serve 'tool_hang() { echo "$BASHPID" >pid; sleep 100; }'
  send "$(call 1 hang)"
  await_file pid
  close_input
  await_exit
  assert_equal "$STATUS" 0
  await_gone "$(cat pid)"
  find_response 1
  [[ $RESPONSE == *--drain* ]] || fail "$RESPONSE"
}

@test "fault 16: SIGTERM and SIGINT end the server at once, by the signal, with all it has started" {
  local signal
  for signal in TERM INT; do
    serve 'tool_hang() { sleep 100 & echo "$BASHPID $!" >pids; wait; }'
    send "$(call 1 hang)"
    await_file pids
    kill "-$signal" "$SERVER_PID"
    await_exit
    assert_equal "$STATUS" "$((128 + $(kill -l "$signal")))"
    await_nothing_runs
    rm pids
  done
  assert_empty "$TMPDIR"
  assert_empty "$XDG_RUNTIME_DIR"
}

@test "what runs at once is what MCP_CONCURRENCY says" {
  export MCP_CONCURRENCY=1
  serve 'tool_hang() { echo "$BASHPID" >pid; sleep 100; }
tool_films() { echo two; }'
  send "$(call 1 hang)"
  await_file pid
  send "$(call 2 films)"
  refute_response 2 1
  send "$(cancel_line 1)"
  await_response 2
}

@test "fault 26: a line of 4 MB is answered" {
  local long
  printf -v long '%04000000d' 0
  serve 'tool_size() { echo "${#arg_text}"; }'
  send "$(call 1 size "{\"text\":\"$long\"}")"
  await_response 1
  output=$RESPONSE
  assert_text 4000000
}

@test "a line that is longer than --max-line is refused, and the next one served" {
  export CONCH_FLAGS='--max-line 1000'
  answer 'tool_films() { echo two; }' < <(
    printf '%02000d\n' 0
    call 2 films && echo
  )
  assert_success
  assert_output --partial '--max-line'
  assert_output --partial '"text":"two"'
}

@test "settings that make no sense end the server at its start" {
  CONCH_FLAGS='--nonsense' answer </dev/null
  assert_failure 1
  # shellcheck disable=SC2154 # run sets stderr.
  [[ $stderr == *CONCH_FLAGS* ]] || fail "$stderr"
}

@test "conch serve serves the script too" {
  printf '%s\n' 'source "$CORE"' 'tool_films() { echo two; }' run_mcp_server >server.sh
  run "$CONCH_BIN" call server.sh films
  assert_success
  assert_output two
}
