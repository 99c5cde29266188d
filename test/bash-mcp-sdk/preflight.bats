#!/usr/bin/env bats
# What the drop-in file needs is looked at when it is sourced. What was said of
# Bash 4.1 and of jq is answered differently on purpose: Bash 3.2 will do, jq is
# not needed, and the conch program is what may be missing.

load helpers/common

setup() {
  common_setup
  EMPTY="$BATS_TEST_TMPDIR/empty" BIN="$BATS_TEST_TMPDIR/bin"
  mkdir "$EMPTY" "$BIN"
}

# program NAME LINE… makes an executable of these lines of sh in BIN.
program() {
  printf '%s\n' '#!/bin/sh' "${@:2}" >"$BIN/$1"
  chmod +x "$BIN/$1"
}

# source_with [-u NAME] [NAME=VALUE…] sources the file in a new shell with this
# changed environment.
# shellcheck disable=SC2016 # The new shell expands it.
source_with() {
  run --separate-stderr env "$@" "${BASH_CMD[@]}" -c 'source "$CORE"'
}

# source_alone sources a copy of the file that has no conch beside it, in a
# shell whose PATH is BIN and that knows of no CONCH_BIN.
source_alone() {
  move_core
  source_with -u CONCH_BIN PATH="$BIN"
}

# move_core makes CORE a copy of the file in a directory of its own.
move_core() {
  mkdir -p "$BATS_TEST_TMPDIR/lib"
  cp "$CORE" "$BATS_TEST_TMPDIR/lib/mcpserver_core.sh"
  CORE="$BATS_TEST_TMPDIR/lib/mcpserver_core.sh"
}

# assert_silent wants the file to have been sourced without a word.
# shellcheck disable=SC2154 # run sets stderr.
assert_silent() {
  assert_success
  assert_output ''
  assert_equal "$stderr" ''
}

# assert_refused TEXT… wants status 1, nothing on standard output, and each of
# these on standard error, which begins with the file's name for itself.
assert_refused() {
  local text
  assert_failure 1
  assert_output ''
  assert_stderr_has 'bash-mcp-sdk: '
  for text in "$@"; do assert_stderr_has "$text"; done
}

# assert_stderr_has TEXT wants TEXT on standard error.
# shellcheck disable=SC2154 # run sets stderr.
assert_stderr_has() {
  [[ $stderr == *"$1"* ]] || fail "not on standard error: $1"$'\n'"$stderr"
}

# meets FUNCTION VERSION… wants the function to accept each; a version is split
# at blanks into arguments. below FUNCTION VERSION… wants status 1 of each.
meets() {
  local version
  for version in "${@:2}"; do
    run_split "$1" "$version"
    assert_success
    assert_output ''
  done
}

below() {
  local version
  for version in "${@:2}"; do
    run_split "$1" "$version"
    assert_failure 1
    assert_output ''
  done
}

run_split() {
  local words
  read -r -a words <<<"$2"
  run "$1" "${words[@]}"
}

# The floor of Bash

# 247 to 250: 3.2 where that SDK has 4.1.
@test "247 Bash 3.2 and what is newer meet the floor" {
  source_core
  meets _mcp_bash_meets_floor '3 2' '3 9' '4 0' '4 1' '5 0' '10 0'
}

@test "248 what is older than Bash 3.2 does not" {
  source_core
  below _mcp_bash_meets_floor '3 1' '2 9'
}

@test "249 nor does what is no version" {
  source_core
  below _mcp_bash_meets_floor 'x y' '3 2a'
  run _mcp_bash_meets_floor '' ''
  assert_failure 1
  run _mcp_bash_meets_floor 3 ''
  assert_failure 1
}

@test "250 the numbers of a version are decimal" {
  source_core
  meets _mcp_bash_meets_floor '3 08' '08 0'
  below _mcp_bash_meets_floor '03 00'
}

# The floor of jq, of which scripts may ask although this file does not

@test "251 jq 1.7 and what is newer meet the floor" {
  source_core
  meets _mcp_jq_meets_floor jq-1.7 jq-1.7.1 jq-1.8.2 jq-1.7.1-Debian-1 jq-1.7-Debian-1 jq-1.8-1 jq-1.10 jq-2.0
}

@test "252 what is older than jq 1.7 does not" {
  source_core
  below _mcp_jq_meets_floor jq-1.5 jq-1.6
}

@test "253 nor does a candidate of its release" {
  source_core
  below _mcp_jq_meets_floor jq-1.7rc1
}

@test "254 nor does what is no version" {
  source_core
  below _mcp_jq_meets_floor jq garbage 1.8.2
  run _mcp_jq_meets_floor ''
  assert_failure 1
}

@test "255 the numbers of a jq's version are decimal" {
  source_core
  meets _mcp_jq_meets_floor jq-1.08
  below _mcp_jq_meets_floor jq-1.06
}

# 256 to 260: that SDK refuses to go on without a jq of its liking.
@test "256 an old jq is no hindrance" {
  program jq 'echo jq-1.6'
  source_with PATH="$BIN:$PATH"
  assert_silent
}

@test "257 nor does a server ask an old jq" {
  # shellcheck disable=SC2016 # The program expands it.
  program jq ': >"$JQ_RAN"' 'echo jq-1.6'
  export JQ_RAN="$BATS_TEST_TMPDIR/jq-ran"
  PATH="$BIN:$PATH" run core_in run_mcp_server <<<"$(ping_line 1)"
  assert_success
  assert_output '{"jsonrpc":"2.0","id":1,"result":{}}'
  refute [ -e "$JQ_RAN" ]
}

@test "258 nor is a PATH with nothing on it" {
  source_with PATH="$EMPTY"
  assert_silent
}

# 259: it is conch that can be too old.
@test "259 a conch that is too old is refused with its path" {
  # shellcheck disable=SC2016 # The program expands it.
  program conch 'case $1 in version | --version | -v) echo "conch 0.0.1" ;; *) exit 2 ;; esac'
  source_alone
  assert_refused "$BIN/conch"
}

# 260: it is conch that may not run.
@test "260 a conch that does not run is refused with its path" {
  program conch 'exit 126'
  source_alone
  assert_refused "$BIN/conch"
}

# Hints

# hint_on DIR PROGRAM prints the hint for a program with DIR alone for PATH.
hint_on() {
  local PATH=$1
  _mcp_install_hint "$2"
}

# hints SYSTEM PROGRAM gets the hint for a program on a system with what is in
# BIN.
hints() {
  source_core
  program uname "echo $1"
  run hint_on "$BIN" "$2"
  assert_success
}

@test "261 the hint for jq on macOS with Homebrew" {
  program brew
  hints Darwin jq
  assert_output --partial 'brew install jq'
}

@test "262 the hint for jq on macOS without Homebrew" {
  hints Darwin jq
  assert_output --partial "install jq 1.7 or newer with your platform's package manager"
  refute_output --partial brew
}

@test "263 the hint for Bash on macOS with Homebrew" {
  program brew
  hints Darwin bash
  assert_output --partial 'brew install bash'
  assert_output --partial 'before /usr/bin in the PATH'
}

@test "264 the hint for Bash on macOS without Homebrew" {
  hints Darwin bash
  assert_output --partial "install bash 3.2 or newer with your platform's package manager"
  assert_output --partial 'before /usr/bin in the PATH'
  refute_output --partial brew
}

@test "265 the hint with apt-get" {
  program apt-get
  hints Linux jq
  assert_output --partial 'apt-get install jq'
}

@test "266 the hint with apk" {
  program apk
  hints Linux jq
  assert_output --partial 'apk add jq'
}

@test "267 the hint with dnf" {
  program dnf
  hints Linux jq
  assert_output --partial 'dnf install jq'
}

@test "268 the hint on a system that is not known" {
  hints Plan9 jq
  assert_output --partial "install jq 1.7 or newer with your platform's package manager"
}

# Refusal and success

# 269: there, a Bash below the floor; a Bash below 3.2 is hardly found.
@test "269 every other Bash of the system is served" {
  local shell
  for shell in /bin/bash /usr/bin/bash /usr/local/bin/bash /opt/homebrew/bin/bash; do
    if [[ -x $shell ]]; then
      # shellcheck disable=SC2016 # The other shell expands it.
      run --separate-stderr "$shell" -c 'source "$CORE"'
      assert_silent
    fi
  done
}

@test "270 a refusal changes no option of the shell" {
  move_core
  # shellcheck disable=SC2016 # The new shell expands it.
  run --separate-stderr env -u CONCH_BIN PATH="$EMPTY" "${BASH_CMD[@]}" -c '
    options() { echo "$-"; set +o; shopt -p; trap -p; }
    before=$(options)
    source "$CORE"
    echo "status $?"
    if [[ $(options) == "$before" ]]; then echo "options kept"; else options; fi'
  assert_success
  assert_output 'status 1'$'\n''options kept'
  assert_stderr_has 'bash-mcp-sdk: '
}

@test "271 success leaves errexit, nounset and pipefail on" {
  # shellcheck disable=SC2016 # The new shell expands it.
  run core_in 'echo "$-"; set -o | grep pipefail'
  assert_success
  assert_line --index 0 --regexp 'e.*u|u.*e'
  assert_line --index 1 --regexp '^pipefail[[:blank:]]+on$'
}

@test "272 a shell with all that is needed hears nothing" {
  source_with
  assert_silent
}

# The conch program, where it is looked for, and what is said if it is missing

@test "a missing conch is refused with what was looked at and how to mend it" {
  source_alone
  assert_refused 'conch was not found' CONCH_BIN "$BATS_TEST_TMPDIR/lib" PATH 'make build'
}

# refuses_bin VALUE TEXT… sources the file with CONCH_BIN set to VALUE and a good
# conch on PATH, which is not taken, and wants each TEXT and what to do.
refuses_bin() {
  ln -sf "$CONCH_BIN" "$BIN/conch"
  source_with PATH="$BIN" CONCH_BIN="$1"
  assert_refused "${@:2}" 'correct CONCH_BIN; or unset it'
  [[ $stderr != *'make build'* ]] || fail "$stderr"
}

@test "a CONCH_BIN that names nothing is refused with its path" {
  refuses_bin "$EMPTY/conch" "there is no $EMPTY/conch, which CONCH_BIN names"
}

@test "a CONCH_BIN that names a file without the right to run it is told so" {
  : >"$BIN/plain"
  refuses_bin "$BIN/plain" "$BIN/plain, which CONCH_BIN names, is not executable; chmod +x it"
}

@test "a CONCH_BIN that names a directory is told so" {
  refuses_bin "$EMPTY" "$EMPTY, which CONCH_BIN names, is a directory"
}

@test "a CONCH_BIN with a tilde in it is told that nobody expands it" {
  # shellcheck disable=SC2088 # It is not meant to be expanded.
  refuses_bin '~/bin/conch' 'CONCH_BIN is ~/bin/conch, and nobody expands the ~ in it'
}

@test "a program that is no conch is said not to answer as one" {
  local answer
  for answer in 'exit 0' 'echo 1; exit 1' 'echo one' 'echo 1.0' 'echo; echo 1'; do
    program other "$answer"
    refuses_bin "$BIN/other" "$BIN/other does not answer as conch does"
    [[ $stderr != *protocol* ]] || fail "$stderr"
  done
}

@test "a conch of another protocol is told which, and how to go along" {
  program other 'echo 99'
  refuses_bin "$BIN/other" "the conch at $BIN/other does not fit this file: it speaks protocol 99, needed is 2" 'conch vendor'
}

@test "a refusal ends a script that is the file itself" {
  move_core
  run --separate-stderr env -u CONCH_BIN PATH="$EMPTY" "${BASH_CMD[@]}" "$CORE"
  assert_refused 'conch was not found'
}

@test "a conch beside the file is found" {
  move_core
  ln -s "$CONCH_BIN" "$BATS_TEST_TMPDIR/lib/conch"
  source_with -u CONCH_BIN PATH="$EMPTY"
  assert_silent
}

@test "a conch on PATH is found" {
  ln -s "$CONCH_BIN" "$BIN/conch"
  source_alone
  assert_silent
}
