#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# Reads the history of a Git repository. Arguments come from a model, and so they stand
# behind -- or are judged before git sees them; and a repository may be anybody's, so
# no program that its configuration names is run.

# @describe Reads the history of a Git repository, and changes nothing
# @meta version 0.1.0
# @meta require-tools git
# @meta readonly
# @option --repo <DIR>  The folder of the repository, an absolute path in one of the client's roots; it may be left out where there is one root

# How much of what git says is shown, in bytes.
max_bytes=60000

# Nothing is fetched, asked or written, and paths are no patterns.
export GIT_ALLOW_PROTOCOL=none GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_LITERAL_PATHSPECS=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE CDPATH

# These count more than what a repository's configuration says, and so do the options.
export GIT_CONFIG_COUNT=3
export GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false
export GIT_CONFIG_KEY_1=log.showSignature GIT_CONFIG_VALUE_1=false
export GIT_CONFIG_KEY_2=color.ui GIT_CONFIG_VALUE_2=false
harmless=(--no-ext-diff --no-textconv --submodule=short)

# A tool fails where git does, whatever is made of what it says.
set -o pipefail

# @cmd List commits, the newest first
# @option --rev=HEAD <REV>  Where to begin: a branch, a tag or a hash
# @option --count=20 <INT>  How many to list
# @option --path <PATH>     Only commits that changed this file or folder, a path in the repository
# @schema count { "type": "integer", "minimum": 1, "maximum": 200 }
git_log() {
  local commit
  enter_repository || return
  commit=$(commit_of "$argc_rev") || return
  git log --max-count="$argc_count" --format='%h %as %an: %s' "$commit" -- ${argc_path:+"$argc_path"} | shorten
}

# @cmd Show a commit: its author, its message, and what it changed
# @option --rev=HEAD <REV>  A branch, a tag or a hash
# @option --path <PATH>     Only changes of this file or folder, a path in the repository
git_show() {
  local commit
  enter_repository || return
  commit=$(commit_of "$argc_rev") || return
  git show --stat --patch "${harmless[@]}" "$commit" -- ${argc_path:+"$argc_path"} | shorten
}

# @cmd Show what differs between two commits
# @option --from! <REV>    The older: a branch, a tag or a hash
# @option --to=HEAD <REV>  The newer
# @option --path <PATH>    Only changes of this file or folder, a path in the repository
git_diff() {
  local from to
  enter_repository || return
  from=$(commit_of "$argc_from") || return
  to=$(commit_of "$argc_to") || return
  git diff "${harmless[@]}" "$from" "$to" -- ${argc_path:+"$argc_path"} | shorten
}

# @cmd Find the lines of a commit's files that have a text in them
# @option --text! <TEXT>    The text, as it is
# @option --rev=HEAD <REV>  A branch, a tag or a hash
# @option --path <PATH>     Only lines of this file or folder, a path in the repository
git_grep() {
  local commit
  enter_repository || return
  commit=$(commit_of "$argc_rev") || return
  git grep --line-number -I --fixed-strings --no-recurse-submodules \
    -e "$argc_text" "$commit" -- ${argc_path:+"$argc_path"} | shorten && return
  # So git says that there is none.
  (($? == 1)) && echo 'No line has that text in it.'
}

# Goes to the repository, which has to be in the roots with all that belongs to it: .git
# may be a file that names another place.
enter_repository() {
  local repo places place
  repo=$(mcp_require_path repo --default-to-single-root) || exit
  cd -- "$repo" || return
  places=$(git rev-parse --path-format=absolute --show-toplevel --git-common-dir) || return
  while IFS= read -r place; do
    mcp_roots_contains "$place" || {
      echo "The repository of $repo goes beyond the roots: $place is in none of them."
      return 1
    }
  done <<<"$places"
}

# Prints the hash of the commit that $1 stands for, which can be no option.
commit_of() {
  git rev-parse --verify --quiet --end-of-options "$1^{commit}" || {
    echo "There is no commit $1; git_log lists some." >&2
    return 1
  }
}

# Prints the beginning of what it reads.
shorten() {
  local said=$MCP_CALL_TMPDIR/said
  head -c "$((max_bytes + 1))" >"$said"
  # Whoever writes would take an early end for a failure.
  cat >/dev/null
  head -c "$max_bytes" "$said"
  (($(wc -c <"$said") <= max_bytes)) || printf '\n[there is more; ask for less of it, such as one path]\n'
}
