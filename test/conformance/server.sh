#!/usr/bin/env bash
# What the official conformance suite calls, which dictates the names and what
# each tool must do; and what it has nothing for, which test/clients calls.
#
# shellcheck disable=SC2154 # Conch sets the arg_ variables

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit

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

# --- Results that are more than text ----------------------------------------

tool_test_image_content() { mcp_emit_image "$here/pixel.png"; }
tool_test_audio_content() { mcp_emit_audio "$here/tone.wav" audio/wav; }

tool_test_embedded_resource() {
  mcp_emit_resource test://embedded-resource - text/plain <<<'This is an embedded resource content.'
}

tool_test_multiple_content_types() {
  mcp_emit_text 'Multiple content types test:'
  mcp_emit_image "$here/pixel.png"
  mcp_emit_resource test://mixed-content-resource - application/json <<<'{"test":"data","value":123}'
}

# --- While it runs ----------------------------------------------------------

tool_test_tool_with_progress() {
  local step
  for step in 0 50 100; do
    mcp_progress "$step" "Completed step $step of 100" 100
    sleep 0.05
  done
  echo 'The work is done.'
}

tool_test_tool_with_logging() {
  local message
  for message in 'Tool execution started' 'Tool processing data' 'Tool execution completed'; do
    mcp_log_info "$message"
    sleep 0.05
  done
  echo 'The work has been logged.'
}

tool_test_streaming_elicitation() {
  mcp_progress 1 'Something is coming'
  mcp_elicit --key user_name 'What is your name?' "$name_form" || echo 'Nobody was asked.'
}

# --- Asking -----------------------------------------------------------------

name_form='{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'

tool_test_sampling() { printf 'LLM response: %s\n' "$(mcp_sample --max-tokens 100 "$arg_prompt")"; }

tool_test_elicitation() {
  printf 'User response: %s\n' "$(mcp_elicit "$arg_message" '{"type":"object","properties":{
    "username":{"type":"string","description":"The name of the user"},
    "email":{"type":"string","description":"The address of the user"}},"required":["username","email"]}')"
}

tool_test_elicitation_sep1034_defaults() {
  printf 'Elicitation completed: %s\n' "$(mcp_elicit 'Please review and update the form fields with defaults' '{"type":"object","properties":{
    "name":{"type":"string","description":"User name","default":"John Doe"},
    "age":{"type":"integer","description":"User age","default":30},
    "score":{"type":"number","description":"User score","default":95.5},
    "status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
    "verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]}')"
}

tool_test_elicitation_sep1330_enums() {
  printf 'Elicitation completed: %s\n' "$(mcp_elicit 'Please select options from the enum fields' '{"type":"object","properties":{
    "untitledSingle":{"type":"string","description":"Select one option","enum":["option1","option2","option3"]},
    "titledSingle":{"type":"string","description":"Select one option with titles","oneOf":[
      {"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
    "legacyEnum":{"type":"string","description":"Select one option (legacy)","enum":["opt1","opt2","opt3"],
      "enumNames":["Option One","Option Two","Option Three"]},
    "untitledMulti":{"type":"array","description":"Select multiple options","minItems":1,"maxItems":3,
      "items":{"type":"string","enum":["option1","option2","option3"]}},
    "titledMulti":{"type":"array","description":"Select multiple options with titles","minItems":1,"maxItems":3,"items":{"anyOf":[
      {"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},"required":[]}')"
}

# It is refused to clients who cannot be asked.
tool_test_missing_capability() { echo 'The client can be asked.'; }

# --- Asking in the stateless era --------------------------------------------

tool_test_input_required_result_elicitation() {
  printf 'Hello: %s\n' "$(mcp_elicit --key user_name 'What is your name?' "$name_form")"
}

tool_test_input_required_result_sampling() {
  printf 'The model says: %s\n' "$(mcp_sample --key capital_question --max-tokens 100 'What is the capital of France?')"
}

tool_test_input_required_result_list_roots() { printf 'Roots: %s\n' "$(conch_roots client_roots)"; }

tool_test_input_required_result_request_state() {
  printf 'state-ok: %s\n' "$(mcp_elicit --key confirm 'Please confirm' '{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}')"
}

tool_test_input_required_result_tampered_state() { tool_test_input_required_result_request_state; }

# Asks all at once, each in a process of its own.
tool_test_input_required_result_multiple_inputs() {
  mcp_elicit --key user_name 'What is your name?' "$name_form" &
  mcp_sample --key greeting --max-tokens 50 'Generate a greeting' &
  conch_roots client_roots &
  wait
}

tool_test_input_required_result_multi_round() {
  mcp_elicit --key step1 'Step 1: What is your name?' "$name_form"
  mcp_elicit --key step2 'Step 2: What is your favorite color?' \
    '{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}'
  echo 'All steps are done.'
}

# Asks what it can: a model before a person.
tool_test_input_required_result_capabilities() {
  mcp_sample --key capital_question --max-tokens 100 'What is the capital of France?' 2>/dev/null ||
    mcp_elicit --key user_name 'What is your name?' "$name_form" 2>/dev/null ||
    echo 'The client cannot be asked.'
}

conch_roots() { "$CONCH_BIN" tool roots --key "$1"; }

# --- What the extension for tasks calls --------------------------------------

# There is no such extension here: these are tools like any other.

tool_greet() { printf 'Hello, %s!\n' "$arg_name"; }

tool_slow_compute() {
  local tenth
  for ((tenth = 1; tenth <= arg_seconds * 10; tenth++)); do
    sleep 0.1
    mcp_progress "$tenth" "computing $arg_label" "$((arg_seconds * 10))"
  done
  printf '%s is computed.\n' "$arg_label"
}

tool_failing_job() {
  echo 'The job has failed.'
  return 1
}

tool_protocol_error_job() { mcp_fail -32603 'The job cannot be done.'; }

tool_confirm_delete() {
  case $(mcp_elicit_confirm --key confirm "Delete $arg_filename?") in
    *'"confirmed":true'*) printf 'Deleted %s.\n' "$arg_filename" ;;
    *) printf 'Kept %s.\n' "$arg_filename" ;;
  esac
}

tool_multi_input() {
  mcp_elicit_string --key name 'What is your name?' &
  mcp_elicit_string --key color 'What is your favorite color?' &
  wait
}

tool_test_tool_with_task() { echo 'The task is done.'; }

# --- Changes, resources, prompts, completion --------------------------------

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

prompt_test_prompt_with_embedded_resource() {
  mcp_emit_resource "$arg_resourceUri" - text/plain <<<'Embedded resource content for testing.'
  echo 'Please process the embedded resource above.'
}

prompt_test_prompt_with_image() {
  mcp_emit_image "$here/pixel.png"
  echo 'Please analyze the image above.'
}

prompt_test_input_required_result_prompt() {
  printf 'Context: %s\n' "$(mcp_elicit --key user_context 'What context should the prompt use?' \
    '{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}')"
}

# --- What the suite has nothing for -----------------------------------------

tool_link() { mcp_emit_link test://static-text static-text text/plain 'A file of text.'; }

tool_structured() { mcp_emit_json '{"sunny":true,"degrees":21.5}'; }

tool_structured_rows() { mcp_emit_json '[1,2]'; }

tool_choose() { mcp_elicit_titled_choice 'Which color?' r:Red b:Blue; }

tool_sign_in() { printf 'User response: %s\n' "$(mcp_elicit_url 'Please sign in' 'https://example.org/sign-in?a=b&c')"; }

# Tells how far it is before it asks and afterwards, and waits until the client has
# heard it: clients forget what is right before an answer.
tool_steps() {
  mcp_progress 1 'One step' 2
  until [[ -e $arg_heard.1 ]]; do sleep 0.01; done
  mcp_elicit_confirm 'Go on?' 2>&1
  mcp_progress 2 'Another step' 2
  until [[ -e $arg_heard.2 ]]; do sleep 0.01; done
}

tool_roots() { printf '%s\n\n%s\n' "$(mcp_roots_list)" "$MCP_ROOTS_JSON"; }

tool_change_resources() {
  mcp_resource_updated test://static-binary
  mcp_resource_updated test://watched-resource
}

prompt_of_every_kind() {
  mcp_emit_audio "$here/tone.wav" audio/wav
  mcp_emit_link test://static-text static-text
}
