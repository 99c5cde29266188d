# shellcheck shell=bash
# What a script's functions use to say more than they print: functions, and
# nothing else. The script is sourced after this, so that one that has functions
# of these names has its own.
#
# A call's channel is the FIFO $CONCH_TALK, a line for each message: a record
# separator, the last element of $MCP_CALL_TMPDIR, a kind, and JSON. Outside of a
# call, in a test of the script's own say, what is said goes nowhere.

# A comment that begins with how a function is called is its entry in
# docs/reference/functions.md, in the syntax of Go's doc comments. `make reference`
# writes that file.

# What the functions here have in common they have in functions that begin with
# _conch_, for a script may have some of the others, with other arguments.

# What is done byte by byte is done in the C locale. Bash complains when it goes
# back to one that the system does not have, as containers often have none; a
# call's output is no place for that.

# Sends a message of the call's. $1: the kind, $2: JSON without a line break.
_conch_say() {
  [[ -p ${CONCH_TALK-} && -n ${MCP_CALL_TMPDIR-} ]] || builtin return 0
  _conch_send "$CONCH_TALK" "${MCP_CALL_TMPDIR##*/}" "$1" "$2" 2>/dev/null
}

# Sends a message. $1: the channel, $2: who speaks, $3: the kind, $4: JSON without a
# line break. A line that a FIFO might not take in one piece goes through a file:
# POSIX promises 512 bytes, and Bash may have a buffer of 1008.
_conch_send() {
  builtin local LC_ALL=C _conch_text="$4" _conch_file
  if ((${#4} > 400)); then
    _conch_file=$BASHPID.$RANDOM$RANDOM$RANDOM
    builtin printf '%s' "$4" >|"$1.$_conch_file"
    _conch_text=@$_conch_file
  fi
  # For reading too, or the open would wait for a host that is gone.
  builtin printf '\036%s %s %s\n' "$2" "$3" "$_conch_text" 1<>"$1"
}

# Leaves $1 in _conch_numeral as a JSON number, which has a digit before the point;
# bc leaves a 0 out there. Fails for what is none, and must not get into a message
# of $2.
_conch_number() {
  builtin local _conch_digit='[0123456789]'
  _conch_numeral=$1
  case $1 in
    .*) _conch_numeral=0$1 ;;
    -.*) _conch_numeral=-0${1#-} ;;
  esac
  [[ $_conch_numeral =~ ^-?(0|[123456789]$_conch_digit*)(\.$_conch_digit+)?([eE][-+]?$_conch_digit+)?$ ]] || {
    builtin printf '%s: %s is no number\n' "$2" "$1" >&2
    builtin return 2
  }
}

# Sets _conch_json to the JSON string of $1. Not by printing it, for that would be
# a fork.
_conch_quote() { _conch_quote_bytes "$1" 2>/dev/null; }

# In pieces: the time that Bash takes to replace something grows with the square
# of the text. A character may be in two of them.
_conch_quote_bytes() {
  builtin local LC_ALL=C _conch_at _conch_quoted=''
  for ((_conch_at = 0; _conch_at < ${#1}; _conch_at += 16384)); do
    _conch_json=${1:_conch_at:16384}
    _conch_escape
    _conch_quoted+=$_conch_json
  done
  _conch_json="\"$_conch_quoted\""
}

_conch_escape() {
  _conch_json=${_conch_json//\\/\\\\}
  _conch_json=${_conch_json//\"/\\\"}
  _conch_json=${_conch_json//$'\n'/\\n}
  _conch_json=${_conch_json//$'\r'/\\r}
  _conch_json=${_conch_json//$'\t'/\\t}
  [[ $_conch_json != *[$'\001'-$'\037']* ]] || _conch_quote_controls
}

_conch_quote_controls() {
  builtin local _conch_i _conch_c _conch_escape
  for ((_conch_i = 1; _conch_i < 32; _conch_i++)); do
    builtin printf -v _conch_escape '\\%03o' "$_conch_i"
    builtin printf -v _conch_c '%b' "$_conch_escape"
    builtin printf -v _conch_escape '\\u%04x' "$_conch_i"
    _conch_json=${_conch_json//"$_conch_c"/$_conch_escape}
  done
}

# Whether what a tool gives for JSON is some the host finds out: it gets it as a
# text, since a message must not fall by what it is about.

# --- While it goes on -------------------------------------------------------

# mcp_progress NUMBER [MESSAGE [TOTAL]]
#
# Tells the client how far the call is. NUMBER must be more each time, or nobody is
# told; TOTAL is the number it ends with. A client that gave no progress token is
# told nothing.
#
# Status 2: NUMBER or TOTAL is no number.
mcp_progress() {
  builtin local _conch_json _conch_numeral _conch_told
  _conch_number "${1-}" mcp_progress || builtin return
  _conch_told="\"progress\":$_conch_numeral"
  if [[ -n ${3-} ]]; then
    _conch_number "$3" mcp_progress || builtin return
    _conch_told+=",\"total\":$_conch_numeral"
  fi
  _conch_quote "${2-}"
  _conch_say progress "{$_conch_told,\"message\":$_conch_json}"
}

# mcp_log LEVEL LOGGER JSON
#
# Writes to the server's log, and tells a client that asked for messages of the
# level. LEVEL is debug, info, notice, warning, error, critical, alert or emergency;
# warn is taken for warning. LOGGER says which part of the script speaks. What is
# given for JSON and is none is logged as a text.
#
# Status 2: there is no such level.
mcp_log() { _conch_log "${1-}" "${2-}" json "${3-}"; }

# $1: the level, $2: the logger, $3: whether the next is json or text, $4: it.
_conch_log() {
  builtin local _conch_json _conch_level _conch_logger
  case $1 in
    debug | info | notice | warning | error | critical | alert | emergency) _conch_level=$1 ;;
    warn) _conch_level=warning ;;
    *)
      builtin printf 'mcp_log: there is no level %s\n' "$1" >&2
      builtin return 2
      ;;
  esac
  _conch_quote "$2"
  _conch_logger=$_conch_json
  _conch_quote "$4"
  _conch_say log "{\"level\":\"$_conch_level\",\"logger\":$_conch_logger,\"$3\":$_conch_json}"
}

# mcp_log_debug [LOGGER] MESSAGE
# mcp_log_info [LOGGER] MESSAGE
# mcp_log_warn [LOGGER] MESSAGE
# mcp_log_error [LOGGER] MESSAGE
#
# The same with a text. LOGGER is script where it is left out.
mcp_log_debug() { _conch_log_text debug "$@"; }
mcp_log_info() { _conch_log_text info "$@"; }
mcp_log_warn() { _conch_log_text warning "$@"; }
mcp_log_error() { _conch_log_text error "$@"; }

# $1: the level, $2: the logger, unless it is the message, $3: the message.
_conch_log_text() {
  if (($# > 2)); then
    _conch_log "$1" "$2" text "$3"
  else
    _conch_log "$1" script text "${2-}"
  fi
}

# mcp_is_cancelled
#
# Has status 0 once the call is being made to end, and 1 until then.
mcp_is_cancelled() { [[ -n ${CONCH_TALK-} && -n ${MCP_CALL_TMPDIR-} && -e $CONCH_TALK.${MCP_CALL_TMPDIR##*/}.cancelled ]]; }

# mcp_resource_updated URI
#
# Tells clients that have subscribed to a resource that it has changed. Not only
# within calls: the script may watch something in the background.
#
# Status 2: there is no URI.
mcp_resource_updated() {
  builtin local _conch_json
  [[ -n ${1-} ]] || {
    builtin printf 'mcp_resource_updated takes a URI\n' >&2
    builtin return 2
  }
  [[ -p ${CONCH_UPDATES-} ]] || builtin return 0
  _conch_quote "${1-}"
  _conch_send "$CONCH_UPDATES" server updated "{\"uri\":$_conch_json}" 2>/dev/null
}

# --- The result -------------------------------------------------------------

# Takes --audience user|assistant[,…] and --priority 0…1 off the front of the
# arguments: what comes behind, or behind --, may look the same. $1: the function.
# Leaves the others in _conch_rest, and in _conch_annotations a member with a
# comma before it, or nothing.
_conch_take_annotations() {
  builtin local _conch_audience='' _conch_priority='' _conch_name="$1"
  _conch_rest=() _conch_annotations=''
  builtin shift
  while (($# > 1)); do
    case $1 in
      --audience) _conch_audience=\"${2//,/\",\"}\" ;;
      --priority) _conch_priority=$2 ;;
      *) builtin break ;;
    esac
    builtin shift 2
  done
  [[ ${1-} != -- ]] || builtin shift
  _conch_check_annotations || builtin return 2
  _conch_rest=("$@")
  [[ -z $_conch_audience ]] || _conch_annotations="\"audience\":[$_conch_audience]"
  [[ -z $_conch_priority ]] || _conch_annotations+="${_conch_annotations:+,}\"priority\":$_conch_priority"
  [[ -z $_conch_annotations ]] || _conch_annotations=",\"annotations\":{$_conch_annotations}"
}

# A client would refuse the whole result over one that is none.
_conch_check_annotations() {
  case $_conch_audience in
    '' | '"user"' | '"assistant"' | '"user","assistant"' | '"assistant","user"') ;;
    *)
      builtin printf '%s: --audience is user, assistant or both with a comma, not %s\n' "$_conch_name" "${_conch_audience//\"/}" >&2
      builtin return 2
      ;;
  esac
  case $_conch_priority in
    0. | 0.*[!0123456789]*) ;;
    '' | 0 | 1 | 1.0 | 0.*) builtin return 0 ;;
  esac
  builtin printf '%s: --priority is a number from 0 to 1, not %s\n' "$_conch_name" "$_conch_priority" >&2
  builtin return 2
}

# mcp_emit_text [--audience WHO] [--priority N] TEXT
#
# Adds a text to the result. WHO is user, assistant or both with a comma between
# them, N a number from 0 to 1; both are annotations that clients may heed. A TEXT
# that looks like one of these options stands behind --. This goes for all functions
# of this kind.
#
# Status 2: WHO or N is none.
mcp_emit_text() { _conch_emit_text mcp_emit_text emit "$@"; }

# mcp_emit_json [--audience WHO] [--priority N] JSON
#
# Makes a JSON document the result's structured content, and adds it as a text. What
# is no JSON becomes a text alone, with a line in the log.
#
# Status 2: WHO or N is none.
mcp_emit_json() { _conch_emit_text mcp_emit_json json "$@"; }

_conch_emit_text() {
  builtin local _conch_json _conch_annotations _conch_kind_said="$2"
  builtin local -a _conch_rest
  _conch_take_annotations "$1" "${@:3}" || builtin return
  _conch_quote "${_conch_rest[0]-}"
  _conch_say "$_conch_kind_said" "{\"type\":\"text\",\"text\":$_conch_json$_conch_annotations}"
}

# mcp_emit_link [--audience WHO] [--priority N] URI NAME [MIME [DESCRIPTION]]
#
# Adds a link to a resource, which the client may read or not.
#
# Status 2: URI or NAME is missing, or WHO or N is none.
mcp_emit_link() {
  builtin local _conch_json _conch_annotations _conch_item
  builtin local -a _conch_rest
  _conch_take_annotations mcp_emit_link "$@" || builtin return
  ((${#_conch_rest[@]} > 1)) || {
    builtin printf 'mcp_emit_link takes a URI and a NAME\n' >&2
    builtin return 2
  }
  _conch_quote "${_conch_rest[0]-}" && _conch_item="\"uri\":$_conch_json"
  _conch_quote "${_conch_rest[1]-}" && _conch_item+=",\"name\":$_conch_json"
  if [[ -n ${_conch_rest[2]-} ]]; then
    _conch_quote "${_conch_rest[2]}" && _conch_item+=",\"mimeType\":$_conch_json"
  fi
  if [[ -n ${_conch_rest[3]-} ]]; then
    _conch_quote "${_conch_rest[3]}" && _conch_item+=",\"description\":$_conch_json"
  fi
  _conch_say emit "{\"type\":\"resource_link\",$_conch_item$_conch_annotations}"
}

# What needs base64 or a media type is conch's own to make.

# mcp_emit_image [--audience WHO] [--priority N] FILE [MIME]
# mcp_emit_audio [--audience WHO] [--priority N] FILE [MIME]
#
# Adds the picture or the sound in a file, of 64 MiB at most. Without MIME its type
# is what its name or its first bytes tell. FILE may be - for standard input.
#
# Status 1: the file cannot be read, or is of another type. Status 2: WHO or N is
# none.
mcp_emit_image() { _conch_emit image "$@"; }
mcp_emit_audio() { _conch_emit audio "$@"; }

# mcp_emit_resource [--audience WHO] [--priority N] URI [FILE] [MIME]
#
# Embeds what is in a file, or comes on standard input, under a URI. Without MIME its
# type is what its name or its first bytes tell.
#
# Status 1: there is no URI, or the file cannot be read. Status 2: WHO or N is none.
mcp_emit_resource() { _conch_emit resource "$@"; }

_conch_emit() {
  builtin local -a _conch_options _conch_rest
  builtin local _conch_kind_said="$1"
  _conch_take_options ' --audience --priority ' "${@:2}"
  _conch_tool emit ${_conch_options[@]+"${_conch_options[@]}"} -- "$_conch_kind_said" ${_conch_rest[@]+"${_conch_rest[@]}"}
}

# Takes options off the front of the arguments: what comes behind may look the
# same. $1: their names, with blanks around each. Leaves them in _conch_options and
# the others in _conch_rest.
_conch_take_options() {
  builtin local _conch_known="$1"
  _conch_options=()
  builtin shift
  while (($# > 1)) && [[ $1 == --* && $_conch_known == *" ${1%%=*} "* ]]; do
    case $1 in
      *=*) _conch_options+=("$1") ;;
      *)
        _conch_options+=("$1=$2")
        builtin shift
        ;;
    esac
    builtin shift
  done
  [[ ${1-} != -- ]] || builtin shift
  _conch_rest=("$@")
}

# shellcheck disable=SC2154 # start.bash sets it
_conch_tool() { "$_conch_binary" tool "$@"; }

# mcp_result_success JSON
#
# Makes the result {"success":true,"result":JSON}, and a text of it. What is printed
# and emitted besides is dropped, unless the tool fails.
mcp_result_success() { _conch_result true "${1-}"; }

# mcp_result_error JSON
#
# Makes the result {"success":false,"error":JSON}, and an error. What is printed and
# emitted besides is dropped.
mcp_result_error() { _conch_result false "${1-}"; }

_conch_result() {
  builtin local _conch_json
  _conch_quote "$2"
  _conch_say result "{\"success\":$1,\"value\":$_conch_json}"
}

# mcp_error TYPE MESSAGE [--hint TEXT] [--data JSON]
#
# Says what went wrong so that a model can mend it: mcp_result_error with an object
# of type, message, hint and data.
#
# Status 2: there is another option; the result is an error all the same.
mcp_error() {
  builtin local _conch_json _conch_error _conch_status=0
  _conch_quote "${1-}" && _conch_error="\"type\":$_conch_json"
  _conch_quote "${2-}" && _conch_error+=",\"message\":$_conch_json"
  builtin shift "$(($# > 1 ? 2 : $#))"
  while (($#)); do
    _conch_quote "${2-}"
    case $1 in
      --hint) _conch_error+=",\"hint\":$_conch_json" ;;
      --data) _conch_error+=",\"data\":$_conch_json" ;;
      *)
        builtin printf 'mcp_error: there is no option %s; there are --hint and --data\n' "$1" >&2
        _conch_status=2
        ;;
    esac
    builtin shift "$(($# > 1 ? 2 : 1))"
  done
  _conch_say problem "{$_conch_error}"
  builtin return "$_conch_status"
}

# mcp_fail CODE MESSAGE [DATA]
#
# Ends the shell with status 1, and the call with an error of the protocol. In a
# subshell, $( ) too, it ends that alone: add || exit there. CODE is an integer other
# than 0, DATA JSON. Models see results, and seldom errors of the protocol: for what
# they can mend there is mcp_error.
mcp_fail() { _conch_fail "$@"; }

# mcp_fail_invalid_args MESSAGE [DATA]
#
# The same with the code for arguments that cannot be used, -32602.
mcp_fail_invalid_args() { _conch_fail -32602 "$@"; }

_conch_fail() {
  builtin local _conch_json _conch_failure _conch_code="${1-}"
  [[ $_conch_code =~ ^-?[123456789][0123456789]{0,8}$ ]] || {
    builtin printf 'mcp_fail: %s is no code of an error; it is an integer other than 0\n' "$_conch_code" >&2
    _conch_code=-32603
  }
  _conch_quote "${2-}"
  _conch_failure="\"code\":$_conch_code,\"message\":$_conch_json"
  if [[ -n ${3-} ]]; then
    _conch_quote "$3"
    _conch_failure+=",\"data\":$_conch_json"
  fi
  _conch_say fail "{$_conch_failure}"
  builtin exit 1
}

# --- Asking -----------------------------------------------------------------

# What mcp-bash takes besides, a time limit and a mode, is let go.

# mcp_elicit [--key NAME] MESSAGE SCHEMA
#
# Has the client ask its user for a form, and waits. SCHEMA is JSON, an object schema
# whose properties are strings, numbers, booleans and choices. Prints
# {"action":"accept","content":{…}} on one line, or decline or cancel for the action.
# NAME is what the question is known by where the call begins anew with the answer;
# without, that is made of what is asked. All this goes for the other questions too.
#
# Status 1: nobody answered, or not as the schema has it. Status 2: the question is
# none. Status 4: the client cannot be asked that. Standard error says why.
mcp_elicit() { _conch_elicit form 2 "$@"; }

# mcp_elicit_string [--key NAME] MESSAGE [FIELD]
#
# Asks for a text, in the member FIELD, or else value.
mcp_elicit_string() { _conch_elicit string 2 "$@"; }

# mcp_elicit_confirm [--key NAME] MESSAGE
#
# Asks yes or no, in the member confirmed.
mcp_elicit_confirm() { _conch_elicit confirm 1 "$@"; }

# mcp_elicit_choice [--key NAME] MESSAGE OPTION…
# mcp_elicit_titled_choice [--key NAME] MESSAGE VALUE:TITLE…
#
# Asks for one of some texts, in the member value. A TITLE is what the user sees.
mcp_elicit_choice() { _conch_elicit choice 1000 "$@"; }
mcp_elicit_titled_choice() { _conch_elicit titled-choice 1000 "$@"; }

# mcp_elicit_multi_choice [--key NAME] MESSAGE OPTION…
# mcp_elicit_titled_multi_choice [--key NAME] MESSAGE VALUE:TITLE…
#
# Asks for any number of them: an array in the member value. Clients before
# 2025-11-25 cannot be asked that.
mcp_elicit_multi_choice() { _conch_elicit multi-choice 1000 "$@"; }
mcp_elicit_titled_multi_choice() { _conch_elicit titled-multi-choice 1000 "$@"; }

# mcp_elicit_url [--key NAME] MESSAGE URL
#
# Asks the user to visit a page, for what must not pass through the client. Clients
# before 2025-11-25 cannot be asked that.
mcp_elicit_url() { _conch_elicit url 2 "$@"; }

# $1: the kind, $2: how many arguments it has at most.
_conch_elicit() {
  builtin local -a _conch_options _conch_rest
  builtin local _conch_kind_said="$1" _conch_most="$2"
  _conch_take_options ' --key ' "${@:3}"
  _conch_ask elicit ${_conch_options[@]+"${_conch_options[@]}"} -- "$_conch_kind_said" \
    ${_conch_rest[@]+"${_conch_rest[@]:0:_conch_most}"}
}

# mcp_sample [--max-tokens N] [--system TEXT] [--key NAME] PROMPT
#
# Asks the client's model, waits, and prints its text; what is not all text is printed
# as JSON. N is how long the answer may be (1000), TEXT what the model is told
# beforehand. The options may also stand behind PROMPT.
#
# Status 1, 2 and 4 as those of mcp_elicit.
mcp_sample() {
  builtin local -a _conch_options _conch_rest
  builtin local -a _conch_asked
  _conch_take_options ' --max-tokens --system --key ' "$@"
  _conch_asked=(${_conch_options[@]+"${_conch_options[@]}"})
  builtin set -- ${_conch_rest[@]+"${_conch_rest[@]}"}
  _conch_take_options ' --max-tokens --system --key ' "${@:2}"
  _conch_ask sample ${_conch_asked[@]+"${_conch_asked[@]}"} ${_conch_options[@]+"${_conch_options[@]}"} -- "${1-}"
}

# Says that a question comes before it starts who asks it, so that questions that
# are asked at once go to the client together.
_conch_ask() {
  builtin local _conch_asker="$BASHPID.$RANDOM$RANDOM" _conch_status=0
  _conch_say asking "\"$_conch_asker\""
  CONCH_ASKER=$_conch_asker _conch_tool "$@" || _conch_status=$?
  _conch_say asked "\"$_conch_asker\""
  builtin return "$_conch_status"
}
