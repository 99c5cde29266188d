#!/usr/bin/env bats
# create_error_response, which scripts call for errors of their own.

load helpers/common

setup() {
  common_setup
  source_core
}

# responds LINE ARGUMENT… wants that line for these arguments.
responds() {
  run create_error_response "${@:2}"
  assert_success
  assert_output "$1"
}

@test "108 an error without data has no such member" {
  responds '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}' \
    1 -32602 'Invalid params'
}

@test "109 empty data is no data" {
  responds '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}' \
    1 -32602 'Invalid params' ''
}

@test "110 an object is carried as data" {
  responds '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"param":"age"}}}' \
    1 -32602 'Invalid params' '{"param":"age"}'
}

@test "111 a string is carried as data" {
  responds '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":"details"}}' \
    1 -32602 'Invalid params' '"details"'
}

@test "112 data that is no JSON fails and prints no response" {
  run --separate-stderr create_error_response 1 -32602 'Invalid params' '{not json'
  assert_failure
  assert_output ''
}
