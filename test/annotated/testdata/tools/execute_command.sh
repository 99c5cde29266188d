#!/usr/bin/env bash
set -e

# @describe Run a command line in a shell of its own.
# @option --command! The command line

# @env LLM_OUTPUT=/dev/stdout Where the result goes
# @env GUARD_DENY=sudo|shutdown A pattern of words that no command may have

main() {
    guard
    bash -c "$argc_command" >> "$LLM_OUTPUT"
}

guard() {
    if [[ "$argc_command" =~ (^|[^[:alnum:]_])(${GUARD_DENY})($|[^[:alnum:]_]) ]]; then
        echo "error: a command with ${BASH_REMATCH[2]} is not run" >&2
        exit 2
    fi
}

eval "$(argc --argc-eval "$0" "$@")"
