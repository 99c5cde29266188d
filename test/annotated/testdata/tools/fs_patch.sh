#!/usr/bin/env bash
set -e

# @describe Apply a patch to a file at the specified path.

# @option --path! The path of the file to apply the patch to
# @option --contents! The patch to apply to the file
#
# This patch has a greeting ask for the name first:
# --- a/greet.py
# +++ b/greet.py
# @@ ... @@
#  def greet():
# -    print("Hello")
# +    name = input("Your name? ")
# +    print(f"Hello {name}")

# @meta require-tools patch
# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    if [[ ! -f "$argc_path" ]]; then
        echo "There is no file $argc_path"
        exit 1
    fi
    patch --quiet "$argc_path" <<< "$argc_contents"
    echo "Patched: $argc_path" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
