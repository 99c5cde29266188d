#!/usr/bin/env bash
set -e

# @describe Tell what the weather is like somewhere.
# @option --location! A town, with a country or state where there are several, as in "San Francisco, CA"

# @env WEATHER_URL! Where the weather is to be had
# @env LLM_OUTPUT=/dev/stdout Where the result goes
# @meta require-tools curl

main() {
    curl -fsSL "$WEATHER_URL/$(echo "$argc_location" | sed 's/ /+/g')" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
