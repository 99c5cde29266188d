#!/usr/bin/env bash
set -e

# @describe List the names in a directory, hidden ones aside.

# @option --path=. <DIR> The directory
# @flag -l --long Whether to say what each of them is

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    cd "$argc_path"
    for name in *; do
        [[ -e "$name" ]] || continue
        if [[ -z "$argc_long" ]]; then
            echo "$name"
        elif [[ -d "$name" ]]; then
            echo "directory $name"
        else
            echo "file $name"
        fi
    done >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
