# shellcheck shell=bash
# How tools run commands that fail for a while or take long, beside runtime.bash:
# functions and nothing else, in the manner of tools.bash, which it needs.
# mcp_progress and mcp_log_debug are elsewhere.
#
# shellcheck disable=SC2154 # _conch_binary

# --- Trying again -----------------------------------------------------------

# mcp_with_retry ATTEMPTS DELAY [--] COMMAND…
#
# Runs a command until it succeeds, or fails for good: statuses 1 and 2 do. It waits
# DELAY seconds and up to half as long again, then twice as long each time, a minute
# at most.
#
# Status: the command's, of the last attempt. Status 1 with a line on standard error:
# the function is used wrongly.
mcp_with_retry() {
  builtin local _conch_attempts="${1-}" _conch_delay='' _conch_attempt=1 _conch_status
  if ! _conch_retry_check "$@"; then
    builtin printf 'mcp_with_retry takes a number of attempts, a delay in seconds and a command\n' >&2
    builtin return 1
  fi
  builtin shift 2
  [[ $1 != -- ]] || builtin shift
  while ((1)); do
    _conch_status=0
    "$@" || _conch_status=$?
    if ((_conch_status <= 2 || _conch_attempt >= 10#$_conch_attempts)); then
      builtin return "$_conch_status"
    fi
    _conch_pause "attempt $_conch_attempt of $_conch_attempts ended with status $_conch_status"
    _conch_attempt=$((_conch_attempt + 1))
  done
}

_conch_retry_check() {
  case ${1-} in
    '' | *[!0-9]* | ??????????*) builtin return 1 ;;
  esac
  ((10#$1 > 0)) && _conch_milliseconds "${2-}" || builtin return 1
  (($# > 3)) || [[ $# -eq 3 && $3 != -- ]]
}

# Waits for _conch_delay milliseconds, and makes it longer for the next time.
_conch_pause() {
  builtin local _conch_wait
  _conch_wait=$((_conch_delay + RANDOM % (_conch_delay / 2 + 1)))
  builtin printf -v _conch_wait '%d.%03d' "$((_conch_wait / 1000))" "$((_conch_wait % 1000))"
  mcp_log_debug retry "$1, the next one is in $_conch_wait s" || builtin :
  command sleep "$_conch_wait"
  ((_conch_delay >= 60000)) || _conch_delay=$((_conch_delay < 30000 ? 2 * _conch_delay : 60000))
}

# Leaves seconds, a decimal number, in _conch_delay as milliseconds.
_conch_milliseconds() {
  builtin local _conch_whole="${1%%.*}" _conch_part=000
  case $1 in
    *[!0-9.]* | *.*.* | '' | . | ??????????*) builtin return 1 ;;
    *.*) _conch_part=${1#*.}000 ;;
  esac
  _conch_delay=$((10#0$_conch_whole * 1000 + 10#${_conch_part:0:3}))
}

# --- Following commands that take long --------------------------------------

# mcp_run_with_progress --pattern RE [OPTION…] -- COMMAND…
#
# Runs a command, and makes progress of the lines on its standard error that RE
# matches. RE is an extended regular expression of POSIX, as [[ =~ ]] has it. The
# other lines are logged at the level debug; where the command fails, the last of them
# go to standard error: they say why.
#
#	--extract json        progress and message are members of the line; the default
#	--extract match1      the first group is the progress
#	--extract ratio       the first two groups are how much is done, and of how much
#	--total N             what the first group is a part of; a hundred
#	--stdout FILE         where the command's standard output goes
#	--stderr-file FILE    where the other lines go
#	--quiet               do not log the other lines
#	--progress-file FILE  the lines are in FILE; standard error goes to --stderr-file
#	--interval SECONDS    how often that file is looked at (0.2)
#	--dry-run             say on standard error what the progress would be
#
# Status: the command's. Status 1 with a line on standard error: the function is used
# wrongly.
mcp_run_with_progress() {
  builtin local _conch_pattern='' _conch_extract=json _conch_total='' _conch_quiet='' _conch_dry=''
  builtin local _conch_stdout='' _conch_stderr='' _conch_file='' _conch_interval=0.2
  while [[ ${1-} == -* && $1 != -- ]]; do
    case $1 in
      --quiet) _conch_quiet=1 ;;
      --dry-run) _conch_dry=1 ;;
      *)
        _conch_progress_option "$1" "${2-}" || builtin return 1
        (($# < 2)) || builtin shift
        ;;
    esac
    builtin shift
  done
  [[ ${1-} != -- ]] || builtin shift
  _conch_progress_check "$#" || builtin return 1
  _conch_progress_start "$@"
}

# Opens what the options name. Descriptor 45 is the command's standard output.
_conch_progress_start() {
  if [[ -n $_conch_stderr ]] && ! builtin : 2>/dev/null >|"$_conch_stderr"; then
    _conch_stderr=''
  fi
  if [[ -n $_conch_stdout ]]; then
    _conch_progress_run "$@" 45>|"$_conch_stdout"
  else
    _conch_progress_run "$@" 45>&1
  fi
}

_conch_progress_option() {
  case $1 in
    --pattern) _conch_pattern=$2 ;;
    --extract) _conch_extract=$2 ;;
    --total) _conch_total=$2 ;;
    --stdout) _conch_stdout=$2 ;;
    --stderr-file) _conch_stderr=$2 ;;
    --progress-file) _conch_file=$2 ;;
    --interval) _conch_interval=$2 ;;
    *) _conch_progress_wrong "there is no option $1" ;;
  esac
}

_conch_progress_wrong() {
  builtin printf 'mcp_run_with_progress: %s\n' "$1" >&2
  builtin return 1
}

_conch_progress_check() {
  builtin local _conch_delay='' _conch_match=0 _conch_wrong=''
  _conch_progress_matches '' 2>/dev/null || _conch_match=$?
  (($1)) || _conch_wrong='there is no command'
  if ! _conch_milliseconds "$_conch_interval" || ((_conch_delay == 0)); then
    _conch_wrong='--interval must be a positive number'
  fi
  case $_conch_total in
    0* | *[!0-9]* | ????????????????*) _conch_wrong='--total must be positive integer' ;;
  esac
  case $_conch_extract in
    json | match1 | ratio) ;;
    *) _conch_wrong="unknown extract mode '$_conch_extract'; there are json, match1 and ratio" ;;
  esac
  ((_conch_match < 2)) || _conch_wrong="--pattern is no regular expression of POSIX (a brace is written [{]): $_conch_pattern"
  [[ -n $_conch_pattern ]] || _conch_wrong='--pattern is required'
  [[ -z $_conch_wrong ]] || _conch_progress_wrong "$_conch_wrong"
}

_conch_progress_matches() { [[ $1 =~ $_conch_pattern ]]; }

# Runs the command with its standard output on descriptor 45.
_conch_progress_run() {
  if [[ -n $_conch_file ]]; then
    _conch_progress_follow "$@"
    builtin return
  fi
  builtin local _conch_ended=0 _conch_why=''
  # In a subshell, since pipefail and errexit might be set.
  _conch_why=$(
    "$@" 2>&1 >&45 45>&- | _conch_progress_read
    builtin exit "${PIPESTATUS[0]}"
  ) || _conch_ended=$?
  if ((_conch_ended)) && [[ -n $_conch_why ]]; then
    builtin printf '%s\n' "$_conch_why" >&2
  fi
  builtin return "$_conch_ended"
}

# Prints the last lines that are no progress, once all are read.
_conch_progress_read() {
  builtin local _conch_line='' _conch_others=''
  while IFS= builtin read -r _conch_line || [[ -n $_conch_line ]]; do
    _conch_progress_line "$_conch_line"
    # Enough of them.
    while ((${#_conch_others} > 2000)); do _conch_others=${_conch_others#*$'\n'}; done
  done
  builtin printf '%s' "$_conch_others"
}

# The command is in the background: only while it runs does the file grow.
_conch_progress_follow() {
  builtin local _conch_line='' _conch_part='' _conch_command _conch_ended=0
  builtin : >|"$_conch_file" || builtin return 1
  "$@" >&45 2>>"${_conch_stderr:-/dev/null}" 45>&- &
  _conch_command=$!
  {
    while builtin kill -0 "$_conch_command" 2>/dev/null; do
      _conch_progress_more
      command sleep "$_conch_interval"
    done
    builtin wait "$_conch_command" || _conch_ended=$?
    _conch_progress_more
    [[ -z $_conch_part ]] || _conch_progress_line "$_conch_part"
  } 44<"$_conch_file"
  builtin return "$_conch_ended"
}

# Reads the lines that are there. The beginning of one is kept for the next time.
_conch_progress_more() {
  while IFS= builtin read -r -u 44 _conch_line; do
    _conch_progress_line "$_conch_part$_conch_line"
    _conch_part=''
  done
  _conch_part+=$_conch_line
}

# Some commands write over their last line instead of a new one.
_conch_progress_line() {
  builtin local _conch_left="$1" _conch_piece
  while [[ $_conch_left == *$'\r'* ]]; do
    _conch_piece=${_conch_left%%$'\r'*}
    _conch_left=${_conch_left#*$'\r'}
    [[ -z $_conch_piece ]] || _conch_progress_piece "$_conch_piece"
  done
  [[ -z $_conch_left ]] || _conch_progress_piece "$_conch_left"
}

_conch_progress_piece() {
  builtin local _conch_done='' _conch_message="$1"
  if [[ $1 =~ $_conch_pattern ]]; then
    case $_conch_extract in
      json) _conch_progress_json "$1" ;;
      match1) _conch_done=${BASH_REMATCH[1]-} ;;
      ratio) _conch_done=${BASH_REMATCH[1]-} _conch_total=${BASH_REMATCH[2]-} ;;
    esac
    [[ $_conch_extract == json ]] || _conch_progress_part
    [[ -z $_conch_done ]] || _conch_progress_tell
    builtin return 0
  fi
  _conch_others+=$1$'\n'
  [[ -z $_conch_stderr ]] || builtin printf '%s\n' "$1" 2>/dev/null >>"$_conch_stderr" || builtin :
  [[ -n $_conch_quiet ]] || mcp_log_debug mcp_run_with_progress "$1" || builtin :
}

# Leaves the progress of a line of JSON in _conch_done, if it has one, and its
# message in _conch_message.
_conch_progress_json() {
  builtin local _conch_found='' _conch_type=''
  if _conch_lookup "$1" .progress; then
    _conch_done=$_conch_found
    _conch_lookup "$1" .message
    _conch_message=$_conch_found
    [[ $_conch_type:$_conch_found != bare:null && $_conch_type:$_conch_found != bare:false ]] || _conch_message=''
  else
    _conch_found=$(builtin printf '%s' "$1" |
      "$_conch_binary" jq -r 'objects | "\(.progress) \(.message // "")"' 2>/dev/null) || _conch_found=''
    _conch_done=${_conch_found%% *} _conch_message=${_conch_found#* }
  fi
  _conch_message=${_conch_message:-Working...}
  _conch_is_number "$_conch_done" && [[ $_conch_done != -* ]] || _conch_done=''
}

# Makes a percentage of _conch_done, where it is a part of _conch_total.
_conch_progress_part() {
  if [[ $_conch_extract == match1 && -z $_conch_total ]]; then
    _conch_is_number "$_conch_done" || _conch_done=''
    builtin return 0
  fi
  case $_conch_done:$_conch_total in
    *[!0-9:]* | : | *: | :* | *????????????????*:* | *:*????????????????*) _conch_done='' ;;
    *)
      if ((10#$_conch_total > 0)); then
        _conch_done=$((10#$_conch_done * 100 / 10#$_conch_total))
        ((_conch_done <= 100)) || _conch_done=100
      else
        _conch_done=''
      fi
      ;;
  esac
}

_conch_progress_tell() {
  builtin local _conch_json
  if [[ -z $_conch_dry ]]; then
    mcp_progress "$_conch_done" "$_conch_message" || builtin :
    builtin return 0
  fi
  _conch_json_string "$_conch_message"
  builtin printf '{"progress":%s,"message":%s}\n' "$_conch_done" "$_conch_json" >&2
}
