#!/usr/bin/env bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# @describe Tell how much space is left on a disk
# @option --path=/ <DIR>  A folder on it
# @meta readonly
main() {
  df -h -- "$argc_path"
}
