#!/usr/bin/env bash
set -eo pipefail

# @describe Fetch a page without the marks that only lay it out.
# @option --url! <URL> Where the page is
# @meta require-tools curl
# @meta timeout 20

# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    curl -fsSL "$argc_url" | sed -E 's/<\/?(span|div)[^>]*>//g' >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
