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

# Fails for what is no JSON number, and must not get into a message. $1, for $2.
_conch_number() {
  builtin local _conch_digit='[0123456789]'
  [[ $1 =~ ^-?(0|[123456789]$_conch_digit*)(\.$_conch_digit+)?([eE][-+]?$_conch_digit+)?$ ]] || {
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

# Sets _conch_line to the JSON document $1 without line breaks, which are white
# space there.
_conch_document() { _conch_line=${1//$'\n'/ }; }

# --- While it goes on -------------------------------------------------------

# Tells the client how far the call is. $1: a number, $2: a message, $3: the
# number it ends with.
mcp_progress() {
  builtin local _conch_json _conch_total=''
  _conch_number "${1-}" mcp_progress || builtin return
  if [[ -n ${3-} ]]; then
    _conch_number "$3" mcp_progress || builtin return
    _conch_total=",\"total\":$3"
  fi
  _conch_quote "${2-}"
  _conch_say progress "{\"progress\":$1$_conch_total,\"message\":$_conch_json}"
}

# Logs, and tells a client that asked for messages of the level. $1: debug, info,
# notice, warning, error, critical, alert or emergency, $2: the logger, $3: JSON.
mcp_log() { _conch_log "$@"; }

_conch_log() {
  builtin local _conch_json _conch_level _conch_line
  case ${1-} in
    debug | info | notice | warning | error | critical | alert | emergency) _conch_level=$1 ;;
    warn) _conch_level=warning ;;
    *)
      builtin printf 'mcp_log: there is no level %s\n' "${1-}" >&2
      builtin return 2
      ;;
  esac
  _conch_quote "${2-}"
  _conch_document "${3-}"
  _conch_say log "{\"level\":\"$_conch_level\",\"logger\":$_conch_json,\"data\":$_conch_line}"
}

# [LOGGER] MESSAGE
mcp_log_debug() { _conch_log_text debug "$@"; }
mcp_log_info() { _conch_log_text info "$@"; }
mcp_log_warn() { _conch_log_text warning "$@"; }
mcp_log_error() { _conch_log_text error "$@"; }

# $1: the level, $2: the logger, unless it is the message, $3: the message.
_conch_log_text() {
  builtin local _conch_json
  if (($# > 2)); then
    _conch_quote "$3"
    _conch_log "$1" "$2" "$_conch_json"
  else
    _conch_quote "${2-}"
    _conch_log "$1" script "$_conch_json"
  fi
}

# Whether the call is being made to end.
mcp_is_cancelled() { [[ -n ${CONCH_TALK-} && -e $CONCH_TALK.cancelled ]]; }

# Tells clients who asked to hear of it that a resource is another now. Not only
# within calls: the script may watch something in the background. $1: URI
mcp_resource_updated() {
  builtin local _conch_json
  [[ -p ${CONCH_UPDATES-} ]] || builtin return 0
  _conch_quote "${1-}"
  _conch_send "$CONCH_UPDATES" server updated "{\"uri\":$_conch_json}" 2>/dev/null
}

# --- The result -------------------------------------------------------------

# Takes --audience user|assistant[,…] and --priority 0…1 off the front of the
# arguments: what comes behind may look the same.
# Leaves the others in _conch_rest, and in _conch_annotations a member with a
# comma before it, or nothing.
_conch_take_annotations() {
  builtin local _conch_audience='' _conch_priority=''
  _conch_rest=() _conch_annotations=''
  while (($# > 1)); do
    case $1 in
      --audience) _conch_audience=${2-} && _conch_audience=\"${_conch_audience//,/\",\"}\" ;;
      --priority) _conch_number "${2-}" --priority && _conch_priority=$2 ;;
      *) builtin break ;;
    esac
    builtin shift 2
  done
  _conch_rest=("$@")
  [[ -z $_conch_audience ]] || _conch_annotations="\"audience\":[$_conch_audience]"
  [[ -z $_conch_priority ]] || _conch_annotations+="${_conch_annotations:+,}\"priority\":$_conch_priority"
  [[ -z $_conch_annotations ]] || _conch_annotations=",\"annotations\":{$_conch_annotations}"
}

# Adds a text to the result. [--audience …] [--priority …] TEXT
mcp_emit_text() {
  builtin local _conch_json _conch_annotations
  builtin local -a _conch_rest
  _conch_take_annotations "$@"
  _conch_quote "${_conch_rest[0]-}"
  _conch_say emit "{\"type\":\"text\",\"text\":$_conch_json$_conch_annotations}"
}

# Makes a JSON document the result's structured content, and adds it as a text.
mcp_emit_json() {
  builtin local _conch_json _conch_annotations _conch_line
  builtin local -a _conch_rest
  _conch_take_annotations "$@"
  _conch_quote "${_conch_rest[0]-}"
  _conch_say emit "{\"type\":\"text\",\"text\":$_conch_json$_conch_annotations}"
  _conch_document "${_conch_rest[0]-}"
  _conch_say structured "$_conch_line"
}

# Adds a link to a resource. [--audience …] [--priority …] URI NAME [MIME [DESCRIPTION]]
mcp_emit_link() {
  builtin local _conch_json _conch_annotations _conch_item
  builtin local -a _conch_rest
  _conch_take_annotations "$@"
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
mcp_emit_image() { _conch_tool emit image "$@"; }    # FILE [MIME]
mcp_emit_audio() { _conch_tool emit audio "$@"; }    # FILE [MIME]
mcp_emit_resource() { _conch_tool emit resource "$@"; } # URI [FILE] [MIME]

# shellcheck disable=SC2154 # start.bash sets it
_conch_tool() { "$_conch_binary" tool "$@"; }

# Makes the result {"success":true,"result":JSON}, and a text of it.
mcp_result_success() {
  builtin local _conch_line
  _conch_document "${1-}"
  _conch_result "{\"success\":true,\"result\":$_conch_line}" false
}

# Makes the result {"success":false,"error":JSON}.
mcp_result_error() {
  builtin local _conch_line
  _conch_document "${1-}"
  _conch_result "{\"success\":false,\"error\":$_conch_line}" true
}

# $1: structured content, $2: whether it is an error.
_conch_result() {
  builtin local _conch_json
  _conch_quote "$1"
  _conch_say result "{\"content\":[{\"type\":\"text\",\"text\":$_conch_json}],\"structuredContent\":$1,\"isError\":$2}"
}

# Says what went wrong so that a model can mend it. TYPE MESSAGE [--hint TEXT]
# [--data JSON]
mcp_error() {
  builtin local _conch_json _conch_line _conch_error
  _conch_quote "${1-}" && _conch_error="\"type\":$_conch_json"
  _conch_quote "${2-}" && _conch_error+=",\"message\":$_conch_json"
  builtin shift $(($# > 1 ? 2 : $#))
  while (($# > 1)); do
    case $1 in
      --hint) _conch_quote "$2" && _conch_error+=",\"hint\":$_conch_json" ;;
      --data) _conch_document "$2" && _conch_error+=",\"data\":$_conch_line" ;;
    esac
    builtin shift 2
  done
  _conch_result "{\"success\":false,\"error\":{$_conch_error}}" true
}

# Ends the call with an error of the protocol. CODE MESSAGE [DATA]
mcp_fail() { _conch_fail "$@"; }

# MESSAGE [DATA]
mcp_fail_invalid_args() { _conch_fail -32602 "$@"; }

_conch_fail() {
  builtin local _conch_json _conch_line _conch_data=''
  _conch_number "${1-}" mcp_fail || builtin exit 1
  _conch_quote "${2-}"
  if [[ -n ${3-} ]]; then
    _conch_document "$3"
    _conch_data=",\"data\":$_conch_line"
  fi
  _conch_say fail "{\"code\":$1,\"message\":$_conch_json$_conch_data}"
  builtin exit 1
}

# --- Asking -----------------------------------------------------------------

# Each asks and waits, and prints {"action":…,"content":…}. Status 1: the client
# cannot be asked that, or nobody answered. --key NAME names the question.
mcp_elicit() { _conch_tool elicit form "$@"; }                             # MESSAGE SCHEMA
mcp_elicit_string() { _conch_tool elicit string "$@"; }                    # MESSAGE [FIELD]
mcp_elicit_confirm() { _conch_tool elicit confirm "$@"; }                  # MESSAGE
mcp_elicit_choice() { _conch_tool elicit choice "$@"; }                    # MESSAGE OPTION…
mcp_elicit_titled_choice() { _conch_tool elicit titled-choice "$@"; }      # MESSAGE VALUE:TITLE…
mcp_elicit_multi_choice() { _conch_tool elicit multi-choice "$@"; }        # MESSAGE OPTION…
mcp_elicit_titled_multi_choice() { _conch_tool elicit titled-multi-choice "$@"; }
mcp_elicit_url() { _conch_tool elicit url "$@"; }                          # MESSAGE URL

# Prints the model's answer. PROMPT [--max-tokens N] [--system TEXT]
mcp_sample() { _conch_tool sample "$@"; }
