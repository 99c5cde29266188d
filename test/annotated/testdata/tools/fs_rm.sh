#!/usr/bin/env bash
set -e

# @describe Remove the file or directory at the specified path.
# @meta destructive

# @option --path! <PATH> What to remove

# @env LLM_OUTPUT=/dev/stdout The output path

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
