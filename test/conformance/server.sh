#!/usr/bin/env bash
# What the official conformance suite calls. The suite dictates the names, and
# what each tool must do.
# shellcheck disable=SC2154 # arguments are variables that conch sets

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit

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

# A list that has been touched may be another one.
tool_test_trigger_tool_change() { touch "$here/tools.json"; }
tool_test_trigger_prompt_change() { touch "$here/prompts.json"; }

resource_watched_resource() { echo 'Somebody watches this.'; }

# Clients choose the id, which is no JSON until it is quoted.
resource_template() {
  local id=${arg_id//\\/\\\\}
  printf '{"id":"%s","templateTest":true,"data":"Data for ID: %s"}' "${id//\"/\\\"}" "${id//\"/\\\"}"
}

prompt_test_prompt_with_arguments() {
  printf "Prompt with arguments: arg1='%s', arg2='%s'\n" "$arg_arg1" "$arg_arg2"
}

complete_prompt_test_prompt_with_arguments_arg1() {
  local value
  for value in paris park party; do
    [[ $value != "$arg_value"* ]] || echo "$value"
  done
}
