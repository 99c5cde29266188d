#!/usr/bin/env bash
# What the client suites call.
# shellcheck disable=SC2154 # arg_… are set by conch

tool_greet() { printf 'Hello, %s!\n' "$arg_name"; }

tool_fail() {
  printf 'the projector is broken\n' >&2
  return 3
}

tool_echo() { printf '%s\n' "$1"; }

# Tells its process id and stays until it is stopped.
tool_linger() {
  printf '%s\n' "$BASHPID" >"$arg_pidfile.new"
  mv "$arg_pidfile.new" "$arg_pidfile"
  while :; do sleep 1; done
}
