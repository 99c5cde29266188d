#!/usr/bin/env bash
set -eu

# @describe Demonstrate how to create a tool using Bash and how to use comment tags.
# @option --string!                  Define a required string property
# @option --string-enum![foo|bar]    Define a required string property with enum
# @option --string-optional          Define an optional string property
# @flag --boolean                    Define a boolean property
# @option --integer! <INT>           Define a required integer property
# @option --number! <NUM>            Define a required number property
# @option --array+ <VALUE>           Define a required string array property
# @option --array-optional*          Define an optional string array property
# @option --integers* <INT>          Define an optional integer array property
# @option --pair <KEY> <VALUE>       Define a property of two values
# @option -D --define-* <VALUE>      Define a property of keys and values
# @option --json <JSON>              Define a property of any kind
# @option --computed=`_computed`     Define a property with a computed default
# @flag -v --verbose*                Define a property that counts
# @arg target                        Define a property with a place
# @arg rest~                         Define what follows

# @env LLM_OUTPUT=/dev/stdout The output path

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
