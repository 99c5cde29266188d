#!/usr/bin/env bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# @describe Greet somebody by name
# @option --who! <NAME>            Who is greeted
# @option --greeting=Hello <TEXT>  What is said to them
# @meta readonly
main() {
  echo "$argc_greeting, $argc_who!"
}
