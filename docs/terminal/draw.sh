#!/usr/bin/env bash
# Draws README.md's picture of a terminal: runs what one sees there, in a directory
# and with a home of its own, and prints an SVG of it.
#
#   docs/terminal/draw.sh bin/conch >docs/terminal/terminal.svg
set -euo pipefail

readonly columns=86 advance=8.43 line_height=20 margin=18

main() {
  local conch work root
  conch=$(realpath "$1") root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # what it is now
  trap "rm -rf '$work'" EXIT
  mkdir "$work/bin" "$work/logs" "$work/.claude"
  ln -s "$conch" "$work/bin/conch"
  # The script is the one in README.md, where it is tried as well.
  # shellcheck disable=SC2016 # the backquotes are Markdown's
  sed -n '/^```bash logs.sh$/,/^```$/p' "$root/README.md" | sed '1d;$d' >"$work/logs/logs.sh"
  printf '%s\n' '10:02 INFO started' '10:05 ERROR disk full' '10:09 ERROR disk full' >"$work/logs/app.log"
  session "$work" | draw
}

# Prints what is typed, behind "$ ", and what that prints.
session() {
  local command
  cd "$work/logs"
  while IFS= read -r command; do
    printf '$ %s\n' "$command"
    HOME=$work PATH=$work/bin:$PATH bash -c "$command" 2>&1 |
      sed "s,$work/bin/,/home/you/bin/,g; s,$work,/home/you,g"
  done <<'END'
cat logs.sh
conch call logs.sh search file=app.log text=ERROR last:=1
conch install --client claude-code logs.sh
END
}

# Makes an SVG of lines.
draw() {
  local line y=$((margin + line_height + 14)) text=''
  while IFS= read -r line; do
    text+="<text x=\"$margin\" y=\"$y\" class=\"$(kind "$line")\">$(escape "$line")</text>"$'\n'
    y=$((y + line_height))
  done
  head_of_picture "$y"
  printf '%s</svg>\n' "$text"
}

kind() {
  case $1 in
    '$ '*) echo typed ;;
    '#'*) echo comment ;;
    *) echo plain ;;
  esac
}

escape() {
  local text=$1
  text=${text//&/\&amp;}
  text=${text//</\&lt;}
  printf '%s' "${text//>/\&gt;}"
}

# $1: where the last line ends.
head_of_picture() {
  local width
  width=$(awk "BEGIN { print int($columns * $advance + 2 * $margin) }")
  cat <<END
<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$1" viewBox="0 0 $width $1" role="img" aria-label="A terminal" xml:space="preserve">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; white-space: pre; fill: #d8dee9 }
.typed { fill: #a3e08d; font-weight: 600 }
.comment { fill: #8fa3c0 }
</style>
<rect width="100%" height="100%" rx="8" fill="#1d2430"/>
<circle cx="22" cy="18" r="5" fill="#f0695f"/><circle cx="40" cy="18" r="5" fill="#f2bd4a"/><circle cx="58" cy="18" r="5" fill="#5bc06a"/>
END
}

main "$@"
