#!/usr/bin/env bash
# What is called through proxies.
# shellcheck disable=SC2154 # arg_… are set by conch

tool_greet() { printf 'Hello, %s!\n' "$arg_name"; }

# Tells its process id, and stays until there is a file.
tool_hold() {
  printf '%s\n' "$BASHPID" >"$arg_until.pid.new"
  mv "$arg_until.pid.new" "$arg_until.pid"
  until [[ -e $arg_until ]]; do sleep 0.05; done
  echo 'It is there.'
}
