#!/usr/bin/env bash
set -e

# @describe Change lines of a text file.

# @option --path! <FILE> Which file
# @option --contents! <DIFF> The change, as diff -u prints it
#
# For example, this one makes a lamp cheaper:
# --- prices.csv
# +++ prices.csv
# \@@ -1,2 +1,2 @@
#  name,price
# -lamp,12
# +lamp,9

# @meta require-tools patch
# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    [[ -f "$argc_path" ]] || { echo "There is no file $argc_path" && exit 1; }
    patch --quiet "$argc_path" <<< "$argc_contents"
    echo "Changed: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
