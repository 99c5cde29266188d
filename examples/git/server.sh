#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Reads git repositories below one folder. Two parties are not trusted: whoever
# calls, and whoever made the repository, whose configuration can name programs
# for git to run and folders for it to look at.

unset CDPATH # cd would look there as well
cd -P -- "${GIT_ROOT:-.}" || exit
root=$PWD

# What git prints beyond this many bytes is cut off.
limit=65536
truncated=false

# Optional arguments keep these values when a call leaves them out.
arg_repo=.
arg_path=''
arg_author=''
arg_since=''
arg_max_count=10

# A server that was started by a git hook has GIT_DIR and the like.
# shellcheck disable=SC2046 # names of variables
unset $(git rev-parse --local-env-vars)

# No system-wide configuration, no questions, no writing, and no fetching of
# objects that a partial clone has left out.
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none

# What disarms filters below; an older git would silently run them.
if [[ $(GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=probe.it GIT_CONFIG_VALUE_0=yes git config probe.it) != yes ]]; then
  echo 'This server needs git 2.31 or later.' >&2
  exit 1
fi

tool_git_log() {
  local options
  no_options "$arg_repo" "$arg_path" "$arg_author" "$arg_since" || return
  digits_only max_count "$arg_max_count" || return
  enter_repo || return
  options=(--max-count="$arg_max_count")
  [[ -z $arg_author ]] || options+=(--fixed-strings --regexp-ignore-case --author="$arg_author")
  # To git a day without a time is that day at the present time.
  [[ -z $arg_since ]] || options+=(--since="$arg_since 00:00:00")
  read_commits %s "${options[@]}" -- ${arg_path:+"$arg_path"} || return
  printf '{"commits":['
  print_commits subject
  printf '],"truncated":%s}\n' "$truncated"
}

tool_git_status() {
  local branch change separator=''
  no_options "$arg_repo" || return
  enter_repo || return
  # A submodule has filters of its own, which nothing here disarms.
  run_git status --porcelain=v1 -z --branch --no-renames --untracked-files=normal --ignore-submodules=all || return
  {
    IFS= read -r -d '' branch
    printf '{"branch":'
    mcp_json_escape "${branch#\#\# }"
    printf ',"changes":['
    while IFS= read -r -d '' change; do
      printf '%s' "$separator"
      mcp_json_obj status "${change:0:2}" path "${change:3}"
      separator=,
    done
  } <"$MCP_CALL_TMPDIR/out"
  printf '],"truncated":%s}\n' "$truncated"
}

tool_git_show() {
  local commit
  no_options "$arg_repo" "$arg_rev" "$arg_path" || return
  enter_repo || return
  # From here on git gets the hash, which can be nothing else.
  commit=$(safe_git rev-parse --verify --quiet --end-of-options "$arg_rev^{commit}") || {
    echo "There is no commit $arg_rev; git_log lists commits."
    return 1
  }
  read_commits %B --max-count=1 "$commit" -- || return
  printf '{"commit":'
  print_commits message
  run_git show --format= --no-color --no-ext-diff --no-textconv --submodule=short \
    "$commit" -- ${arg_path:+"$arg_path"} || return
  printf ',"patch":'
  mcp_json_escape "$(tr -d '\000' <"$MCP_CALL_TMPDIR/out")"
  printf ',"truncated":%s}\n' "$truncated"
}

# The schema refuses these values too. A schema is soon edited, though, and one
# option of git's is enough to write a file or to run a program.
no_options() {
  local value
  for value; do
    [[ $value != -* ]] || {
      echo "$value begins with a dash, as only options of git do; leave it out."
      return 1
    }
  done
}

# Bash and git count with digits alone, while JSON may write 2 as 2.0 too.
digits_only() {
  [[ $2 == *[!0-9]* ]] || return 0
  echo "Write $1 in digits alone, not as $2."
  return 1
}

# Goes to the folder $arg_repo. It is in a repository, all of which is below the
# root: .git may be a link or a file that names another folder, and core.worktree
# may name one as well.
enter_repo() {
  local place
  { cd -P -- "$root/$arg_repo" 2>/dev/null && inside "$PWD"; } || {
    echo "There is no folder $arg_repo below the root; repo is a path from there, such as project."
    return 1
  }
  run_git rev-parse --path-format=absolute --show-toplevel --git-dir --git-common-dir || {
    echo "If $arg_repo is no repository, name one with repo, a path from the root (GIT_ROOT), such as project."
    return 1
  }
  while IFS= read -r place; do
    inside "$place" || {
      echo "The repository that $arg_repo belongs to is not wholly below the root, which is GIT_ROOT."
      return 1
    }
  done <"$MCP_CALL_TMPDIR/out"
  disarm_filters
}

inside() {
  [[ $1/ == "${root%/}"/* ]]
}

# To see whether a file has changed, git status runs the filter that the
# repository has for it. An empty command is none. This goes by environment: with
# -c a name that holds a = would be taken for another.
disarm_filters() {
  local name count=0
  while IFS= read -r -d '' name; do
    export "GIT_CONFIG_KEY_$count=$name" "GIT_CONFIG_VALUE_$count="
    count=$((count + 1))
  done < <(safe_git config --null --name-only --get-regexp '^filter\.')
  export GIT_CONFIG_COUNT=$count
}

# Has git run no program that a configuration names, and take paths as they are
# written.
safe_git() {
  git --no-pager --literal-pathspecs -c core.fsmonitor=false -c core.hooksPath=/dev/null \
    -c core.pager=cat -c diff.external= -c log.showSignature=false "$@"
}

# Leaves what git prints in $MCP_CALL_TMPDIR/out, and says what is wrong.
run_git() {
  local status
  safe_git "$@" 2>"$MCP_CALL_TMPDIR/err" | head -c "$((limit + 1))" >"$MCP_CALL_TMPDIR/full"
  status=${PIPESTATUS[0]}
  if (($(wc -c <"$MCP_CALL_TMPDIR/full") > limit)); then
    truncated=true
  elif ((status != 0)); then
    head -c 1000 "$MCP_CALL_TMPDIR/err"
    return 1
  fi
  head -c "$limit" "$MCP_CALL_TMPDIR/full" >"$MCP_CALL_TMPDIR/out"
}

# Has git log find commits. $1 is the format of the last of five fields; NUL is
# behind each, and in none of them.
read_commits() {
  local text=$1
  shift
  run_git log -z --encoding=UTF-8 --format="%H%x00%an%x00%ae%x00%aI%x00$text" "$@"
}

# Prints the commits that were found as JSON, with the last field as $1. That one
# is shown though it is cut off; a commit with less is not.
print_commits() {
  local hash author email date text separator=''
  while IFS= read -r -d '' hash && IFS= read -r -d '' author && IFS= read -r -d '' email &&
    IFS= read -r -d '' date && { IFS= read -r -d '' text || [[ -n $text ]]; }; do
    printf '%s' "$separator"
    mcp_json_obj commit "$hash" author "$author" email "$email" date "$date" "$1" "$text"
    separator=,
  done <"$MCP_CALL_TMPDIR/out"
}
