#!/usr/bin/env bash
set -eo pipefail

# @describe Extract the content from a given URL.
# @option --url! <URL> The URL to scrape.
# @meta require-tools curl
# @meta timeout 20

# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    # span and div and ref are not of interest
    curl -fsSL "$argc_url" | sed -E 's/<\/?(span|div)[^>]*>//g' >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
