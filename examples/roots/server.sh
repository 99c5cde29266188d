#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Reads text files, and only those below the roots: the directories that the
# client has open, or else this one. Conch judges each path by where it leads.

unset CDPATH # cd would look there as well

# How much of a file is shown, and how many names of a folder.
max_bytes=65536
max_names=1000

tool_list_roots() {
  (($(mcp_roots_count) > 0)) || { echo 'Nothing is in scope: the client has no folder open.' && return; }
  mcp_roots_list
}

tool_list_folder() {
  local path names
  path=$(mcp_require_path path --default-to-single-root) || exit
  cd -P -- "$path" 2>/dev/null || {
    echo "$path is no folder that can be listed."
    return 1
  }
  shopt -s dotglob nullglob
  names=(*)
  ((${#names[@]} == 0)) || printf '%s\n' "${names[@]:0:max_names}"
  ((${#names[@]} <= max_names)) || echo "[$((${#names[@]} - max_names)) more]"
}

tool_read_file() {
  local path
  path=$(mcp_require_path path) || exit
  # To open a FIFO is to wait for its writer, and a device may do anything.
  [[ -f $path && -r $path ]] || {
    echo "$path is no file that can be read; list_folder shows what there is."
    return 1
  }
  # Of files that are not text, too, nothing but text is shown.
  head -c "$max_bytes" -- "$path" | tr -d '\000'
  (($(wc -c <"$path") <= max_bytes)) || echo "[the file goes on after $max_bytes bytes]"
}
