#!/usr/bin/env conch
# The server that the stories begin with.
# shellcheck shell=bash disable=SC2154 # arg_… are set by conch

tool_greet() { printf 'Hello, %s!\n' "$arg_name"; }

tool_echo() { printf '%s\n' "$1"; }

tool_fail() {
  printf 'the ink has run dry\n' >&2
  return 3
}

# The script's own arguments are not the tool's.
script_arguments=("$@")
tool_script() { printf '<%s>' "$0" ${script_arguments[@]+"${script_arguments[@]}"}; }

# Tells its process id and stays until it is stopped.
tool_linger() {
  printf '%s\n' "$BASHPID" >"$arg_pidfile.new"
  mv "$arg_pidfile.new" "$arg_pidfile"
  while :; do sleep 1; done
}

# Takes longer than a person cares to wait without a sign.
tool_think() {
  sleep 2.5
  printf 'forty-two\n'
}
