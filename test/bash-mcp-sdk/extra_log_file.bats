#!/usr/bin/env bats
# Where log lines go: the log file, a second file, standard error.
#
# The drop-in file reads what is set here; run sets stderr.
# shellcheck disable=SC2034,SC2154

load helpers/common

setup() {
  common_setup
  PROJECT_ROOT="$BATS_TEST_TMPDIR/project"
  mkdir "$PROJECT_ROOT"
  source_core
}

# log_line logs a line, sets stderr as run does, and wants the line in the file.
log_line() {
  run --separate-stderr log INFO 'mirror to stderr test'
  assert_success
  assert_output ''
  assert_logged '[INFO] mirror to stderr test' 1
}

# assert_silent wants nothing of a line on standard error.
assert_silent() {
  log_line
  assert_equal "$stderr" ''
}

@test "125 an empty path configures nothing" {
  _configure_extra_log_file ''
  assert_equal "$MCP_EXTRA_LOG_FILE" ''
  assert_equal "$(<"$MCP_LOG_FILE")" ''
}

@test "126 a relative path is below PROJECT_ROOT" {
  mkdir "$PROJECT_ROOT/subdir"
  _configure_extra_log_file subdir/debug.log
  assert_equal "$MCP_EXTRA_LOG_FILE" "$PROJECT_ROOT/subdir/debug.log"
  # shellcheck disable=SC2016 # The child expands it.
  assert_equal "$("$BASH" -c 'printf %s "$MCP_EXTRA_LOG_FILE"')" "$PROJECT_ROOT/subdir/debug.log"
  assert_logged "[INFO] Extra log file configured: $PROJECT_ROOT/subdir/debug.log"
}

@test "127 an absolute path is kept" {
  _configure_extra_log_file "$WORK/debug.log"
  assert_equal "$MCP_EXTRA_LOG_FILE" "$WORK/debug.log"
}

@test "128 a directory that is missing is warned of" {
  _configure_extra_log_file missing/debug.log
  assert_equal "$MCP_EXTRA_LOG_FILE" ''
  assert_logged "[WARN] log_file parent directory does not exist: $PROJECT_ROOT/missing — extra log file disabled" 1
}

@test "129 a line is written to both files" {
  MCP_EXTRA_LOG_FILE="$WORK/extra.log"
  log INFO 'to both'
  assert_regex "$(<"$MCP_LOG_FILE")" '^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\] \[INFO\] to both$'
  assert_equal "$(<"$MCP_EXTRA_LOG_FILE")" "$(<"$MCP_LOG_FILE")"
}

@test "130 without a second file only the first is written" {
  log INFO 'to one'
  assert_logged '[INFO] to one' 1
  assert_empty "$WORK"
  assert_empty "$PROJECT_ROOT"
}

@test "131 standard error is silent" {
  assert_silent
}

@test "132 MCP_LOG_STDERR=0 is silent" {
  MCP_LOG_STDERR=0
  assert_silent
}

@test "133 MCP_LOG_STDERR=1 mirrors lines on standard error" {
  MCP_LOG_STDERR=1
  log_line
  assert_equal "$stderr" "$(<"$MCP_LOG_FILE")"
}

@test "134 MCP_LOG_STDERR=true is silent" {
  MCP_LOG_STDERR=true
  assert_silent
}

@test "135 MCP_LOG_STDERR=2 is silent" {
  MCP_LOG_STDERR=2
  assert_silent
}
