#!/usr/bin/awk -f
# A program of another language is one tool, with the name of the file. Its
# arguments are in the environment, and as JSON on its standard input.
#
# @describe Count the words of a text
# @option --text!          The text
# @option --least=1 <INT>  Only words of so many characters
# @meta readonly
# @meta environment minimal

BEGIN {
  total = split(ENVIRON["ARG_TEXT"], words)
  for (i = 1; i <= total; i++)
    if (length(words[i]) >= ENVIRON["ARG_LEAST"] + 0) count++
  print count + 0
}
