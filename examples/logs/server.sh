#!/usr/bin/env conch
# shellcheck shell=bash disable=SC2154 # calls bring argc_…
# @describe Look into the logs below one folder, which is $LOGS or the one beside this file
# @meta version 1.0.0
# @meta title Logs
#
# A server in one file: the comments above each function say what clients get to
# know of it, and what its arguments are held against. No list stands beside it.

LOGS=${LOGS:-$(dirname "${BASH_SOURCE[0]}")/logs}
cd "$LOGS" || exit

# @cmd List the logs there are
# @meta readonly
list() {
  find . -type f -name '*.log' | sed 's,^\./,,' | sort
}

# @cmd Show the last lines of a log that have a text in them
# The text stands for itself; it is no pattern.
# @option --file![`list`]        Which log
# @option --text!                What to look for
# @option --last=10 <INT>        How many lines at most
# @flag --ignore-case            Take capitals for small letters
# @schema last {"type": "integer", "minimum": 1, "maximum": 1000}
# @meta readonly
search() {
  local -a options=(-F)
  [[ -z ${argc_ignore_case-} ]] || options+=(-i)
  # What begins with a dash is no option behind -e and --.
  grep "${options[@]}" -e "$argc_text" -- "$argc_file" | tail -n "$argc_last"
}

# @cmd Count the lines of each level, such as ERROR
# @option --file![`list`]        Which log
# @option --level*[DEBUG|INFO|WARN|ERROR]   Only these
# @meta readonly
levels() {
  local level
  ((${#argc_level[@]})) || argc_level=(DEBUG INFO WARN ERROR)
  for level in "${argc_level[@]}"; do
    printf '%-5s %d\n' "$level" "$(grep -c -w -e "$level" -- "$argc_file")"
  done
}
