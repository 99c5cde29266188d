#!/usr/bin/env bash
set -e

# @describe Find the files whose lines match a pattern.
# @meta readonly

# @option -p --pattern!             What to look for
# @option -d --dir=. <DIR>          Where
# @option -k --kind[=text|word|regex] How the pattern is meant
# @option --max=20 <INT>            How many lines there may be
# @flag   -i --ignore-case          Whether A and a are the same

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    local flags=(-rn)
    [[ -z "$argc_ignore_case" ]] || flags+=(-i)
    case "$argc_kind" in
        text) flags+=(-F) ;;
        word) flags+=(-Fw) ;;
        regex) flags+=(-E) ;;
    esac
    cd "$argc_dir"
    { grep "${flags[@]}" -e "$argc_pattern" . || true; } | sed 's|^\./||' | sort | head -n "$argc_max" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
