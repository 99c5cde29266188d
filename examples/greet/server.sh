#!/usr/bin/env conch
# shellcheck shell=bash

# This file is run once, when the server starts. Each call then gets a fork of
# the shell that ran it, so what is set here is there in every call.
greeting=${GREETING:-Hello}

# A tool is a function named tool_<name>. Conch has checked the arguments
# against the schema in tools.json and set $arg_name; what the function prints
# is the answer.
tool_greet() {
  # shellcheck disable=SC2154 # set by Conch
  echo "$greeting, $arg_name!"
}
