#!/usr/bin/env bash
set -e

# @describe Delete a file, or a directory with all that is in it.
# @meta destructive

# @option --path! <PATH> What to remove

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    if [[ ! -e "$argc_path" ]]; then
        echo "There is no $argc_path" >&2
        exit 1
    fi
    "$(dirname "$0")/utils/guard_path.sh" "$argc_path"
    rm -r -- "$argc_path"
    echo "Removed: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
