#!/usr/bin/env bash
set -e

# @describe Tell what time it is.
# @option --zone=UTC $TIME_ZONE The time zone, such as Europe/Berlin
# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    TZ="$argc_zone" date ${NOW:+-d "$NOW"} "+%Y-%m-%dT%H:%M:%S%z" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
