#!/usr/bin/env bash
set -e

# @describe Print a text file.
# Look at a file with this before you change it.

# @option --path! <PATH> Which file

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    cat "$argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
