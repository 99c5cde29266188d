#!/usr/bin/env bash
set -e

# @describe Repeat a word. The script has no function main.
# @arg word!
# @option --times=`_times` <INT> How often

_times() { echo 2; }

eval "$(argc --argc-eval "$0" "$@")"

for ((i = 0; i < argc_times; i++)); do
    echo "$argc_word"
done
