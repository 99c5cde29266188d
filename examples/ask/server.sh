#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Deploys, once somebody has said that it may. Where a call cannot wait for the
# answer it begins anew when the answer is there: whatever stands before the last
# question may happen twice, so it only looks, and all that acts stands behind.

cd -- "$(dirname "${BASH_SOURCE[0]}")" || exit
deploys=${DEPLOY_LOG:-deploys.log}

reason='{"type":"object","properties":{
  "go":{"type":"boolean","title":"Deploy now?"},
  "reason":{"type":"string","title":"Why?","maxLength":200}},"required":["go"]}'

tool_deploy() {
  local answer='nobody had to be asked'
  if [[ $arg_target == production ]]; then
    answer=$(ask_whether) || {
      echo 'Production needs a yes, and this client cannot ask for one. Deploy to staging, or ask from another client.'
      return 1
    }
    says_yes "$answer" || {
      echo 'It was not deployed: the answer was no.'
      return
    }
  fi
  act "$answer"
}

tool_list_deploys() {
  [[ -s $deploys ]] || {
    echo 'Nothing has been deployed.'
    return
  }
  tail -n 20 -- "$deploys"
}

# The key is the question's name: a client that is asked again knows it by that.
ask_whether() {
  mcp_elicit --key go "Deploy $arg_service $arg_version to production? It is live at once." "$reason"
}

# $1: the answer. Conch has seen to it that one that accepts has a boolean there.
says_yes() { [[ $1 == *'"action":"accept"'* && $1 == *'"go":true'* ]]; }

# The line is written in one piece, whoever else deploys at the time. $1: what
# was answered.
act() {
  mcp_progress 1 "deploying $arg_service" 2
  printf '%s %s %s %s: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$arg_service" "$arg_version" "$arg_target" "$1" >>"$deploys" || return
  mcp_progress 2 'done' 2
  mcp_log_info deploy "$arg_service $arg_version is on $arg_target"
  echo "$arg_service $arg_version is on $arg_target."
}
