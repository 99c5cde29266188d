#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Shows the files below one folder and nothing else. A path is first followed to
# its end, links and all, then judged by where it has led, and only then opened.

export LC_ALL=C # names and texts are bytes
unset CDPATH    # cd would look there as well
cd -P -- "${FILE_ROOT:-$(dirname "${BASH_SOURCE[0]}")/data}" || exit
root=$PWD

# How much of a file one call may ask for, and how much of a folder is listed.
max_bytes=65536
max_entries=1000

# Optional arguments keep these values when a call leaves them out.
arg_path=.
arg_pattern='*'
arg_offset=0
arg_limit=$max_bytes

tool_list_files() {
  reach "$arg_path" || return
  cd -P -- "./$name" 2>/dev/null || {
    echo "$arg_path is no folder that can be listed; stat_file tells what it is."
    return 1
  }
  shopt -s dotglob nullglob
  list_entries
}

tool_stat_file() {
  local type modified
  reach "$arg_path" || return
  type=$(type_of "$name")
  modified=$(date -u -r "./$name" +%Y-%m-%dT%H:%M:%SZ) || return
  printf '{"path":%s,"type":"%s",' "$(mcp_json_escape "$arg_path")" "$type"
  if [[ $type == file ]]; then
    # GNU's stat, or BSD's.
    printf '"size":%s,' "$(stat -c %s "./$name" 2>/dev/null || stat -f %z "./$name")"
  fi
  printf '"modified":"%s"}\n' "$modified"
}

tool_read_file() {
  local size page
  digits_only offset "$arg_offset" || return
  digits_only limit "$arg_limit" || return
  reach "$arg_path" || return
  open_file || return
  size=$(stat -L -c %s /dev/fd/3 2>/dev/null || stat -f %z <&3) || return
  ((arg_offset < size || arg_offset == 0)) || {
    echo "$arg_path has $size bytes; there is nothing at offset $arg_offset."
    return 1
  }
  page=$MCP_CALL_TMPDIR/page
  tail -c "+$((arg_offset + 1))" <&3 2>/dev/null | head -c "$arg_limit" >"$page"
  (($(tr -cd '\000' <"$page" | wc -c) == 0)) || {
    echo "$arg_path is binary: $(media_type), $size bytes. Only text can be read."
    return 1
  }
  print_page "$size"
}

# Follows the path $1 from the root. The shell is then in the folder of what is
# at its end, and name is what that is called there: no link, and no path.
reach() {
  local target=$root/$1 hops
  for ((hops = 0; hops < 40; hops++)); do
    name=.
    cd -P -- "$target" 2>/dev/null && break
    name=${target##*/}
    cd -P -- "${target%/*}/" 2>/dev/null || name=''
    [[ -L $name ]] || break
    # With something behind it, a newline at the end of the target is kept.
    target=$(readlink -n "./$name" && echo /)
    target=${target%/}
    [[ $target == /* ]] || target=./$target
  done
  if [[ -e $name && ! -L $name ]] && inside "$PWD"; then return 0; fi
  # Whether something is outside the root is nobody's business.
  echo "There is no $1 below the root; list_files lists what there is."
  return 1
}

# Lists the folder that the shell is in.
list_entries() {
  local entry count=0 separator='' truncated=false
  printf '{"entries":['
  for entry in *; do
    # Not quoted, and so a pattern; the schema keeps it cheap to match.
    # shellcheck disable=SC2053
    [[ $entry == $arg_pattern ]] || continue
    ((count < max_entries)) || { truncated=true && break; }
    count=$((count + 1))
    printf '%s{"name":' "$separator"
    mcp_json_escape "$entry"
    printf ',"type":"'
    type_of "$entry"
    printf '"}'
    separator=,
  done
  printf '],"truncated":%s}\n' "$truncated"
}

inside() {
  [[ $1/ == "${root%/}"/* ]]
}

# Opens the file as descriptor 3. What a name stands for may have changed since it
# was judged, but what is open stays what it is; so that is judged again.
open_file() {
  # To open a FIFO is to wait for its writer, and a device may do anything.
  [[ -f $name ]] || {
    echo "$arg_path is a $(type_of "$name"); only regular files can be read."
    return 1
  }
  { exec 3<"./$name"; } 2>/dev/null || {
    echo "$arg_path cannot be opened; this server may not read it."
    return 1
  }
  if [[ -f /dev/fd/3 ]] && opened_inside; then return 0; fi
  echo "$arg_path was changed at the same moment; try again."
  return 1
}

opened_inside() {
  if [[ -L /proc/self/fd/3 ]]; then
    inside "$(readlink /proc/self/fd/3)"
  else
    # Where the system does not tell, the name can still be asked.
    [[ ! -L $name && /dev/fd/3 -ef ./$name ]]
  fi
}

# Prints the page that was read of a file of $1 bytes. If more is to come it ends
# with a line, and so in no character's midst.
print_page() {
  local text end
  text=$(cat "$MCP_CALL_TMPDIR/page" && echo /)
  text=${text%/}
  if ((arg_offset + ${#text} < $1)) && [[ $text == *$'\n'* ]]; then
    text=${text%$'\n'*}$'\n'
  fi
  printf '%s' "$text"
  end=$((arg_offset + ${#text}))
  if ((end < $1)); then
    printf '\n[bytes %s to %s of %s; the next page is at offset %s]\n' "$arg_offset" "$((end - 1))" "$1" "$end"
  fi
}

media_type() {
  file --brief --mime-type "$MCP_CALL_TMPDIR/page" 2>/dev/null || echo 'type unknown'
}

type_of() {
  if [[ -L $1 ]]; then
    printf link
  elif [[ -d $1 ]]; then
    printf folder
  elif [[ -f $1 ]]; then
    printf file
  elif [[ -p $1 ]]; then
    printf FIFO
  elif [[ -S $1 ]]; then
    printf socket
  else
    printf device
  fi
}

# Bash counts with digits alone, while JSON may write the integer 2 as 2.0 too.
digits_only() {
  [[ $2 == *[!0-9]* ]] || return 0
  echo "Write $1 in digits alone, not as $2."
  return 1
}
