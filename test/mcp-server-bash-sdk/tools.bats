#!/usr/bin/env bats
# Calls: which tools there are, what they get, and what becomes of what they
# print. Cases with a number after U are what the framework itself tests; "fault"
# stands before what goes wrong there.
#
# conch calls the tools, sets their arguments and reads the variables.
# shellcheck disable=SC2034,SC2154,SC2317,SC2329

load helpers/common

setup() {
  sdk_setup
  cinema
}

@test "U17 what a tool prints is the text" {
  ask "$(call 1 films)"
  assert_text '[{"id":1},{"id":2}]'
}

@test "U18 arguments arrive, as JSON and by name" {
  tool_echo() { printf '%s|%s' "$1" "$arg_showTime"; }
  ask "$(call 1 echo '{ "showTime" : "10:00", "n": [1, 2] }')"
  assert_text '{"showTime":"10:00","n":[1,2]}|10:00'
}

@test "U19 a failure is a result, with what was printed" {
  tool_refuse() { echo 'Invalid film'; return 3; }
  ask "$(call 1 refuse)"
  assert_failed 'Invalid film'
}

@test "U20 a failure without a word has its status" {
  tool_mute() { return 7; }
  ask "$(call 1 mute)"
  assert_failed "Tool 'mute' failed with exit status 7"
  tool_leave() { exit 9; }
  ask "$(call 1 leave)"
  assert_failed "Tool 'leave' failed with exit status 9"
}

@test "U21 a name with other characters than letters, digits and underscores" {
  local name
  for name in invalid-tool-name! 'a b' '' 'x;id' 'é' '../x'; do
    ask "$(call 1 "$name")"
    assert_code -32600
  done
}

@test "U22 a tool that is not there" {
  ask "$(call 1 no_such_tool)"
  assert_code -32602
}

@test "U23 absent arguments are an empty object" {
  tool_args() { printf '%s' "$1"; }
  ask "$(call 1 args)"
  assert_text '{}'
  ask "$(call 1 args null)"
  assert_text '{}'
}

@test "U24 lines stay lines, on one line of the protocol" {
  tool_lines() { printf 'one\ntwo\nthree\n\n'; }
  ask "$(call 1 lines)"
  assert_text $'one\ntwo\nthree'
}

@test "U25 U31 200 and 500 KB arrive whole" {
  local n
  tool_big() { printf '%0*d' "$arg_n" 0; }
  for n in 200000 500000; do
    run --separate-stderr process_request "$(call 1 big "{\"n\":$n}")"
    assert_success
    printf '%s' "$output" >answer
    run node -e 'console.log(JSON.parse(require("fs").readFileSync("answer")).result.content[0].text.length)'
    assert_output "$n"
  done
}

@test "a tool is there when its function is, whatever the list says" {
  tool_unlisted() { echo here; }
  ask "$(call 1 unlisted '{"any":"thing"}')"
  assert_text here
  unset -f tool_films
  ask "$(call 1 films)"
  assert_code -32602
  rm "$MCP_TOOLS_LIST_FILE"
  ask "$(call 1 unlisted)"
  assert_text here
}

@test "digits and capitals may begin a name" {
  tool_2x() { echo two; }
  ask "$(call 1 2x)"
  assert_text two
}

@test "standard error is the server's, and no part of the text" {
  tool_both() { echo out; echo aside >&2; return "${arg_status:-0}"; }
  ask "$(call 1 both)"
  assert_text out
  # shellcheck disable=SC2154 # run sets stderr.
  assert_equal "$stderr" aside
  tool_aside() { echo aside >&2; return 1; }
  ask "$(call 1 aside)"
  assert_failed "Tool 'aside' failed with exit status 1"
  assert_equal "$stderr" aside
}

@test "a server whose standard error is closed serves all the same" {
  # shellcheck disable=SC2016 # The new shell expands it.
  run "${BASH_CMD[@]}" -c 'source "$CORE"; exec 2>&-; tool_x() { echo aside >&2; echo out; }; run_mcp_server' <<<"$(call 1 x)"
  assert_success
  assert_text out
}

@test "what a call changes is gone with it" {
  count=1
  tool_count() { count=$((count + 1)); echo "$count"; }
  ask "$(call 1 count)"
  assert_text 2
  ask "$(call 1 count)"
  assert_text 2
  assert_equal "$count" 1
}

@test "fault 4: a program on PATH is no tool" {
  mkdir bin
  printf '%s\n' '#!/bin/sh' ': >ran' >bin/tool_evil
  chmod +x bin/tool_evil
  PATH=$PWD/bin:$PATH ask "$(call 1 evil)"
  assert_code -32602
  refute [ -e ran ]
}

@test "fault 12: numbers keep their digits" {
  tool_echo() { printf '%s' "$1"; }
  ask "$(call 1 echo '{"a":12345678901234567890,"b":1.10,"c":1e400,"d":-0}')"
  assert_text '{"a":12345678901234567890,"b":1.10,"c":1e400,"d":-0}'
}

@test "fault 13: a tool that reads standard input gets none" {
  serve 'tool_read() { cat; echo "end"; }'
  send "$(call 1 read)"
  send "$(call 2 read)"
  await_response 1
  await_response 2
  output=$RESPONSE
  assert_text end
}

@test "fault 15: arguments are validated where the list says what they must be" {
  ask "$(call 1 book '{"seats":2}')"
  assert_failed 'Missing required parameter(s): film.'
  ask "$(call 1 book '{"film":"x"}')"
  assert_failed 'Invalid type(s): film expected integer, got string ("x").'
  ask "$(call 1 book '{"film":1,"seats":2}')"
  assert_text '2 of 1'
}

@test "MCP_VALIDATE=0 has them not validated" {
  MCP_VALIDATE=0
  ask "$(call 1 book '{"film":"x"}')"
  assert_text ' of x'
}

@test "a list that cannot be read refuses calls, and says what to do" {
  write_tools '{ not json'
  ask "$(call 1 films)"
  assert_json true it.result.isError
  assert_output --partial 'MCP_VALIDATE=0'
  MCP_VALIDATE=0
  ask "$(call 1 films)"
  assert_json false it.result.isError
}

@test "arguments that are no object are refused" {
  ask "$(call 1 films '[1]')"
  assert_code -32602
}

@test "fault 17: what a tool leaves running does not hold its answer up" {
  tool_leave() {
    sleep 60 &
    echo "$!" >left
    echo left
  }
  ask "$(call 1 leave)"
  assert_text left
  await_gone "$(cat left)"
}

@test "hooks of Conch's work here too" {
  mcp_before_tool_call() { [[ $1 != films ]] || { echo "not $1"; return 1; }; }
  ask "$(call 1 films)"
  assert_failed 'Error executing films: not films'
}
