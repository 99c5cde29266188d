#!/usr/bin/env conch
# shellcheck shell=bash
# shellcheck disable=SC2154 # Conch sets the arg_ variables

# The programme of a cinema. Real tools would ask a database or another
# program; these read the lines below: id, title, year, genre, free seats.
programme='m1|A Trip to the Moon|1902|science fiction|14
m2|Nosferatu|1922|horror|31
m3|Safety Last!|1923|comedy|2
m4|The General|1926|comedy|25
m5|Metropolis|1927|science fiction|9
m6|Sunrise|1927|drama|40
m7|The Passion of Joan of Arc|1928|drama|0'

# An optional argument that a call leaves out keeps the value it has here.
arg_genre=''
arg_limit=100

tool_get_movies() {
  digits_only limit "$arg_limit" || return
  local id title year genre free count=0
  while IFS='|' read -r id title year genre free; do
    [[ -z $arg_genre || $genre == "$arg_genre" ]] || continue
    ((count < arg_limit)) || break
    count=$((count + 1))
    echo "$id: $title ($year), $genre"
  done <<<"$programme"
}

tool_get_movie() {
  local id title year genre free
  find_movie "$arg_id" || return
  printf '%s\n' "$title ($year)" "Id: $id" "Genre: $genre" "Free seats: $free"
}

# Nothing is kept of a booking: what a call changes is gone when it ends.
tool_book_ticket() {
  local id title year genre free
  digits_only seats "$arg_seats" || return
  find_movie "$arg_movie_id" || return
  if ((arg_seats > free)); then
    # A status other than 0 makes this an error, which the model reads and can
    # act on.
    echo "$title has $free free seats, not $arg_seats."
    return 1
  fi
  echo "Booked: $title, $arg_seats seats, in the name of $arg_name."
  echo "Reference: $(reference "$id/$arg_seats/$arg_name")"
}

# Sets id, title, year, genre and free, which are the caller's, to those of
# movie $1.
find_movie() {
  while IFS='|' read -r id title year genre free; do
    [[ $id != "$1" ]] || return 0
  done <<<"$programme"
  echo "There is no movie $1; get_movies lists them all."
  return 1
}

# Bash counts with digits alone, while JSON may write the integer 2 as 2.0 too.
digits_only() {
  [[ $2 == *[!0-9]* ]] || return 0
  echo "Write $1 in digits alone, not as $2."
  return 1
}

reference() {
  local sum
  sum=$(printf '%s' "$1" | cksum)
  printf 'R%08X\n' "${sum%% *}"
}
