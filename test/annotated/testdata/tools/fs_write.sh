#!/usr/bin/env bash
set -e

# @describe Make a text file, or put another text in its place.

# @option --path! <PATH> Which file
# @option --contents! <TEXT> All that is to be in it
# @flag --append Whether to keep what is there

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    mkdir -p "$(dirname "$argc_path")"
    if [[ "$argc_append" -eq 1 ]]; then
        printf '%s' "$argc_contents" >> "$argc_path"
    else
        printf '%s' "$argc_contents" > "$argc_path"
    fi
    echo "Written: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
