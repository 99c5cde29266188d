#!/usr/bin/env bash
set -e

# @describe Send a letter by mail.
# @option --recipient+, Who gets it
# @option --subject! What it is about
# @option --body! The letter
# @meta require-tools sendmail-for-tests

# @env EMAIL_FROM=robot@example.org <ADDRESS> Who sends it
# @env LLM_OUTPUT=/dev/stdout Where the result goes

main() {
    {
        printf 'From: %s\n' "$EMAIL_FROM"
        printf 'To: %s\n' "${argc_recipient[@]}"
        printf 'Subject: %s\n\n%s\n' "$argc_subject" "$argc_body"
    } | sendmail-for-tests "${argc_recipient[@]}" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
