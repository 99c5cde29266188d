#!/usr/bin/env bash
# shellcheck disable=SC2154 # calls bring argc_…
#
# Several commands in one file make several tools.

# @cmd Turn the words of a text around
# @arg text!  The text
turn() {
  local -a words
  local word turned=''
  read -r -d '' -a words <<<"$argc_text"
  for word in ${words[@]+"${words[@]}"}; do turned="$word${turned:+ $turned}"; done
  printf '%s\n' "$turned"
}

# @cmd Break a text into lines
# @arg text!                   The text
# @option --width=40 <INT>     How many characters a line has at most
# @schema width {"type": "integer", "minimum": 1}
wrap() { fold -s -w "$argc_width" <<<"$argc_text"; }
