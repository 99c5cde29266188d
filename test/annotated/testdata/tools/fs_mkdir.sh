#!/usr/bin/env bash
set -e

# @describe Make a directory, and those above it where they are not there.
# @meta idempotent

# @option --path! <DIR> Which directory

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    mkdir -p "$argc_path"
    echo "Made: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
