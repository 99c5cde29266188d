#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# Draws a picture, in nothing but Bash: work that takes a while, tells how far it
# is, stops when nobody wants it any more, and has an image for its result.

# Optional arguments keep these values when a call leaves them out.
arg_width=64
arg_height=48
arg_depth=40

tool_draw() {
  local file=$MCP_CALL_TMPDIR/set.png y
  local -a pixels=()
  # The default would end the shell in the middle of a row.
  trap : TERM
  for ((y = 0; y < arg_height; y++)); do
    if mcp_is_cancelled; then
      mcp_log_info draw "stopped at row $y"
      return 1
    fi
    draw_row
    mcp_progress "$((y + 1))" "row $((y + 1))" "$arg_height"
  done
  write_png >"$file" || return
  mcp_emit_text --audience assistant "The Mandelbrot set, $arg_width by $arg_height pixels, at most $arg_depth steps each."
  mcp_emit_image --priority 1 "$file" image/png
}

# Adds row y to pixels: how many steps each point of the plane takes to escape.
# The numbers are in units of 1/4096.
draw_row() {
  local x cx cy a b t n
  ((cy = (2 * y - arg_height) * 4915 / arg_height))
  pixels+=(0)
  for ((x = 0; x < arg_width; x++)); do
    ((cx = x * 14336 / arg_width - 10240, a = 0, b = 0))
    for ((n = 0; n < arg_depth && a * a + b * b < 67108864; n++)); do
      ((t = (a * a - b * b) / 4096 + cx, b = 2 * a * b / 4096 + cy, a = t))
    done
    pixels+=("$((n * 255 / arg_depth))")
  done
}

# --- PNG --------------------------------------------------------------------

# The table of CRC-32, once for all calls.
crcs=()
for ((i = 0; i < 256; i++)); do
  c=$i
  for ((k = 0; k < 8; k++)); do ((c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1)); done
  crcs+=("$c")
done

# Prints pixels as a PNG: 8 bits of grey, and no compression, which is one block
# of up to 65535 bytes to zlib.
write_png() {
  local -a data
  printf '\211PNG\r\n\032\n'
  data=()
  big_endian "$arg_width"
  big_endian "$arg_height"
  data+=(8 0 0 0 0)
  chunk 73 72 68 82 "${data[@]}"
  deflate
  chunk 73 68 65 84 "${data[@]}"
  chunk 73 69 78 68
}

# Appends $1 to data in four bytes.
big_endian() { data+=("$(($1 >> 24 & 255))" "$(($1 >> 16 & 255))" "$(($1 >> 8 & 255))" "$(($1 & 255))"); }

# Makes data of the pixels.
deflate() {
  local n=${#pixels[@]} a=1 b=0 byte
  for byte in "${pixels[@]}"; do ((a = (a + byte) % 65521, b = (b + a) % 65521)); done
  data=(120 1 1 "$((n & 255))" "$((n >> 8))" "$((~n & 255))" "$((~n >> 8 & 255))" "${pixels[@]}")
  big_endian "$((b << 16 | a))"
}

# Prints a chunk: how long it is, its type and its bytes, and the sum of both.
chunk() {
  local -a data=()
  local crc=$((0xffffffff)) byte
  for byte in "$@"; do ((crc = crcs[(crc ^ byte) & 255] ^ crc >> 8)); done
  big_endian "$(($# - 4))"
  data+=("$@")
  big_endian "$((crc ^ 0xffffffff))"
  local text
  printf -v text '\\%03o' "${data[@]}"
  # shellcheck disable=SC2059 # nothing but escapes
  printf "$text"
}
