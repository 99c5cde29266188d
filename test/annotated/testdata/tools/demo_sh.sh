#!/usr/bin/env bash
set -eu

# @describe Show all that a tool in Bash can be given.
# @option --string!                  A text that has to be there
# @option --string-enum![foo|bar]    One of two texts, which has to be there
# @option --string-optional          A text
# @flag --boolean                    Yes or no
# @option --integer! <INT>           A whole number that has to be there
# @option --number! <NUM>            A number that has to be there
# @option --array+ <VALUE>           One text or more
# @option --array-optional*          Texts
# @option --integers* <INT>          Whole numbers
# @option --pair <KEY> <VALUE>       Two texts
# @option -D --define-* <VALUE>      Texts by their names
# @option --json <JSON>              Anything
# @option --computed=`_computed`     A text that the script finds
# @flag -v --verbose*                How often
# @arg target                        A text with a place
# @arg rest~                         All that follows

# @env LLM_OUTPUT=/dev/stdout Where the result goes

ROOT_DIR="${LLM_ROOT_DIR:-$(cd -- "$(dirname -- "$0")" && pwd)}"

_computed() { printf 'computed in %s\n' "${ROOT_DIR##*/}"; }

main() {
    {
        ( set -o posix; set ) | grep '^argc_[a-z]' | sort
        printf 'args:'
        printf ' <%s>' "$@"
        echo
    } >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
