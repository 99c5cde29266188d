#!/usr/bin/env bash
set -e

# @describe Keep a list of things to do.
# @env TODO_FILE!
# @env LLM_OUTPUT=/dev/stdout Where the result goes

# @cmd Add something
# @alias a
# @arg desc! What to do
add() {
    _lock
    printf '%s\n' "$1" >> "$TODO_FILE"
    echo "Added." >> "$LLM_OUTPUT"
}

# @cmd List all
# @meta readonly
# @flag --count Only tell how many there are
list() {
    if [[ "$argc_count" ]]; then
        wc -l < "$TODO_FILE" | tr -d ' '
    else
        cat -n "$TODO_FILE" | sed 's/^ *//; s/\t/ /'
    fi >> "$LLM_OUTPUT"
}

# @cmd Remove one
# @arg number! <INT>
remove() {
    _lock
    sed -i "${argc_number}d" "$TODO_FILE"
    echo "Removed." >> "$LLM_OUTPUT"
}

# @cmd Nobody's but the script's
_lock() { [[ -e "$TODO_FILE" ]] || : > "$TODO_FILE"; }

eval "$(argc --argc-eval "$0" "$@")"
