#!/usr/bin/env bats
# A server that runs in a subshell touches nothing of the shell around it.

load helpers/common

setup() {
  common_setup
}

@test "123 the shell around keeps its EXIT trap" {
  run core_in 'trap "echo handler" EXIT' \
    '( run_mcp_server </dev/null )' \
    'trap -p EXIT; trap - EXIT'
  assert_success
  assert_output "trap -- 'echo handler' EXIT"
}

# 124: the SDK's own record of being in the loop is not ours; what a script
# sees of it is that its subshell goes on, silently.
@test "124 the subshell goes on behind the loop and nothing was printed" {
  run core_in '( run_mcp_server </dev/null; printf behind )'
  assert_success
  assert_output behind
}
