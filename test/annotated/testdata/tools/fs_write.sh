#!/usr/bin/env bash
set -e

# @describe Write the full file contents to a file at the specified path.

# @option --path! <PATH> The path of the file to write to
# @option --contents! <TEXT> The full contents to write to the file
# @flag --append Whether to keep what is there

# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    mkdir -p "$(dirname "$argc_path")"
    if [[ "$argc_append" -eq 1 ]]; then
        printf '%s' "$argc_contents" >> "$argc_path"
    else
        printf '%s' "$argc_contents" > "$argc_path"
    fi
    echo "The contents written to: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
