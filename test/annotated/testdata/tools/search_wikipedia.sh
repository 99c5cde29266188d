#!/usr/bin/env bash
set -e

# @describe Look a word up in an encyclopedia.
# @option --query! The word
# @option --lang[`_langs`] The language

# @env ENCYCLOPEDIA_DIR! A folder for each language, with a file for each topic
# @env LLM_OUTPUT=/dev/stdout Where the result goes

_langs() { ls "$ENCYCLOPEDIA_DIR"; }

main() {
    local file="$ENCYCLOPEDIA_DIR/${argc_lang:-en}/${argc_query,,}"
    [[ -f "$file" ]] || { echo "Nothing is known of $argc_query"; exit 1; }
    cat "$file" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
