#!/usr/bin/env bash
set -eo pipefail

# @describe Send a note to a channel, if somebody says so.
# @option --channel! <NAME>
# @option --text! <TEXT>
# @meta requires elicitation

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    local answer
    answer=$(mcp_elicit_confirm --key sure "Send this to $argc_channel?")
    if [[ $answer != *'"confirmed":true'* ]]; then
        echo 'The note was not sent.' >> "$LLM_OUTPUT"
        return
    fi
    mcp_progress 1 sending 2
    echo "Sent to $argc_channel: $argc_text" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
