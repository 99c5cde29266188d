#!/usr/bin/env bash
# What the official conformance suite calls. The suite dictates the names, and
# what each tool must do.

tool_test_simple_text() { echo 'This is a simple text response for testing.'; }

tool_test_error_handling() {
  echo 'This tool always fails.'
  return 1
}

# Its schema is what is tested.
tool_json_schema_2020_12_tool() { printf '%s\n' "$1"; }

tool_test_custom_header() { printf '%s\n' "$1"; }

tool_test_logging_tool() { echo 'Nobody has asked for log messages.'; }

# Takes long enough for the answer to become a stream.
tool_test_reconnection() {
  sleep 1
  echo 'The answer to a client that has come back.'
}
