#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Notes, each a file in one directory and a resource of its own: note:///groceries.
# Clients complete their names, hear when one changes, and make prompts of them.

unset CDPATH # cd would look there as well
notes=${NOTES_DIR:-$(dirname "${BASH_SOURCE[0]}")/notes}
mkdir -p -- "$notes" && cd -P -- "$notes" || exit

# Optional arguments keep these values when a call leaves them out.
arg_length='one sentence'

# How many notes a search finds at most.
max_found=50

# --- Resources --------------------------------------------------------------

resource_index() {
  local name
  names '' | while IFS= read -r name; do
    echo "- [$name](note:///$name)"
  done
}

# What a URI has for {name} is any text at all: %2e%2e%2fsecret is ../secret here.
# Nothing has checked it, as a schema checks the arguments of a tool. Status 3
# says that there is no such resource.
resource_note() {
  is_note "$arg_name" || return 3
  cat -- "$arg_name.md"
}

complete_resource_note_name() { names "$arg_value"; }

# --- Prompts ----------------------------------------------------------------

prompt_summarize() {
  is_note "$arg_name" || return 3
  mcp_emit_resource "note:///$arg_name" "$arg_name.md" text/markdown || return
  echo "Sum this note up in $arg_length."
}

complete_prompt_summarize_name() { names "$arg_value"; }

# --- Tools ------------------------------------------------------------------

tool_find_notes() {
  local name line found=0
  while IFS= read -r name; do
    line=$(grep -m 1 -iF -e "$arg_word" -- "$name.md") || continue
    mcp_emit_link "note:///$name" "$name" text/markdown "$line"
    found=$((found + 1))
    ((found < max_found)) || break
  done < <(names '')
  ((found > 0)) || {
    echo "No note has $arg_word in it."
    return 1
  }
}

tool_add_note() {
  begin_change || return
  [[ ! -e $arg_name.md && ! -L $arg_name.md ]] || {
    echo "There is a note $arg_name already; append_note adds to it."
    return 1
  }
  printf '%s\n' "$arg_text" >.change/note && mv -- .change/note "$arg_name.md" || return
  mcp_resource_updated "note:///$arg_name"
  mcp_resource_updated notes:///index
  mcp_emit_link "note:///$arg_name" "$arg_name" text/markdown
}

tool_append_note() {
  begin_change || return
  is_note "$arg_name" || no_note || return
  cp -p -- "$arg_name.md" .change/note || return
  printf '\n%s\n' "$arg_text" >>.change/note && mv -- .change/note "$arg_name.md" || return
  mcp_resource_updated "note:///$arg_name"
  mcp_emit_link "note:///$arg_name" "$arg_name" text/markdown
}

tool_remove_note() {
  begin_change || return
  is_note "$arg_name" || no_note || return
  rm -f -- "$arg_name.md" || return
  mcp_resource_updated "note:///$arg_name"
  mcp_resource_updated notes:///index
  echo "$arg_name is gone."
}

# --- Files ------------------------------------------------------------------

# Prints the names of the notes that begin with $1.
names() {
  local file
  for file in *.md; do
    [[ $file != "$1"* ]] || ! is_note "${file%.md}" || echo "${file%.md}"
  done
}

# A link is no note: it may lead anywhere.
is_note() { is_name "$1" && [[ -f $1.md && ! -L $1.md ]]; }

# A name has no slash and no dot, so that it leads nowhere, and nothing that has to
# be escaped in a URI. The letters are spelled out, since a range has others in it in
# some languages.
is_name() { [[ -n $1 && ${#1} -le 64 && $1 != -* && $1 != *[!abcdefghijklmnopqrstuvwxyz0123456789-]* ]]; }

no_note() {
  echo "There is no note $arg_name; find_notes finds some."
  return 1
}

# Waits for whoever else changes a note, be it in another server, and has them wait
# until the call ends. What is made in .change is moved to its place in one step:
# who reads a note gets the old one or the new one, and never a part.
begin_change() {
  local tries
  is_name "$arg_name" || { echo 'A name has small letters, digits and dashes.' && return 1; }
  [[ -w . ]] || { echo "This server may not write to $PWD." && return 1; }
  # A change is not to be stopped halfway. A call that still waits looks by itself.
  trap '' TERM
  for ((tries = 0; tries < 500; tries++)); do
    if mkdir .change 2>/dev/null; then
      trap 'rm -rf .change' EXIT
      return 0
    fi
    ! mcp_is_cancelled || return 1
    sleep 0.02
  done
  echo "Others do not finish. If nobody changes notes now, remove $PWD/.change."
  return 1
}
