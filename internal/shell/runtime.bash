# shellcheck shell=bash
# The Bash side of the fork server. It defines functions and does nothing else;
# start.bash uses them for `conch serve`, and the drop-in files for the shell
# that a client has started.
#
#   root shell    has sourced the script; forks a worker per order
#   worker        forks the next call's subshell ahead, waits for its end
#   subshell      waits to be woken, reads its job, runs the tool, ends
#
# Whoever uses it sets _conch_dir, the control directory, and _conch_root, the
# beginning of the names of the root shell's files.
#
# Descriptor 47 is where orders come in, and in a worker what wakes its
# subshells; below 10 scripts have theirs, from 10 up Bash saves some, and at 63
# and below it has those of <( ). Descriptor 46 is, in a worker whose calls keep
# it apart from their output, the root shell's standard error.
#
# A worker's events: "w PID", the worker is there; "r PID OUTPUT", the subshell
# of that process group waits for a call; "d STATUS", it has ended.
#
# Bash 3.2 is enough. Functions and variables of this file begin with _conch_.
# `builtin` stands before the builtins, since a script may define a function
# called printf or read. No option of the script is relied on: errexit, xtrace
# and verbose are set aside while this file's code runs, nounset may stay.
#
# shellcheck disable=SC2154 # _conch_dir, _conch_root and what a job sets

# --- The root shell ---------------------------------------------------------

# What the host needs to know of the sourced script, NUL between the fields. Of the
# variables in _conch_wanted it learns which there are.
_conch_report() {
  builtin local _conch_name
  builtin printf 'ready\0%s\0' "$BASH_VERSION"
  for _conch_name in PWD TMPDIR PATH MCP_TOOLS_LIST_FILE MCP_CONFIG_FILE \
    MCP_RESOURCES_LIST_FILE MCP_PROMPTS_LIST_FILE \
    MCP_LOG_FILE MCP_LOG_STDERR; do
    builtin printf '%s=%s\0' "$_conch_name" "${!_conch_name-}"
  done
  for _conch_name in ${_conch_wanted[@]+"${_conch_wanted[@]}"}; do
    [[ -z ${!_conch_name+set} ]] || builtin printf 'set %s\0' "$_conch_name"
  done
  builtin declare -F
  builtin printf '\0end\0'
}

# Reports, then does what it is told: "worker NAME [apart]"; "last", the script's
# EXIT trap has its turn; "end [SIGNAL]"; "failed [STATUS]". Leaves the last
# word in _conch_order, what stands behind it in _conch_name, and 1 in _conch_last
# after "last". Fails when there are no more orders without a last
# word: the host is gone. A signal that the script traps interrupts a read in
# POSIX mode, between two orders.
#
# Whoever calls this must not do so in a condition: there errexit and the ERR
# trap would be without effect, in every fork.
_conch_serve() {
  _conch_order='' _conch_name='' _conch_apart='' _conch_last=''
  # For reading too, or the open would wait for a host that is gone.
  _conch_report 1<>"$_conch_root.report"
  while ((1)); do
    if IFS=' ' builtin read -r -u 47 _conch_order _conch_name _conch_apart; then
      case $_conch_order in
        worker) _conch_fork "$_conch_name" ;;
        last) _conch_last=1 ;;
        *) builtin return 0 ;;
      esac
    elif (($? <= 128)); then
      builtin return 1
    fi
  done
}

# set -m puts the worker in a process group of its own and keeps SIGINT and
# SIGQUIT from being ignored. A standard error that is not open cannot be passed
# on.
_conch_fork() {
  builtin set -m
  if [[ -n $_conch_apart && -e /dev/fd/2 ]]; then
    "$_conch_kind" "$1" </dev/null 46>&2 2>/dev/null &
  elif [[ -n $_conch_apart ]]; then
    "$_conch_kind" "$1" </dev/null 46>/dev/null 2>/dev/null &
  else
    "$_conch_kind" "$1" </dev/null 2>/dev/null &
  fi
  builtin set +m
  # For reading too, or the open might wait for a host that has given up.
  builtin printf 'w %s\n' "$!" 1<>"$_conch_dir/$1.event"
  # Or Bash would tell of its death at the end.
  builtin disown "$!"
}

# --- A worker ---------------------------------------------------------------

# $1: the names of the worker's files in the control directory begin so. What
# the worker prints are its events. Two outputs take turns, or the subshell
# forked ahead would hold open what the call before it printed to.
#
# The subshells run in the foreground: of a process in the background Bash
# keeps a record.
#
# shellcheck disable=SC2031,SC2034 # a job names the variables it sets
_conch_worker() {
  _conch_base=$_conch_dir/$1 _conch_side=0 _conch_group='' _conch_before=''
  _conch_error=${_conch_apart:+46}
  _conch_error=${_conch_error:-1}
  _conch_open_ends
  builtin export MCP_CALL_TMPDIR=
  [[ ! -p $_conch_base.talk ]] || _conch_let_talk
  _conch_clear_trace
  _conch_drop_stale
  builtin set -m
  while ((1)); do
    (
      _conch_turn
      # One look for all that few calls have. None of it is digits alone.
      [[ $_conch_group${_conch_more-}$_conch_restore$_conch_before == "$BASHPID" ]] || {
        _conch_look_at_job
        builtin eval "$_conch_restore"$'\n'"${_conch_before:+_conch_ask_before}"
      }
      "$_conch_function" "$_conch_arguments"
    )
    _conch_status=$?
    # The host is gone when nobody reads this.
    builtin echo "d $_conch_status" || builtin exit
    # One that was killed while it waited has not had its turn. 244 is one that
    # could not take a call: the next could not either.
    ((_conch_status < 128 ? (_conch_side = 1 - _conch_side, 1) : _conch_status != 244)) || builtin exit
  done
}

# CONCH_ASK_ROOTS has no value until a job sets it, whatever the call that this
# server may be part of has.
# shellcheck disable=SC2034 # calls see them
_conch_let_talk() {
  builtin export CONCH_TALK="$_conch_base.talk"
  builtin unset -v CONCH_ASK_ROOTS
  builtin export CONCH_ASK_ROOTS
}

# Opens the worker's ends of its pipes. Each is open for both directions while it
# is opened for one, or the open would wait for a host that is gone.
_conch_open_ends() {
  # shellcheck disable=SC2094 # these are pipes
  exec 0<>"$_conch_base.event" >"$_conch_base.event" \
    0<>"$_conch_base.wake" 47<"$_conch_base.wake" 0</dev/null || builtin exit
}

# The trace is the request's: a call is not to take the one for its own that the
# server was started under. Exported without a value, a variable is not there
# until a job sets it.
_conch_clear_trace() {
  builtin local _conch_name
  for _conch_name in TRACEPARENT TRACESTATE BAGGAGE; do
    [[ $_conch_kept != *" $_conch_name "* ]] || builtin continue
    builtin unset -v "$_conch_name"
    builtin export "${_conch_name?}"
  done
}

# Takes away the arguments of the call that this is forked from, where a call
# has made another: they were never checked for the new one. _conch_stale lists
# more that is not to reach calls, where it is set.
_conch_drop_stale() {
  builtin local _conch_name
  for _conch_name in ${_conch_names[@]+"${_conch_names[@]}"} ${_conch_stale[@]+"${_conch_stale[@]}"}; do
    case $_conch_name in
      arg_* | argc_* | ARG_*) builtin unset -v "$_conch_name" ;;
    esac
  done
}

# A subshell, up to where it has its job. All that does not depend on the call
# is done before the wake-up. What follows is kept short: each page it is the
# first to touch has to be copied first.
#
# shellcheck disable=SC2030,SC2031,SC2034 # a job names the variables it sets
_conch_turn() {
  builtin set +m
  [[ -n ${BASHPID-} ]] || BASHPID=$(exec /bin/sh -c 'echo "$PPID"') # slow: a child knows its parent
  builtin echo "r $BASHPID $_conch_side"
  # With this only the worker holds the far end of its events: their end is its
  # end. For reading too, or the open would wait for a host that is gone. Without
  # the pipe this makes a file: the host looks whether it is there.
  [[ -p $_conch_base.$_conch_side ]] || builtin exit 244 # slow: in POSIX mode a failing exec ends this with 1
  exec 1<>"$_conch_base.$_conch_side" 2>&"$_conch_error" 46>&- || builtin exit 244
  # End of file: the host is gone, or done with this worker.
  builtin read -r -u 47 _conch_wake || builtin exit 244
  exec 47<&-
  {
    IFS=' ' builtin read -r -a _conch_names
    [[ -z $_conch_declared ]] || _conch_undeclare # slow
    IFS=$'\037' builtin read -r -d '' "${_conch_names[@]}"
  } <"$_conch_base.job"
}

# A wake-up may be meant for a subshell that was killed before it came.
_conch_look_at_job() {
  [[ $_conch_group == "$BASHPID" ]] || builtin exit 244
  [[ -z ${_conch_more-} ]] || _conch_take_more "$_conch_base.more"
}

# `builtin` costs a tenth of a call, to call a function a fiftieth, and each look at
# what few shells have a hundredth. _conch_fast_worker is the worker with the turn in
# place of its call, without `builtin` and without the lines marked slow, for scripts
# that have no function called like one of its builtins and no variables called like
# arguments, in Bash 4 and later, not in POSIX mode. The host writes it behind the
# worker. (declare -f would not do: Bash 5.2 prints 1<> as <>.)

_conch_choose_worker() {
  builtin local _conch_name
  _conch_kind=_conch_fast_worker
  [[ -n ${BASHPID-} && -z $_conch_declared && ! -o posix ]] || _conch_kind=_conch_worker
  for _conch_name in echo eval exit export read set; do
    if builtin declare -F "$_conch_name" >/dev/null; then
      _conch_kind=_conch_worker
    fi
  done
}

# Asks the script's hook, which _conch_before names, whether the tool may run. What becomes
# of it goes to one file, what it prints to another: it may end this shell. It
# may also redefine every command but `builtin`, and change every option; those
# are as before when the tool runs.
_conch_ask_before() {
  builtin local _conch_options _conch_answer=0 _conch_tool="${_conch_called-$_conch_function}"
  _conch_options=$(builtin shopt -p; builtin set +o)
  builtin echo running >|"$_conch_base.before"
  "$_conch_before" "${_conch_tool#tool_}" "$_conch_arguments" \
    >|"$_conch_base.said" 2>&1 || _conch_answer=$?
  # The hook may have turned on what speaks of each command.
  {
    builtin set +xv
    builtin eval "builtin ${_conch_options//$'\n'/$'\n'builtin }"
  } 2>/dev/null
  builtin echo "answered $_conch_answer" >|"$_conch_base.before"
  # A failure whatever the host can read of the answer.
  ((_conch_answer == 0)) || builtin exit 1
}

# --- The job of one call ----------------------------------------------------

# A job file is two records: the names of variables, a line; their values,
# with US between them and NUL behind the last. _conch_more tells that there
# are values that cannot be passed so: a second file has them.

# Makes way for the names that the job is about to set.
# shellcheck disable=SC2031 # runs in the subshell that read the names
_conch_undeclare() {
  builtin local _conch_i
  for _conch_i in "${!_conch_names[@]}"; do
    _conch_claim "${_conch_names[_conch_i]}" || _conch_names[_conch_i]=_conch_ignored
  done
}

# Readies a variable to be set. Fails for one that stays as the script has made
# it.
_conch_claim() {
  case $1 in
    arg_* | argc_* | ARG_*) _conch_forget "$1" ;;
    *) [[ $_conch_kept != *" $1 "* ]] ;;
  esac
}

# Takes a variable away with its attributes: an integer would evaluate what it
# is given, a name reference lead it elsewhere. Fails for a readonly one, which
# keeps the script's value.
_conch_forget() {
  # Bash 4.2 and older have no references.
  builtin unset -n "$1" 2>/dev/null
  builtin unset -v "$1" 2>/dev/null
}

# The second file is lines: "=name value" for a variable, or ":name count" for
# an array, with count lines of elements after it. Values are escaped for
# printf %b and hold no newline. All names here are prefixed, locals too: a
# script may have a readonly `i`.
_conch_take_more() {
  builtin local -a _conch_lines
  builtin local _conch_i=0 _conch_line _conch_name
  _conch_read_lines "$1"
  while [[ -n ${_conch_lines[_conch_i]+set} ]]; do
    _conch_line=${_conch_lines[_conch_i]}
    _conch_name=${_conch_line%% *}
    _conch_name=${_conch_name#[=:]}
    _conch_names[${#_conch_names[@]}]=$_conch_name
    _conch_claim "$_conch_name" || _conch_name=_conch_ignored
    case $_conch_line in
      :*) _conch_take_array "${_conch_line#* }" ;;
      *) builtin printf -v "$_conch_name" '%b' "${_conch_line#* }" ;;
    esac
    _conch_i=$((_conch_i + 1))
  done
}

# Sets the array to the next $1 lines and moves _conch_i to the last of them.
# eval sees the name alone, which the host has checked to be an identifier:
# Bash 3.2 has no other way to assign to an element of a computed array.
_conch_take_array() {
  builtin local _conch_value _conch_n=0
  builtin eval "$_conch_name=()"
  while ((_conch_n < $1)); do
    _conch_i=$((_conch_i + 1))
    builtin printf -v _conch_value '%b' "${_conch_lines[_conch_i]}"
    builtin eval "$_conch_name"'[_conch_n]=$_conch_value'
    _conch_n=$((_conch_n + 1))
  done
}

# Reads the lines of file $1 into _conch_lines.
if ((BASH_VERSINFO[0] >= 4)); then
  _conch_read_lines() { builtin mapfile -t _conch_lines <"$1"; }
else
  # Bash 3.2 has no mapfile.
  _conch_read_lines() {
    builtin local _conch_text _conch_n=0
    while IFS= builtin read -r _conch_text; do
      _conch_lines[_conch_n]=$_conch_text
      _conch_n=$((_conch_n + 1))
    done <"$1"
  }
fi

# --- After the script -------------------------------------------------------

# Sets aside what of the script would disturb this file, and notes in
# _conch_restore how a tool gets it back. errexit it does not get back: a tool
# goes on after a command that fails, as in a function called from `if`.
_conch_set_aside() {
  builtin local _conch_option
  # The redirections of exec would not last behind `builtin`.
  _conch_restore=$(builtin declare -f exec)
  builtin unset -f exec
  [[ -z $_conch_traps ]] || _conch_restore+=$'\n'$_conch_traps
  # Not by a pattern of case, to which E and e may be the same (nocasematch).
  for _conch_option in E T a v x; do
    [[ ${1%%"$_conch_option"*} == "$1" ]] || _conch_restore+=$'\nbuiltin set -'$_conch_option
  done
}

# Some variables this file has to set, or they would undo it: TMOUT ends a read
# that waits, and with it the shell.
_conch_check_variables() {
  builtin unset -v TMOUT 2>/dev/null
  case $(builtin readonly -p) in
    *' IFS='* | *' MCP_CALL_TMPDIR'* | *' TMOUT='*)
      builtin echo "$0: IFS, MCP_CALL_TMPDIR and TMOUT must not be readonly" >&2
      builtin exit 1
      ;;
  esac
}

# An argument shall not get attributes that the script gave its name. A name
# that was declared and has no value is only listed here.
_conch_look_for_declarations() {
  _conch_declared=''
  case $(builtin declare -p) in *' arg_'* | *' argc_'* | *' ARG_'*) _conch_declared=1 ;; esac
}

# A trace comes from outside, and a script that has a variable of such a name
# must not get it to see there. What is exported and nothing else may have been
# in the environment; all else is the script's.
_conch_look_for_trace() {
  builtin local _conch_name
  for _conch_name in TRACEPARENT TRACESTATE BAGGAGE; do
    builtin declare -p "$_conch_name" >/dev/null 2>&1 || builtin continue
    case $(builtin declare -p "$_conch_name") in
      'declare -x '*) ;;
      *) _conch_kept+="$_conch_name " _conch_declared=1 ;;
    esac
  done
}

# The roots come from outside as well, and where calls are told them, they are in
# the environment that the shell was started with. One fork for all three; the
# one that may have several lines is the last.
_conch_look_for_roots() {
  [[ -f $_conch_dir/talk.bash ]] || builtin return 0
  case $({
    builtin declare -p MCP_ROOTS_COUNT
    builtin declare -p MCP_ROOTS_JSON
    builtin declare -p MCP_ROOTS_PATHS
  } 2>/dev/null) in
    'declare -x MCP_ROOTS_COUNT='*$'\n''declare -x MCP_ROOTS_JSON='*$'\n''declare -x MCP_ROOTS_PATHS='*) ;;
    *) _conch_kept+='MCP_ROOTS_COUNT MCP_ROOTS_JSON MCP_ROOTS_PATHS ' _conch_declared=1 ;;
  esac
}

# What is to be done before the shell can serve. $1: the options the script has
# set. _conch_traps holds its traps that are not inherited.
_conch_enter() {
  _conch_errexit=''
  [[ ${1%%e*} == "$1" ]] || _conch_errexit=1
  _conch_set_aside "$1"
  _conch_check_variables
  _conch_look_for_declarations
  _conch_kept=' '
  _conch_look_for_trace
  _conch_look_for_roots
  _conch_choose_worker
}

# --- What a script defines --------------------------------------------------

# A job names one of these, and the report has told which there are. As in
# talk.bash, each comment is an entry of docs/reference/functions.md.

# tool_NAME ARGUMENTS
#
# Runs a tool. ARGUMENTS is all of them as one line of JSON, in $1; each is also in
# $arg_<name>. What it prints, on standard error too, is the result's text.
#
# Status 0 is a success, any other an error that the model reads.

# mcp_before_tool_call TOOL ARGUMENTS
#
# Is asked before any tool runs, in the call's own shell, once the arguments have been
# checked. TOOL is the tool's name without tool_.
#
# Status 0: the tool runs, and what the hook has printed is dropped. Any other, and an
# exit of whatever status: it does not, and what the hook has printed is the error.

# tool_NAME_cancel ARGUMENTS
#
# Runs when a call of tool_NAME is made to end before its time: by the client, by a
# limit, or because the server ends; ARGUMENTS are empty then where a signal ends it.
# It is a fork of the server's shell, has two seconds, and comes before SIGTERM.
# $MCP_CALL_TMPDIR is the call's. Nobody sees what it prints.

# resource_NAME
#
# Prints what is in the resource or resource template of the name; a member function
# of its entry in resources.json names another. $arg_uri is the URI, and each variable
# of a template is in $arg_<variable>.
#
# Status 3: there is nothing of that URI. Any other than 0 is an error of the protocol.

# prompt_NAME
#
# Prints the text of the prompt of the name; a member function of its entry in
# prompts.json names another. Its arguments are in $arg_<argument>.
#
# Any status but 0 is an error of the protocol.

# complete_resource_NAME_VARIABLE
# complete_prompt_NAME_ARGUMENT
#
# Prints what a variable of a resource template or an argument of a prompt may be, one
# value a line, for what has been typed so far, in $arg_value.
#
# Status 1 is as good as 0, and 3 says that there is nothing; any other is an error of
# the protocol.
