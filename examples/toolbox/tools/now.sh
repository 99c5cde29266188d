#!/usr/bin/env bash
# shellcheck disable=SC2154 # calls bring argc_…
#
# The way llm-functions has its tools: tags above main, and argc at the end, which
# need not be installed where Conch serves the file.
set -e

# @describe Tell the time in a zone
# @option --zone=UTC      A name of the time zone database, such as Europe/Rome
# @option --format=`iso`  How, in the language of date
# @env LLM_OUTPUT=/dev/stdout

iso() { echo '%Y-%m-%dT%H:%M:%S%z'; }

main() {
  TZ=$argc_zone date "+$argc_format" >>"$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
