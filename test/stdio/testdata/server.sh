# shellcheck shell=bash
# The server most tests of this suite talk to. What a test is to see or to
# decide while a call runs goes through files beside the script.

here=${BASH_SOURCE[0]%/*}
# Conch sets it for each call.
arg_name=''

tool_echo() { printf '%s' "$1"; }

# Says that it has begun, then waits for a line in the FIFO "gate".
tool_gate() {
  local line
  : >"$here/$arg_name.began"
  read -r line <"$here/gate"
  printf 'through %s' "$arg_name$line"
}

# Leaves its process id behind, then stays for good.
tool_stay() {
  printf '%s\n' "$BASHPID" >"$here/$arg_name.tmp"
  mv "$here/$arg_name.tmp" "$here/$arg_name.pid"
  exec sleep 1000
}

# As tool_stay, deaf to a polite request to end.
tool_stubborn() {
  trap '' TERM
  tool_stay
}

tool_touch() { : >"$here/$arg_name.touched"; }

tool_fail() {
  echo 'it went wrong'
  return 3
}
