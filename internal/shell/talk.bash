# shellcheck shell=bash
# What a script's functions use to say more than they print: functions, and
# nothing else. The script is sourced after this, so that one that has functions
# of these names has its own.
#
# A call's channel is the FIFO $CONCH_TALK, a line for each message: a record
# separator, the last element of $MCP_CALL_TMPDIR, a kind, and JSON. Outside of a
# call, in a test of the script's own say, what is said goes nowhere.

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

# Tells the client how far the call is. $1: a number, $2: a message, $3: the
# number it ends with.
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

# Logs, and tells a client that asked for messages of the level. $1: debug, info,
# notice, warning, error, critical, alert or emergency, $2: the logger, $3: JSON,
# or else a text.
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

# [LOGGER] MESSAGE
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

# Whether the call is being made to end.
mcp_is_cancelled() { [[ -n ${CONCH_TALK-} && -n ${MCP_CALL_TMPDIR-} && -e $CONCH_TALK.${MCP_CALL_TMPDIR##*/}.cancelled ]]; }

# Tells clients who asked to hear of it that a resource is another now. Not only
# within calls: the script may watch something in the background. $1: URI
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

# Adds a text to the result. [--audience …] [--priority …] TEXT
mcp_emit_text() { _conch_emit_text mcp_emit_text emit "$@"; }

# Makes a JSON document the result's structured content, and adds it as a text.
mcp_emit_json() { _conch_emit_text mcp_emit_json json "$@"; }

_conch_emit_text() {
  builtin local _conch_json _conch_annotations _conch_kind_said="$2"
  builtin local -a _conch_rest
  _conch_take_annotations "$1" "${@:3}" || builtin return
  _conch_quote "${_conch_rest[0]-}"
  _conch_say "$_conch_kind_said" "{\"type\":\"text\",\"text\":$_conch_json$_conch_annotations}"
}

# Adds a link to a resource. [--audience …] [--priority …] URI NAME [MIME [DESCRIPTION]]
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
mcp_emit_image() { _conch_emit image "$@"; }       # [--audience …] [--priority …] FILE [MIME]
mcp_emit_audio() { _conch_emit audio "$@"; }       # the same
mcp_emit_resource() { _conch_emit resource "$@"; } # [--audience …] [--priority …] URI [FILE] [MIME]

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

# Makes the result {"success":true,"result":JSON}, and a text of it.
mcp_result_success() { _conch_result true "${1-}"; }

# Makes the result {"success":false,"error":JSON}.
mcp_result_error() { _conch_result false "${1-}"; }

_conch_result() {
  builtin local _conch_json
  _conch_quote "$2"
  _conch_say result "{\"success\":$1,\"value\":$_conch_json}"
}

# Says what went wrong so that a model can mend it. TYPE MESSAGE [--hint TEXT]
# [--data JSON]
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

# Ends the call with an error of the protocol. CODE MESSAGE [DATA]
mcp_fail() { _conch_fail "$@"; }

# MESSAGE [DATA]
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

# Each asks and waits, and prints {"action":…,"content":…}. Status 1: nobody
# answered; 2: the question is none; 4: the client cannot be asked that. --key NAME in
# front names the question. What mcp-bash takes besides, a time limit and a mode, is
# let go.
mcp_elicit() { _conch_elicit form 2 "$@"; }                     # MESSAGE SCHEMA
mcp_elicit_string() { _conch_elicit string 2 "$@"; }            # MESSAGE [FIELD]
mcp_elicit_confirm() { _conch_elicit confirm 1 "$@"; }          # MESSAGE
mcp_elicit_choice() { _conch_elicit choice 1000 "$@"; }         # MESSAGE OPTION…
mcp_elicit_titled_choice() { _conch_elicit titled-choice 1000 "$@"; } # MESSAGE VALUE:TITLE…
mcp_elicit_multi_choice() { _conch_elicit multi-choice 1000 "$@"; }   # MESSAGE OPTION…
mcp_elicit_titled_multi_choice() { _conch_elicit titled-multi-choice 1000 "$@"; }
mcp_elicit_url() { _conch_elicit url 2 "$@"; }                  # MESSAGE URL

# $1: the kind, $2: how many arguments it has at most.
_conch_elicit() {
  builtin local -a _conch_options _conch_rest
  builtin local _conch_kind_said="$1" _conch_most="$2"
  _conch_take_options ' --key ' "${@:3}"
  _conch_ask elicit ${_conch_options[@]+"${_conch_options[@]}"} -- "$_conch_kind_said" \
    ${_conch_rest[@]+"${_conch_rest[@]:0:_conch_most}"}
}

# Prints the model's answer. PROMPT [--max-tokens N] [--system TEXT] [--key NAME]
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
