#!/usr/bin/env bash
set -e

# @describe Get the current weather in a given location.
# @option --location! The city and optionally the state or country (e.g., "London", "San Francisco, CA").

# @env WEATHER_URL! Where the weather is to be had
# @env LLM_OUTPUT=/dev/stdout The output path
# @meta require-tools curl

main() {
    curl -fsSL "$WEATHER_URL/$(echo "$argc_location" | sed 's/ /+/g')" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
