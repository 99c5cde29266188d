#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # conch sets the argc_ variables

# Shows the files of the client's roots, the folders that somebody has open there, and
# nothing else: mcp_require_path follows a path to its end, and ends the call where that
# is in no root.

# @describe Lists, reads and searches files, and changes nothing
# @meta version 0.1.0
# @meta readonly

# How much one answer may show: names, lines, bytes.
max_names=1000
max_lines=200
max_bytes=65536

unset CDPATH # cd would look there as well

# @cmd List the names in a folder, a line each; those of folders end in a slash
# @option --path <DIR>  The folder; it may be left out where there is one root
list_files() {
  local path names
  path=$(reach path --default-to-single-root) || exit
  names=$(ls -Ap -- "$path") || return
  [[ -n $names ]] || { echo 'The folder is empty.' && return; }
  shorten "$max_names" <<<"$names"
}

# @cmd Read a text file, or a part of it
# @option --path! <FILE>    The file
# @option --offset=0 <INT>  How many bytes to leave out at its beginning
# @schema offset { "type": "integer", "minimum": 0, "maximum": 1000000000000 }
read_file() {
  local path size end
  path=$(reach path) || exit
  # To open a FIFO is to wait for its writer, and a device may do anything.
  [[ -f $path && -r $path ]] || {
    echo "$path is no file that can be read; list_files shows what there is."
    return 1
  }
  size=$(wc -c <"$path") || return
  end=$((argc_offset + max_bytes))
  # Of files that are not text, too, nothing but text is shown.
  tail -c "+$((argc_offset + 1))" -- "$path" | head -c "$max_bytes" | tr -d '\000'
  ((size <= end)) || printf '\n[there is more: go on at offset %s of %s]\n' "$end" "$((size))"
}

# @cmd Find the lines of text files that have a text in them
# @option --text! <TEXT>        The text, as it is
# @option --path <DIR>          The folder to look in, and below; it may be left out where there is one root
# @option --name='*' <PATTERN>  Only files whose names match, such as *.md
# @flag --ignore-case           Take small and capital letters for the same
# @schema text { "type": "string", "minLength": 1 }
# @meta timeout 60
search_files() {
  local path
  path=$(reach path --default-to-single-root) || exit
  # The path has no links in it and find follows none, and so stays below it.
  find "$path" -name .git -prune -o -type f -name "$argc_name" \
    -exec grep -HInF ${argc_ignore_case:+-i} -e "$argc_text" -- {} + | shorten "$max_lines"
  (($(wc -c <"$MCP_CALL_TMPDIR/shown"))) || echo 'No line has that text in it.'
}

# Prints where the path in the argument $1 leads. One that is relative begins at the
# first root.
reach() {
  local root
  root=$(mcp_roots_list | head -n 1)
  cd -- "${root:-/}" 2>/dev/null || cd /
  mcp_require_path "$@"
}

# Prints the first $1 lines of what it reads, within max_bytes, and says if there are more.
shorten() {
  local shown=$MCP_CALL_TMPDIR/shown
  head -n "$(($1 + 1))" | head -c "$((max_bytes + 1))" >"$shown"
  head -n "$1" "$shown" | head -c "$max_bytes"
  (($(wc -l <"$shown") <= $1 && $(wc -c <"$shown") <= max_bytes)) || echo '[there is more; ask for less of it]'
}
