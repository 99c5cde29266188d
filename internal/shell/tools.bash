# shellcheck shell=bash
# What tools do with JSON and with their arguments, beside runtime.bash: functions
# and nothing else. What needs a parser is asked of conch; what is easily told
# without one is not, since that costs a fork and the start of a program.
#
# Whoever uses it sets _conch_binary, the path of conch, and for each call
# _conch_arguments and _conch_meta, JSON. mcp_fail_invalid_args, mcp_log_debug and
# mcp_progress are elsewhere.
#
# The names are mcp-bash's, and so is what they do. Bash 3.2 is enough, `builtin`
# stands before the builtins, and functions and variables that are not for tools
# begin with _conch_, as in runtime.bash. No option of the script is relied on.
# What is assigned behind `builtin local` is quoted: it is split into words there.
# Where characters are to be told from bytes the locale is C.
#
# shellcheck disable=SC2034 # results are left in variables of the caller
# shellcheck disable=SC2154 # _conch_binary

# --- Making JSON ------------------------------------------------------------

# mcp_json_escape TEXT
#
# Prints a text as a JSON string. Bytes that are no UTF-8 become U+FFFD.
mcp_json_escape() {
  builtin local _conch_json
  _conch_json_string "${1-}"
  builtin printf '%s' "$_conch_json"
}

# mcp_json_obj [NAME TEXT]…
#
# Prints a JSON object of strings. An odd number of arguments is the tool's mistake,
# and ends the shell with status 1.
mcp_json_obj() {
  builtin local _conch_json _conch_object='' _conch_name
  if (($# % 2)); then
    builtin printf 'mcp_json_obj takes names and texts in turns, not %s arguments\n' "$#" >&2
    builtin exit 1
  fi
  while (($#)); do
    _conch_json_string "$1"
    _conch_name=$_conch_json
    _conch_json_string "$2"
    _conch_object+=${_conch_object:+,}$_conch_name:$_conch_json
    builtin shift 2
  done
  builtin printf '{%s}' "$_conch_object"
}

# mcp_json_arr [TEXT]…
#
# Prints a JSON array of strings.
mcp_json_arr() {
  builtin local _conch_json _conch_array=''
  while (($#)); do
    _conch_json_string "$1"
    _conch_array+=${_conch_array:+,}$_conch_json
    builtin shift
  done
  builtin printf '[%s]' "$_conch_array"
}

# mcp_byte_length TEXT
#
# Prints how many bytes a text has.
mcp_byte_length() {
  builtin local LC_ALL=C _conch_text="${1-}"
  builtin printf '%s\n' "${#_conch_text}"
}

# Leaves $1 in _conch_json as a JSON string, as jq writes it. Bytes that are no
# UTF-8 become U+FFFD. Long texts conch escapes faster than Bash does.
_conch_json_string() {
  builtin local LC_ALL=C
  _conch_json=$1
  case $1 in
    *[!\ -~]* | *[\"\\]*) ;;
    *)
      _conch_json=\"$1\"
      builtin return 0
      ;;
  esac
  if ((${#1} > 8192)) || ! _conch_is_utf8 "$1"; then
    _conch_json=$(builtin printf '%s' "$1" | "$_conch_binary" tool json-escape 2>/dev/null) && builtin return 0
    # Nobody can be asked: better without some characters than no JSON.
    _conch_json=${1//[!$'\x01'-$'\x7f']/?}
  fi
  _conch_escape_all
  _conch_json=\"$_conch_json\"
}

# Tells whether a text is UTF-8. Characters are replaced rather than taken out, or
# what was before and behind one could become another. The locale is C.
_conch_is_utf8() {
  builtin local _conch_next=$'[\x80-\xbf]' _conch_left="$1"
  [[ $1 == *[!$'\x01'-$'\x7f']* ]] || builtin return 0
  _conch_left=${_conch_left//[$'\xc2'-$'\xdf']$_conch_next/a}
  _conch_left=${_conch_left//$'\xe0'[$'\xa0'-$'\xbf']$_conch_next/a}
  _conch_left=${_conch_left//$'\xed'[$'\x80'-$'\x9f']$_conch_next/a}
  _conch_left=${_conch_left//[$'\xe1'-$'\xec'$'\xee'$'\xef']$_conch_next$_conch_next/a}
  _conch_left=${_conch_left//$'\xf0'[$'\x90'-$'\xbf']$_conch_next$_conch_next/a}
  _conch_left=${_conch_left//$'\xf4'[$'\x80'-$'\x8f']$_conch_next$_conch_next/a}
  _conch_left=${_conch_left//[$'\xf1'-$'\xf3']$_conch_next$_conch_next$_conch_next/a}
  [[ $_conch_left != *[!$'\x01'-$'\x7f']* ]]
}

# Escapes what has to be in _conch_json, the backslash first.
_conch_escape_all() {
  builtin local _conch_n _conch_from
  _conch_replace \\ \\\\
  _conch_replace '"' '\"'
  [[ $_conch_json == *[[:cntrl:]]* ]] || builtin return 0
  _conch_replace $'\n' '\n'
  _conch_replace $'\t' '\t'
  _conch_replace $'\r' '\r'
  _conch_replace $'\b' '\b'
  _conch_replace $'\f' '\f'
  [[ $_conch_json == *[[:cntrl:]]* ]] || builtin return 0
  for _conch_n in 01 02 03 04 05 06 07 0b 0e 0f 10 11 12 13 14 15 16 17 18 19 \
    1a 1b 1c 1d 1e 1f 7f; do
    builtin printf -v _conch_from '%b' "\\x$_conch_n"
    _conch_replace "$_conch_from" "\\u00$_conch_n"
  done
}

# Puts $2 for each $1 in _conch_json. What ${ // } makes of quotes, \ and & in a
# replacement differs from Bash to Bash.
_conch_replace() {
  [[ $_conch_json == *"$1"* ]] || builtin return 0
  builtin local _conch_left="$_conch_json"
  _conch_json=''
  while [[ $_conch_left == *"$1"* ]]; do
    _conch_json+=${_conch_left%%"$1"*}$2
    _conch_left=${_conch_left#*"$1"}
  done
  _conch_json+=$_conch_left
}

# --- Asking of JSON ---------------------------------------------------------

# mcp_is_valid_json TEXT
#
# Has status 0 if a text is one JSON value in UTF-8, and 1 if not.
mcp_is_valid_json() {
  builtin printf '%s' "${1-}" | "$_conch_binary" tool is-valid-json 2>/dev/null
}

# mcp_json_truncate JSON [MAX] [--array-path PATH]
#
# Takes items from the end of an array until all of the JSON has MAX bytes (10 MiB),
# and prints {"result":…,"truncated":…,"kept":…,"total":…}, or an object with an error
# in place of a result. The array is the JSON itself or its member results, or what
# PATH leads to, such as .data or .hits.items. A MAX that is no number is as good as
# none.
mcp_json_truncate() {
  builtin local _conch_given=0 _conch_text='' _conch_max='' _conch_path=''
  while (($#)); do
    case $1 in
      --array-path)
        _conch_path=${2:--}
        (($# < 2)) || builtin shift
        ;;
      *)
        _conch_given=$((_conch_given + 1))
        case $_conch_given in 1) _conch_text=$1 ;; 2) _conch_max=$1 ;; esac
        ;;
    esac
    builtin shift
  done
  case $_conch_max in '' | *[!0-9]*) _conch_max=10485760 ;; esac
  builtin printf '%s' "$_conch_text" |
    "$_conch_binary" tool json-truncate --array-path="$_conch_path" "$_conch_max"
}

# mcp_extract_cli_error STDOUT STDERR STATUS
#
# Prints what a command that failed had to say: the message in the JSON that it
# printed, or its standard error, or, where it said nothing, its status.
mcp_extract_cli_error() {
  builtin local _conch_text=''
  case ${1-} in
    *[\{]*)
      _conch_text=$(builtin printf '%s' "$1" | "$_conch_binary" jq -rs 'select(length == 1)[0] | first(
        (.error | objects.message | values),
        (.error | strings),
        (select(.success == false or .ok == false or .status == "error").message | values),
        (.errors | arrays[0] | objects.message | values))' 2>/dev/null) || _conch_text=''
      ;;
  esac
  [[ -n $_conch_text ]] || _conch_text=${2-}
  [[ -n $_conch_text ]] || _conch_text="CLI exited with code ${3-}"
  builtin printf '%s' "$_conch_text"
}

# --- What the call was given ------------------------------------------------

# mcp_args_raw
# mcp_meta_raw
#
# Prints the call's arguments, or the _meta of its request: JSON.
mcp_args_raw() { builtin printf '%s' "${_conch_arguments:-$(_conch_nothing)}"; }
mcp_meta_raw() { builtin printf '%s' "${_conch_meta:-$(_conch_nothing)}"; }

# Bash 3.2 takes a brace within ${ :- } for its end.
_conch_nothing() { builtin printf '{}'; }

# mcp_args_get FILTER
# mcp_meta_get FILTER
#
# Prints what a jq filter makes of them, as jq -rc does. A filter that fails does so
# in silence, as in mcp-bash: what a call says on standard error may be part of its
# output.
#
# Status: that of conch jq: 0, 3 where the filter is wrong, 5 where it raises an
# error.
mcp_args_get() { _conch_get "${_conch_arguments:-$(_conch_nothing)}" "${1-}"; }
mcp_meta_get() { _conch_get "${_conch_meta:-$(_conch_nothing)}" "${1-}"; }

_conch_get() {
  builtin local _conch_found='' _conch_type=''
  if ! _conch_lookup "$1" "${2%' // empty'}"; then
    builtin printf '%s' "$1" | "$_conch_binary" jq -rc -- "$2" 2>/dev/null
    builtin return
  fi
  if [[ $2 == *' // empty' ]]; then
    case $_conch_type:$_conch_found in
      none: | bare:null | bare:false) builtin return 0 ;;
    esac
  fi
  [[ $_conch_type != none ]] || _conch_found=null
  builtin printf '%s\n' "$_conch_found"
}

# mcp_args_require POINTER [MESSAGE]
#
# Prints an argument that has to be there. POINTER is its name, such as max-width, or
# a jq filter that leads to it, such as .size.width. Where there is none, or it is null
# or empty, the shell ends with status 1, and the call with the error -32602 and
# MESSAGE; within $( ) add || exit, or the tool goes on. So do the next two.
mcp_args_require() {
  builtin local _conch_value=''
  _conch_argument "${1-}" || _conch_refuse "${2:-${1-} is required}"
  builtin printf '%s' "$_conch_value"
}

# mcp_args_bool POINTER [--default true|false]
#
# Prints true or false. 1 and 0 are taken for them.
mcp_args_bool() {
  builtin local _conch_value='' _conch_pointer="${1-}"
  _conch_argument "$_conch_pointer" || case ${2-} in
    --default) _conch_value=${3-} ;;
    *) _conch_refuse "$_conch_pointer is required" ;;
  esac
  case $_conch_value in
    true | 1) builtin printf 'true' ;;
    false | 0 | '') builtin printf 'false' ;;
    *) _conch_refuse "$_conch_pointer must be true or false" ;;
  esac
}

# mcp_args_int POINTER [--min N] [--max N] [--default N]
#
# Prints an integer as Bash counts with it: 2.0 and 2e0 are 2. One of more than 64
# bits is none.
mcp_args_int() {
  builtin local _conch_value='' _conch_min='' _conch_max='' _conch_default='' _conch_pointer="${1-}"
  while (($# > 1)); do
    case $2 in
      --min) _conch_min=${3-} ;;
      --max) _conch_max=${3-} ;;
      --default) _conch_default=${3-} ;;
    esac
    builtin shift
  done
  _conch_bound --min "$_conch_min"
  _conch_bound --max "$_conch_max"
  _conch_argument "$_conch_pointer" || _conch_value=$_conch_default
  [[ -n $_conch_value ]] || _conch_refuse "$_conch_pointer is required"
  _conch_integer "$_conch_value" || _conch_refuse "$_conch_pointer must be an integer"
  _conch_compare -ge "$_conch_min" ">="
  _conch_compare -le "$_conch_max" "<="
  builtin printf '%s' "$_conch_value"
}

_conch_compare() {
  [[ -z $2 ]] || builtin [ "$_conch_value" "$1" "$2" ] || _conch_refuse "$_conch_pointer must be $3 $2"
}

# A bound that is no number would bound nothing.
_conch_bound() {
  builtin local _conch_value=''
  [[ -z $2 ]] || _conch_integer "$2" || _conch_refuse "mcp_args_int: $1 must be an integer"
}

_conch_refuse() {
  mcp_fail_invalid_args "$1"
  builtin exit 1
}

# Leaves an argument in _conch_value as text. Fails for one that is not there, is
# null or empty, or that the filter does not lead to.
_conch_argument() {
  builtin local _conch_found='' _conch_type='' _conch_filter="$1"
  builtin local _conch_json="${_conch_arguments:-$(_conch_nothing)}"
  case $1 in
    '' | [0-9]* | *[!A-Za-z0-9_.:-]* | .* | *.) ;;
    *[!A-Za-z0-9_]*) _conch_filter=".[\"$1\"]" ;;
    *) _conch_filter=.$1 ;;
  esac
  if _conch_lookup "$_conch_json" "$_conch_filter"; then
    [[ $_conch_type:$_conch_found == bare:null ]] || _conch_value=$_conch_found
  else
    # A newline ends a comment of the filter.
    _conch_value=$(builtin printf '%s' "$_conch_json" |
      "$_conch_binary" jq -rc -- "($_conch_filter"$'\n'') | values' 2>/dev/null) || _conch_value=''
  fi
  [[ -n $_conch_value ]]
}

# Leaves an integer in _conch_value as Bash counts with it. JSON has 2.0 and 2e0 for
# 2 as well. Fails for what is none, or has more than 64 bits.
_conch_integer() {
  builtin local LC_ALL=C _conch_sign='' _conch_digits="$1" _conch_most=9223372036854775807
  [[ $1 != *[0-9][eE]* ]] || _conch_digits=$(_conch_written_out "$1") || builtin return 1
  case $_conch_digits in
    -*) _conch_sign=- _conch_digits=${_conch_digits#-} _conch_most=9223372036854775808 ;;
  esac
  case $_conch_digits in
    *.*[!0]* | *.) builtin return 1 ;;
    *.*) _conch_digits=${_conch_digits%%.*} ;;
  esac
  [[ -n $_conch_digits && $_conch_digits != *[!0-9]* ]] || builtin return 1
  while [[ $_conch_digits == 0?* ]]; do _conch_digits=${_conch_digits#0}; done
  # As texts of one length: as numbers they might have too many bits.
  # shellcheck disable=SC2071
  if ((${#_conch_digits} > ${#_conch_most})) ||
    [[ ${#_conch_digits} -eq ${#_conch_most} && $_conch_digits > $_conch_most ]]; then
    builtin return 1
  fi
  [[ $_conch_digits != 0 ]] || _conch_sign=''
  _conch_value=$_conch_sign$_conch_digits
}

# Prints an integer that JSON has with an exponent, or nothing.
_conch_written_out() {
  # shellcheck disable=SC2016 # it is jq's $n
  "$_conch_binary" jq -n --argjson n "$1" '$n | select(. == floor) | floor' 2>/dev/null
}

# --- Looking into JSON without a parser -------------------------------------

# Most arguments are few scalars, and most filters a name. Leaves in _conch_type
# and _conch_found what the filter .name finds in such an object: a string's text,
# a bare value as it is written, or none. Fails where it takes a parser: for other
# filters, escapes, white space but blanks, objects and arrays within, much text,
# and what is no JSON.
_conch_lookup() {
  builtin local LC_ALL=C _conch_rest="$1" _conch_item='' _conch_kind_of=''
  case ${2#.} in "$2" | '' | [0-9]* | *[!A-Za-z0-9_]*) builtin return 1 ;; esac
  if [[ $1 == *[\\[:cntrl:]]* ]] || ((${#1} > 4096)); then builtin return 1; fi
  _conch_type=none _conch_found=''
  _conch_after '{' || builtin return 1
  if ! _conch_after '}'; then
    _conch_member "${2#.}" || builtin return 1
    while ! _conch_after '}'; do
      _conch_after , && _conch_member "${2#.}" || builtin return 1
    done
  fi
  [[ -z $_conch_rest ]]
}

# Takes a member off _conch_rest, and notes its value if its name is $1.
_conch_member() {
  builtin local _conch_name
  _conch_scalar && [[ $_conch_kind_of == string ]] && _conch_after : || builtin return 1
  _conch_name=$_conch_item
  _conch_scalar || builtin return 1
  # Not by [[, to which E and e may be the same (nocasematch).
  if builtin [ "$_conch_name" = "$1" ]; then
    _conch_type=$_conch_kind_of _conch_found=$_conch_item
  fi
}
# Passes over blanks, the character $1, and blanks.
_conch_after() {
  _conch_rest=${_conch_rest#"${_conch_rest%%[! ]*}"}
  [[ $_conch_rest == "$1"* ]] || builtin return 1
  _conch_rest=${_conch_rest#?}
  _conch_rest=${_conch_rest#"${_conch_rest%%[! ]*}"}
}

# Takes a scalar off _conch_rest into _conch_item, its kind into _conch_kind_of.
_conch_scalar() {
  case $_conch_rest in
    '"'*'"'*)
      _conch_kind_of=string _conch_rest=${_conch_rest#?}
      _conch_item=${_conch_rest%%\"*}
      _conch_rest=${_conch_rest#*\"}
      ;;
    *)
      _conch_kind_of=bare _conch_item=${_conch_rest%%[ ,\}]*}
      _conch_rest=${_conch_rest#"$_conch_item"}
      case $_conch_item in
        true | false | null) ;;
        *) _conch_is_number "$_conch_item" ;;
      esac
      ;;
  esac
}

_conch_is_number() {
  builtin local _conch_number='^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$'
  [[ $1 =~ $_conch_number ]]
}
