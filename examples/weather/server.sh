#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# The weather, from a service on the web that wants a key. It speaks JSON or CSV,
# and here CSV is asked for, with the few columns that are wanted: a model reads
# a small table as it is, so there is nothing to parse, only something to check.

export LC_ALL=C
url=${WEATHER_URL:-https://weather.visualcrossing.com/VisualCrossingWebServices/rest/services/timelinemulti}
seconds=${WEATHER_TIMEOUT:-10}
max_bytes=20480

# What a call starts does not inherit the key.
api_key=${WEATHER_API_KEY:-}
unset WEATHER_API_KEY

tool_weather_now() {
  show_weather 1 include=current elements=datetime,temp,feelslike,humidity,windspeed,icon
}

tool_weather_forecast() {
  digits_only days "$arg_days" || return
  show_weather "$arg_days" include=days elements=datetime,tempmin,tempmax,precipprob,windspeed,icon
}

# Prints the first $1 rows of the table that the service has for the other
# arguments, parameters of the request.
show_weather() {
  local rows=$1 scheme http_status
  shift
  check_url || return
  check_key || return
  fetch "$@" || {
    explain_curl $?
    return 1
  }
  [[ $http_status == 2?? ]] || {
    explain_status
    return 1
  }
  print_table "$rows"
}

# Sets scheme, the only one that curl may use. Without TLS the key would be on
# the wire for all to read.
check_url() {
  local loopback='^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/|$)'
  if [[ $url == https://* ]]; then
    scheme=https
  elif [[ $url =~ $loopback ]]; then
    scheme=http
  else
    echo 'WEATHER_URL has to begin with https://, or to be on this machine. Whoever runs this server can change it.'
    return 1
  fi
}

check_key() {
  [[ -n $api_key ]] || {
    echo 'There is no key for the weather service. Whoever runs this server has to set WEATHER_API_KEY.'
    return 1
  }
  # It is written between quotes below.
  [[ $api_key != *[!A-Za-z0-9._~-]* ]] || {
    echo 'WEATHER_API_KEY holds a character that is in no key, such as a blank or a quote.'
    return 1
  }
}

# Leaves the answer in $MCP_CALL_TMPDIR/body and its status in http_status; its
# own status is curl's. The key goes through standard input, since everybody on
# the machine can read a command line.
fetch() {
  local parameter options=()
  for parameter in "locations=$arg_city" unitGroup=metric contentType=csv "$@"; do
    options+=(--data-urlencode "$parameter")
  done
  : >"$MCP_CALL_TMPDIR/body"
  http_status=$(
    # Before 8.4, --max-filesize overlooks a body that does not tell its size. The
    # system's limit holds for any: the write fails.
    trap '' XFSZ
    ulimit -f "$((max_bytes / 1024))"
    printf 'data-urlencode = "key=%s"\n' "$api_key" |
      curl --disable --silent --globoff --proto "=$scheme" --max-time "$seconds" --max-filesize "$max_bytes" \
        --config - --get "${options[@]}" --output "$MCP_CALL_TMPDIR/body" --write-out '%{http_code}' --url "$url"
  )
}

explain_curl() {
  case $1 in
    6) echo "The weather service's name cannot be resolved; the machine may be offline." ;;
    7) echo 'The weather service does not accept connections.' ;;
    18 | 52 | 56) echo 'The weather service broke off its answer. Try again.' ;;
    23 | 63) echo "The weather service sent more than $max_bytes bytes, which is no weather." ;;
    28) echo "The weather service did not answer within $seconds seconds. Try again later." ;;
    35 | 51 | 58 | 60) echo 'There is no secure connection to the weather service: its certificate, or the TLS, is wrong.' ;;
    127) echo 'curl is not installed. Whoever runs this server has to install it.' ;;
    *) echo "curl failed with status $1, see EXIT CODES in its manual." ;;
  esac
}

explain_status() {
  case $http_status in
    3??) echo "The weather service answered with a redirect ($http_status), and those are not followed." ;;
    400 | 404) echo "The weather service does not know $arg_city ($http_status): $(reason)" ;;
    401 | 403) echo "The weather service refused the key in WEATHER_API_KEY ($http_status): $(reason)" ;;
    429) echo "The weather service has had too many requests ($http_status). Try again later." ;;
    *) echo "The weather service failed with status $http_status: $(reason)" ;;
  esac
}

# The beginning of what a service says of an error. Some repeat the key in it.
reason() {
  local text
  text=$(tr -cd '[:print:]' <"$MCP_CALL_TMPDIR/body")
  text=${text//"$api_key"/(the key)}
  echo "${text:0:200}"
}

# Prints the heading and at most $1 rows, if it is a table: all lines are as wide
# as the heading, and hold nothing but numbers, dates and the names of icons.
print_table() {
  local table line heading
  table=$(tr -d '\r\000' <"$MCP_CALL_TMPDIR/body" | head -n "$(($1 + 1))")
  heading=${table%%$'\n'*}
  [[ ,$heading, == *,datetime,* && $table == *$'\n'* ]] || not_a_table || return
  while IFS= read -r line; do
    [[ ${line//[!,]/} == "${heading//[!,]/}" && $line != *[!a-zA-Z0-9,.:\ +-]* ]] || not_a_table || return
  done <<<"$table"
  echo "$table"
}

not_a_table() {
  echo 'The weather service answered with something other than the table it was asked for. Try again later.'
  return 1
}

# Bash counts with digits alone, while JSON may write the integer 2 as 2.0 too.
digits_only() {
  [[ $2 == *[!0-9]* ]] || return 0
  echo "Write $1 in digits alone, not as $2."
  return 1
}
