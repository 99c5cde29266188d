# A client for whole servers: starts a script with a FIFO as its input and
# files as its output, speaks to it in lines, and ends what it has started.
#
#   load helpers/common
#   load helpers/client
#   setup() { common_setup; }
#
# It brings a teardown of its own, client_teardown. All that is awaited has a
# deadline; the seconds that can be given are that. Linux's /proc and Bash 5 are
# needed.
#
# shellcheck shell=bash
# The suites use what is set here.
# shellcheck disable=SC2034

# Long enough for two busy cores. Only a test that fails takes it all.
CLIENT_SECONDS=20

CLIENT_PIDS=()    # the servers
CLIENT_INPUTS=()  # descriptors: the far ends of their standard inputs, 0 once closed
CLIENT_MARKERS=() # what tells their processes from all others

teardown() { client_teardown; }

# server_write BODY writes an executable script that sources the drop-in file
# and then is BODY, which is to call run_mcp_server. Sets SCRIPT.
server_write() {
  SCRIPT="$BATS_TEST_TMPDIR/server.sh"
  # shellcheck disable=SC2016 # The script expands it.
  printf '%s\n' '#!/usr/bin/env bash' 'source "$CORE"' "$1" >"$SCRIPT"
  chmod +x "$SCRIPT"
}

# server_start [--isolated] SCRIPT [ARGUMENT…] starts a server, in a process
# group of its own if isolated. Sets SERVER_PID, SERVER_SCRIPT, SERVER_MARKER,
# SERVER_STDOUT and SERVER_STDERR; the other functions are about the server
# that was started last. It is a process of its own then, and may still have
# everything before it: wait for a response or for the log before a signal.
server_start() {
  local isolated=
  if [[ $1 == --isolated ]]; then isolated=1 && shift; fi
  SERVER_SCRIPT=$1 SERVER_MARKER="--mcp-test-instance=$$-${#CLIENT_PIDS[@]}-$RANDOM$RANDOM."
  shift
  local place="$BATS_TEST_TMPDIR/server${#CLIENT_PIDS[@]}"
  mkdir "$place"
  mkfifo "$place/stdin"
  SERVER_STDOUT="$place/stdout" SERVER_STDERR="$place/stderr"
  local command=("$SERVER_SCRIPT" "$SERVER_MARKER" "$@")
  if [[ ${#BASH_CMD[@]} != 1 ]]; then command=("${BASH_CMD[@]}" "${command[@]}"); fi

  # Under job control a job has a group of its own and ignores no signal.
  if [[ $isolated ]]; then set -m; fi
  client_exec "$place" "${command[@]}" &
  SERVER_PID=$!
  if [[ $isolated ]]; then set +m; fi
  CLIENT_PIDS+=("$SERVER_PID")
  CLIENT_MARKERS+=("$SERVER_MARKER")
  exec {SERVER_INPUT}>"$place/stdin"
  CLIENT_INPUTS+=("$SERVER_INPUT")
  # Between fork and exec Bash may lose a signal.
  within '' server_executed || fail "$SERVER_SCRIPT does not start"
}

server_executed() {
  [[ $(server_count) != 0 ]] || ! alive "$SERVER_PID"
}

# client_exec PLACE COMMAND… turns this shell into the server, without bats's
# descriptors and without a way to write to the servers before it.
client_exec() {
  local place=$1
  shift
  client_close ${CLIENT_INPUTS[@]+"${CLIENT_INPUTS[@]}"}
  # What the server starts is known by this, whatever it calls itself.
  export MCP_TEST_INSTANCE=$SERVER_MARKER
  exec "$@" <"$place/stdin" >"$place/stdout" 2>"$place/stderr" 3>&- 4>&-
}

# send LINE sends a line, send_part BYTES what is no line yet.
send() { send_part "$1"$'\n'; }

send_part() {
  # In a subshell, since a server that is gone means SIGPIPE.
  (printf '%s' "$1" >&"$SERVER_INPUT") || fail "the server reads no more: $(<"$SERVER_STDERR")"
}

# close_input ends the server's input.
close_input() {
  client_close "$SERVER_INPUT"
  # Closed twice, its number could be that of a descriptor bash has put aside.
  CLIENT_INPUTS[${#CLIENT_INPUTS[@]} - 1]=0
}

# client_close DESCRIPTOR… closes what is not closed yet.
client_close() {
  local fd
  for fd in "$@"; do
    if ((fd > 0)); then exec {fd}>&-; fi
  done
}

# now is the time in milliseconds.
now() { printf '%s\n' "$((${EPOCHREALTIME/[.,]/} / 1000))"; }

# within SECONDS COMMAND… tries a command until it succeeds, and fails once
# that takes longer. SECONDS is whole, and may be empty.
within() {
  local end=$(($(now) + ${1:-$CLIENT_SECONDS} * 1000))
  shift
  until "$@"; do
    if (($(now) >= end)); then return 1; fi
    sleep 0.03
  done
}

# response_start ID is how a response with that id begins.
response_start() { printf '{"jsonrpc":"2.0","id":%s,' "$1"; }

# find_response ID sets RESPONSE to the response with that id, JSON text.
find_response() {
  local line start
  start=$(response_start "$1")
  while IFS= read -r line; do
    if [[ $line == "$start"* ]]; then
      RESPONSE=$line
      return
    fi
  done <"$SERVER_STDOUT"
  return 1
}

# response_or_end ID is find_response, and ends the wait for a server that has
# exited.
response_or_end() {
  find_response "$1" || ! alive "$SERVER_PID"
}

# await_response ID [SECONDS] waits for the response with that id, JSON text,
# and sets RESPONSE. There must be no other with it.
await_response() {
  RESPONSE=
  within "${2-}" response_or_end "$1" || fail "no response for $1"
  find_response "$1" || fail "exited without a response for $1"
  assert_equal "$(stdout_count "$(response_start "$1")")" 1
}

# refute_response ID SECONDS wants no response with that id for so long.
refute_response() {
  if within "$2" find_response "$1"; then fail "answered: $RESPONSE"; fi
}

# response_order ID ID wants the first one's response before the second's.
response_order() {
  local first second
  first=$(response_line "$1")
  second=$(response_line "$2")
  ((first < second)) || fail "the response for $2 is in line $second, that for $1 in line $first"
}

# response_line ID is the number of the response's line in the output.
response_line() {
  local number
  number=$(grep -nF -- "$(response_start "$1")" "$SERVER_STDOUT") || fail "no response for $1"
  printf '%s\n' "${number%%:*}"
}

# stdout_count TEXT is how many lines of the server's output hold TEXT.
stdout_count() { grep -cF -- "$1" "$SERVER_STDOUT" || true; }

# stdout_has TEXT and log_has TEXT say whether a line holds TEXT.
stdout_has() { grep -qF -- "$1" "$SERVER_STDOUT"; }
log_has() { grep -qF -- "$1" "$MCP_LOG_FILE"; }

# await_stdout TEXT [SECONDS] waits for a line of output that holds TEXT, for
# responses that have no id.
await_stdout() {
  within "${2-}" stdout_has "$1" || fail "not in the output: $1; there is: $(<"$SERVER_STDOUT")"
}

# await_log TEXT [SECONDS] waits for a line of the log that holds TEXT.
await_log() {
  within "${2-}" log_has "$1" || fail "not logged: $1"
}

# await_file FILE [SECONDS] waits for a file with something in it.
await_file() {
  within "${2-}" test -s "$1" || fail "nothing in $1"
}

# alive PID says whether a process is there and no zombie.
alive() {
  local stat
  # Not with $(<…): where the file is missing, Bash 5.2 ends the shell.
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != Z* ]]
}

gone() { ! alive "$1"; }

# await_gone PID [SECONDS] waits until a process is gone.
await_gone() {
  within "${2-}" gone "$1" || fail "still there: $(ps -o pid=,stat=,args= -p "$1")"
}

# refute_gone PID SECONDS wants a process to stay for so long.
refute_gone() {
  local end=$(($(now) + $2 * 1000))
  until gone "$1"; do
    if (($(now) >= end)); then return; fi
    sleep 0.03
  done
  # Seen too late, its end says nothing.
  if (($(now) < end)); then fail "gone: $1"; fi
}

# await_exit [SECONDS] waits for the server's end and sets STATUS.
await_exit() {
  await_gone "$SERVER_PID" "${1-}"
  STATUS=0
  wait "$SERVER_PID" || STATUS=$?
}

# processes_with TEXT FILE… lists the processes whose FILE, below /proc, holds
# TEXT. Zombies have neither arguments nor an environment.
processes_with() {
  local text=$1 file
  shift
  # From a file, since it would find itself by an argument.
  "$GREP" -lF -f - -- "$@" 2>/dev/null <<<"$text" | while IFS=/ read -r _ _ file _; do
    printf '%s\n' "$file"
  done
}

# server_count is how many processes have the server's script and its marker
# among their arguments.
server_count() {
  local pid
  for pid in $(processes_with "$SERVER_MARKER" /proc/[0-9]*/cmdline); do
    processes_with "$SERVER_SCRIPT" "/proc/$pid/cmdline"
  done | grep -c . || true
}

count_is() { [[ $(server_count) == "$1" ]]; }

# await_count N [SECONDS] waits until there are that many.
await_count() {
  within "${2-}" count_is "$1" || fail "$(server_count) processes where $1 are wanted"
}

# started lists what is left of all servers and of all they have started.
started() {
  local marker
  for marker in ${CLIENT_MARKERS[@]+"${CLIENT_MARKERS[@]}"}; do
    processes_with "MCP_TEST_INSTANCE=$marker" /proc/[0-9]*/environ
  done
}

nothing_runs() { [[ -z $(started) ]]; }

# await_nothing_runs [SECONDS] waits until nothing is left of any server.
await_nothing_runs() {
  within "${1-}" nothing_runs || fail "left: $(started | xargs -n 1 ps -o pid=,ppid=,pgid=,stat=,args= -p)"
}

# client_teardown kills the servers, and fails the test if anything that they
# started stays.
client_teardown() {
  local pid left
  client_explain
  client_close ${CLIENT_INPUTS[@]+"${CLIENT_INPUTS[@]}"}
  for pid in ${CLIENT_PIDS[@]+"${CLIENT_PIDS[@]}"}; do
    if alive "$pid"; then kill -KILL "$pid"; fi
    wait "$pid" 2>/dev/null || true
  done
  if within 5 nothing_runs; then return; fi
  left=$(started)
  for pid in $left; do
    ps -o pid=,ppid=,pgid=,stat=,args= -p "$pid" || true
    kill -KILL "$pid" || true
  done
  fail "these outlive their server: $left"
}

# client_explain prints what a failed test's servers have said.
client_explain() {
  local file
  if [[ ${BATS_TEST_COMPLETED:-} == 1 || ${#CLIENT_PIDS[@]} == 0 ]]; then return; fi
  for file in "$BATS_TEST_TMPDIR"/server*/std{out,err} "$MCP_LOG_FILE"; do
    printf -- '-- %s\n%s\n' "${file##*/}" "$(tail -n 50 "$file")"
  done
}
