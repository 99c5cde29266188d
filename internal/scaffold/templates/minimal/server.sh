#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# Each function below a @cmd is a tool, and all that a model knows of it stands in the
# tags above it. The option --who is in $argc_who; a ! behind its name says that it
# must be there. What a tool prints is its result, and a status other than 0 tells that
# it failed.

# @describe Greets people
# @meta version 0.1.0

# @cmd Greet somebody by name
# @option --who! <NAME>            Who is greeted
# @option --greeting=Hello <TEXT>  What is said to them
# @meta readonly
greet() {
  [[ $argc_who == *[![:space:]]* ]] || {
    echo 'Nobody has a name of blanks; say who is to be greeted.'
    return 1
  }
  echo "$argc_greeting, $argc_who!"
}
