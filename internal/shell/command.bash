# shellcheck shell=bash
# How a call runs that is no function with its arguments in $1: a command, which
# finds them in variables as argc gives them, or a program. Functions and nothing
# else, beside runtime.bash, which calls one of the two that begin with _conch_run_.
# What they find is in the job:
#
#   _conch_file         sourced first; none where the shell has the command
#   _conch_command      the function; none where to source the file is all
#   _conch_words        what it is called with, an array
#   _conch_late         PLACE=VARIABLE for the words that are computed, with blanks
#                       between
#   _conch_ahead, _conch_behind
#                       functions to call before and after it
#   _conch_computed     what functions say of variables, in fours: a variable, what
#                       messages call it, the function, and what that gives: "value",
#                       "list", "environment" or "choices"; "allowed" has the
#                       choices themselves for a function
#   _conch_program      the program and its first arguments, an array
#   _conch_unset, _conch_exported, _conch_pairs
#                       names of variables, with blanks between
#   _conch_environment  NAME=value for what is not in the environment, an array
#   _conch_variables, _conch_programs
#                       what has to be there, with blanks between
#   _conch_passed       the names that a program gets of the environment
#
# shellcheck disable=SC2154 # a job sets all of these

# Scripts for argc end in eval "$(argc --argc-eval "$0" "$@")". Where a call sources
# the script, that is where the command runs; elsewhere nothing is to be done there.
argc() {
  case ${1-} in
    --argc-eval) [[ -z ${_conch_pending-} ]] || builtin echo _conch_run_here ;;
    *) command argc "$@" ;;
  esac
}

# Not in a condition anywhere: errexit would be without effect. The script may have
# set it where it is sourced here.
_conch_run_command() {
  [[ $- != *[xvET]* ]] || { _conch_hush; } 2>/dev/null
  _conch_set_variables
  if [[ -n ${_conch_file-} ]]; then
    _conch_run_file
  else
    [[ -z $_conch_errexit ]] || builtin set -e
    _conch_run_here
  fi
}

# The script sees its own path in $0, since Bash 5. What it declares at its top is
# local to this function, so the command has to run before that ends.
_conch_run_file() {
  builtin local _conch_pending=1 _conch_status
  # shellcheck disable=SC2034
  BASH_ARGV0=$_conch_file
  # A script that is the command itself has done its work at its end.
  [[ -n ${_conch_command-} ]] || _conch_check_needs
  [[ -z ${_conch_flags-} ]] || _conch_speak
  # shellcheck source=/dev/null
  builtin . "$_conch_file" ${_conch_words[@]+"${_conch_words[@]}"}
  _conch_status=$?
  if [[ -z ${_conch_command-} ]]; then
    [[ -z ${_conch_behind-} ]] || "$_conch_behind"
  elif [[ -n $_conch_pending ]]; then
    _conch_require_command "$_conch_status"
    _conch_run_here
    _conch_status=$?
  fi
  builtin return "$_conch_status"
}

# $1: the status of the script.
_conch_require_command() {
  if (($1)); then
    builtin printf '%s has a syntax error, or its last command failed with status %s\n' "$_conch_file" "$1"
  elif ! builtin declare -F "$_conch_command" >/dev/null; then
    builtin printf '%s has not defined %s\n' "$_conch_file" "$_conch_command"
  else
    builtin return 0
  fi
  builtin exit 1
}

# Runs the command. All that it runs with is there by now.
#
# shellcheck disable=SC2034 # argc__ variables are for the script
_conch_run_here() {
  [[ $- != *[xvET]* ]] || { _conch_hush; } 2>/dev/null
  builtin local _conch_ended=0
  _conch_pending=''
  _conch_check_needs
  _conch_compute
  argc__fn=${_conch_command-}
  argc__positionals=(${_conch_words[@]+"${_conch_words[@]}"})
  [[ -z ${_conch_flags-} ]] || _conch_speak
  [[ -z ${_conch_ahead-} ]] || "$_conch_ahead"
  [[ -n ${_conch_command-} ]] || builtin return 0
  "$_conch_command" ${_conch_words[@]+"${_conch_words[@]}"}
  _conch_ended=$?
  [[ -z ${_conch_behind-} ]] || "$_conch_behind"
  builtin return "$_conch_ended"
}

# What the script has set to speak of each command does not speak of this file's.
# Whoever calls it sends its standard error away, and calls _conch_speak later; both
# only where there is something of the kind, since most scripts have none.
_conch_hush() {
  _conch_flags=${_conch_flags-}$-
  builtin set +xvET
}

_conch_speak() {
  builtin local _conch_option _conch_were="$_conch_flags"
  _conch_flags=''
  for _conch_option in E T v x; do
    # Not by a pattern of case, to which E and e may be the same (nocasematch).
    [[ ${_conch_were%%"$_conch_option"*} == "$_conch_were" ]] || builtin set "-$_conch_option"
  done
}

# No option of the script's is of use any more: it takes no file names, and E and e
# are two.
_conch_run_program() {
  { builtin set +exvET; } 2>/dev/null
  builtin set -f
  builtin shopt -u nocasematch
  _conch_set_variables
  _conch_check_needs
  _conch_compute
  if ! builtin type -P -- "${_conch_program[0]}" >/dev/null; then
    builtin printf 'There is no program %s that could be run.\n' "${_conch_program[0]}"
    builtin exit 127
  fi
  _conch_drop_strangers
  [[ -z ${_conch_passed-} ]] || _conch_limit_environment
  # It takes this shell's place, and with it the call's process group.
  builtin exec -- "${_conch_program[@]}" <"$_conch_base.input"
}

# --- Variables --------------------------------------------------------------

# Makes of what the job has set what is to be seen. Names are parted at blanks,
# whatever the script thinks of IFS.
_conch_set_variables() {
  builtin local IFS=' ' _conch_name
  for _conch_name in ${_conch_unset-}; do
    _conch_forget "$_conch_name"
  done
  for _conch_name in ${_conch_pairs-}; do
    _conch_pair "$_conch_name"
  done
  for _conch_name in ${_conch_exported-}; do
    builtin export "${_conch_name?}"
  done
  for _conch_name in ${_conch_environment[@]+"${_conch_environment[@]}"}; do
    _conch_export_new "${_conch_name%%=*}" "${_conch_name#*=}"
  done
}

_conch_export_new() {
  [[ -n ${!1+set} ]] || builtin export "$1=$2"
}

# Makes an associative array of one with keys and values in turn. eval sees names
# alone, which the host has checked to be identifiers. Bash takes no empty key.
_conch_pair() {
  builtin local _conch_flat _conch_n
  builtin eval '_conch_flat=(${'"$1"'[@]+"${'"$1"'[@]}"})'
  builtin unset -v "$1"
  if ! builtin declare -gA "$1" 2>/dev/null; then
    builtin echo "An option like -D- needs Bash 4.2 or later; this is $BASH_VERSION."
    builtin exit 1
  fi
  for ((_conch_n = 0; _conch_n + 1 < ${#_conch_flat[@]}; _conch_n += 2)); do
    [[ -z ${_conch_flat[_conch_n]} ]] ||
      builtin eval "$1"'[${_conch_flat[_conch_n]}]=${_conch_flat[_conch_n + 1]}'
  done
}

# Ends the call where something is missing that it cannot do without.
_conch_check_needs() {
  builtin local IFS=' ' _conch_name _conch_missing=''
  for _conch_name in ${_conch_variables-}; do
    [[ -n ${!_conch_name+set} ]] || _conch_missing+="the environment variable $_conch_name is not set; "
  done
  for _conch_name in ${_conch_programs-}; do
    builtin type -- "$_conch_name" >/dev/null 2>&1 || _conch_missing+="there is no program $_conch_name on PATH; "
  done
  [[ -n $_conch_missing ]] || builtin return 0
  builtin printf 'The server lacks what this tool needs: %s\n' "${_conch_missing%; }"
  builtin exit 1
}

# Takes away what is no argument of the call, and looks like one.
_conch_drop_strangers() {
  builtin local _conch_name
  for _conch_name in "${!ARG_@}"; do
    case " ${_conch_exported-} " in
      *" $_conch_name "*) ;;
      *) builtin export -n "${_conch_name?}" ;;
    esac
  done
}

# Leaves a program what it is to have of the environment, and what is the call's.
_conch_limit_environment() {
  builtin local IFS=$' \n' _conch_name _conch_exports
  _conch_exports=$(builtin compgen -e)
  # PATH is there at least. What cannot be limited is not handed on.
  [[ -n $_conch_exports ]] || builtin exit 126
  for _conch_name in $_conch_exports; do
    case " $_conch_passed ${_conch_exported-} " in
      *" $_conch_name "*) ;;
      *) builtin export -n "${_conch_name?}" ;;
    esac
  done
  for _conch_name in $(builtin compgen -A function); do
    builtin export -nf -- "${_conch_name?}" 2>/dev/null
  done
}

# --- What functions say of variables ----------------------------------------

_conch_compute() {
  builtin local _conch_i
  [[ -n ${_conch_computed[0]+set} ]] || builtin return 0
  for ((_conch_i = 0; _conch_i < ${#_conch_computed[@]}; _conch_i += 4)); do
    case ${_conch_computed[_conch_i + 3]} in
      choices) _conch_check_computed "${_conch_computed[@]:_conch_i:3}" ;;
      allowed) _conch_check_choice "${_conch_computed[@]:_conch_i:3}" ;;
      *) _conch_give_value "${_conch_computed[@]:_conch_i:4}" ;;
    esac
  done
  _conch_fill_words
}

# Gives words the values that have been computed for their variables.
_conch_fill_words() {
  builtin local IFS=' ' _conch_pair _conch_name
  for _conch_pair in ${_conch_late-}; do
    _conch_name=${_conch_pair#*=}
    _conch_words[${_conch_pair%%=*}]=${!_conch_name-}
  done
}

# Gives a variable the value that a function prints. $1: the variable, $3: the
# function, $4: what it is to be. eval sees the name alone.
_conch_give_value() {
  builtin local _conch_value
  case $4 in
    environment)
      [[ -n ${!1+set} ]] || builtin export "$1=$("$3")"
      ;;
    *)
      _conch_value=$("$3")
      builtin unset -v "$1"
      [[ $4 != list ]] || builtin eval "$1=()"
      builtin eval "$1"'=$_conch_value'
      ;;
  esac
}

# _conch_check_choice with what a function prints, $3, which may fail.
_conch_check_computed() {
  builtin local _conch_printed _conch_failed=0
  builtin eval '_conch_printed=${'"$1"'[*]+set}'
  [[ -n $_conch_printed ]] || builtin return 0
  _conch_printed=$("$3") || _conch_failed=$?
  if ((_conch_failed)) && [[ -z $_conch_printed ]]; then
    builtin printf 'What %s may be is not known: %s ended with status %d\n' "$2" "$3" "$_conch_failed"
    builtin exit 1
  fi
  _conch_check_choice "$1" "$2" "$_conch_printed"
}

# Ends the call where a value is none of the choices. $1: the variable, $2: what
# messages call it, $3: the choices, a line each. eval sees the name alone.
_conch_check_choice() {
  builtin local _conch_values _conch_value
  builtin eval '_conch_values=(${'"$1"'[@]+"${'"$1"'[@]}"})'
  ((${#_conch_values[@]})) || builtin return 0
  for _conch_value in "${_conch_values[@]}"; do
    ! _conch_is_line "$_conch_value" "$3" || builtin continue
    builtin printf 'Invalid value(s): %s="%s" (allowed: %s).\n' "$2" "$_conch_value" "${3//$'\n'/, }"
    builtin exit 1
  done
}

# Whether $1 is one of the lines of $2. Not by a pattern of [[, to which E and e may
# be the same.
_conch_is_line() {
  # In quotes: behind `builtin` these are words as all others.
  builtin local _conch_lines="
$2
" _conch_before
  [[ $1 != *$'\n'* && -n $2 ]] || builtin return 1
  _conch_before=${_conch_lines%%$'\n'"$1"$'\n'*}
  ((${#_conch_before} < ${#_conch_lines}))
}
