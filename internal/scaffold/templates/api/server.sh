#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# Asks an API on the web, here that of GitHub. To ask another, change API_URL, the
# tool, and the header with the key in fetch.

# @describe Searches GitHub
# @meta version 0.1.0
# @meta require-tools curl
# @env API_KEY!                        The key; of GitHub, one from https://github.com/settings/tokens
# @env API_URL=https://api.github.com  Where the API is

# How long an answer may take, in seconds, and how long it may be, in KiB.
max_seconds=20
max_kib=1000

# @cmd Search the repositories on GitHub. Prints a line for each: its name, its stars, what it is
# @option --query! <WORDS>  What to look for, in GitHub's syntax: mcp language:shell
# @option --count=5 <INT>   How many to list
# @schema count { "type": "integer", "minimum": 1, "maximum": 20 }
# @meta readonly
# @meta open-world
search_repositories() {
  fetch /search/repositories "q=$argc_query" "per_page=$argc_count" || return
  jq -r '(.items[] | [.full_name, .stargazers_count, .description] | @tsv) // "There is none."' \
    "$MCP_CALL_TMPDIR/answer" || {
    echo 'The API answered with something other than what was expected.'
    return 1
  }
}

# Asks the API for $1 with the parameters behind it, each NAME=VALUE, and leaves the
# answer in $MCP_CALL_TMPDIR/answer. The key goes to curl through standard input:
# everybody on the machine can read a command line.
fetch() {
  local path=$1 parameter parameters=() status
  shift
  for parameter; do parameters+=(--data-urlencode "$parameter"); done
  status=$(
    # Without the trap curl could not say that the answer is too long.
    trap '' XFSZ
    ulimit -f "$max_kib"
    curl --disable --silent --show-error --fail-with-body --globoff --max-time "$max_seconds" \
      --header @- --get "${parameters[@]}" --output "$MCP_CALL_TMPDIR/answer" --write-out '%{http_code}' \
      --url "$API_URL$path" <<<"Authorization: Bearer $API_KEY"
  )
  case $?:$status in
    0:2?? | 0:000) return 0 ;; # a file has no status
    23:*) echo "The API answered with more than $max_kib KiB." && return 1 ;;
    *:3??) echo "The API has moved ($status). Whoever runs this server has to change API_URL." ;;
    *:401 | *:403) echo 'The API refuses the key. Whoever runs this server has to see to API_KEY.' ;;
    *:429) echo 'The API has had too many requests. Try again later.' ;;
  esac
  # curl has said what is wrong; the API may say more.
  head -c 500 "$MCP_CALL_TMPDIR/answer" 2>/dev/null
  return 1
}
