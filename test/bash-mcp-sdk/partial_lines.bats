#!/usr/bin/env bats
# Lines that come in pieces, and the end of the input, while a tool runs and
# just after: the cases of cancellation that cancel nothing.

load helpers/common
load helpers/client
load helpers/slow

setup() { common_setup && slow_setup; }

@test "81 a line that comes in pieces during a call is one" {
  begin 801 slow
  send_part "$(half_ping 802)"
  refute_response 802 1
  send 'ng"}'
  release
  assert_slow_done 801
  assert_ping 802
  assert_stdout_count 0 '"error"'
}

@test "82 the end of the input lets the call finish and ends the server" {
  begin 901 slow
  close_input
  refute_response 901 1
  release
  assert_slow_done 901
  assert_ended
}

@test "83 at the end of the input complete lines are answered and a piece is not" {
  begin 911 slow
  send "$(ping_line 912)"
  send_part "$(half_ping 913)"
  close_input
  refute_response 911 1
  release
  assert_slow_done 911
  assert_ping 912
  assert_ended
  refute_response 913 0
  assert_logged "$DISCARDED" 1
  refute_logged 913
}

@test "84 at the end of the input in mid-call a last line needs no newline" {
  begin 1201 slow
  send_part "$(ping_line 1202)"
  close_input
  refute_response 1201 1
  release
  assert_slow_done 1201
  assert_ping 1202
  assert_ended
  refute_logged "$DISCARDED"
}

@test "85 at the end of the input after a call a last line needs no newline" {
  begin 1211 slow
  send_part "$(ping_line 1212)"
  release
  assert_slow_done 1211
  assert_handed_out 1211
  close_input
  assert_ping 1212
  assert_ended
  refute_logged "$DISCARDED"
}

@test "86 a piece of a line at the end of the input in mid-call is dropped unseen" {
  begin 921 slow
  send_part "$(half_ping 922)"
  close_input
  refute_response 921 1
  release
  assert_slow_done 921
  assert_ended
  refute_response 922 0
  assert_logged "$DISCARDED" 1
  refute_logged 922
}

@test "87 a call is answered while the next line is half written" {
  begin 931 slow
  send_part "$(half_ping 932)"
  release
  assert_slow_done 931
  assert_handed_out 931
  send 'ng"}'
  assert_ping 932
  response_order 931 932
}

@test "88 a piece of a line at the end of the input after a call is dropped unseen" {
  begin 941 slow
  send_part "$(half_ping 942)"
  release
  assert_slow_done 941
  assert_handed_out 941
  close_input
  assert_ended
  assert_logged "$DISCARDED" 1
  refute_logged 'during tools/call'
  refute_logged 942
}

@test "89 two pieces that do not make a line are dropped" {
  begin 951 slow
  send_part "$(half_ping 952)"
  release
  assert_slow_done 951
  assert_handed_out 951
  send_part 'ng'
  close_input
  assert_ended
  refute_response 952 0
  assert_logged "$DISCARDED" 1
  assert_stdout_count 0 '"error"'
}

@test "90 two pieces that make a request are answered without a newline" {
  begin 961 slow
  send_part "$(half_ping 962)"
  release
  assert_slow_done 961
  assert_handed_out 961
  send_part 'ng"}'
  close_input
  assert_ping 962
  assert_ended
  refute_logged "$DISCARDED"
  assert_stdout_count 0 '"error"'
}

@test "91 false without a newline after a call is answered like a line" {
  begin 1221 slow
  send_part false
  release
  assert_slow_done 1221
  assert_handed_out 1221
  close_input
  assert_ended
  assert_stdout_count 1 "$NULL_ID"
  refute_logged "$DISCARDED"
}

@test "92 false without a newline in mid-call is answered like a line" {
  begin 1231 slow
  send_part false
  close_input
  refute_response 1231 1
  release
  assert_slow_done 1231
  assert_ended
  assert_stdout_count 1 "$NULL_ID"
  refute_logged "$DISCARDED"
}

@test "93 blanks without a newline are answered like a line" {
  begin 1241 slow
  send_part '   '
  release
  assert_slow_done 1241
  assert_handed_out 1241
  close_input
  assert_ended
  assert_stdout_count 1 '"id":null,"error":{"code":-32700'
  refute_logged "$DISCARDED"
}
