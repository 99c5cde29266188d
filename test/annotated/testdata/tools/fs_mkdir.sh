#!/usr/bin/env bash
set -e

# @describe Create a directory at the specified path, with those above it.
# @meta idempotent

# @option --path! <DIR> The directory to create

# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    mkdir -p "$argc_path"
    echo "Directory created: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
