#!/usr/bin/env bash
set -e

# @describe Send an email.
# @option --recipient+, The recipients of the email.
# @option --subject! The subject of the email.
# @option --body! The body of the email.
# @meta require-tools sendmail-for-tests

# @env EMAIL_FROM=robot@example.org <ADDRESS> Who sends it
# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    {
        printf 'From: %s\n' "$EMAIL_FROM"
        printf 'To: %s\n' "${argc_recipient[@]}"
        printf 'Subject: %s\n\n%s\n' "$argc_subject" "$argc_body"
    } | sendmail-for-tests "${argc_recipient[@]}" >> "$LLM_OUTPUT"
}

eval "$(argc --argc-eval "$0" "$@")"
