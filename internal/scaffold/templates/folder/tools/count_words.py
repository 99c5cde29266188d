#!/usr/bin/env python3
# @describe Count the words of a text
# @option --text! <TEXT>  The text
# @option --top=3 <INT>   How many of the most frequent words to name
# @schema top { "type": "integer", "minimum": 0, "maximum": 100 }
# @meta readonly
"""The arguments are a JSON object on standard input, and each is in the environment
too, as in ARG_TEXT. What is printed is the result, and a status other than 0 tells
that the tool failed."""

import collections
import json
import re
import sys


def main():
    arguments = json.load(sys.stdin)
    words = re.findall(r"\w+", arguments["text"].lower())
    print(f"{len(words)} words")
    for word, count in collections.Counter(words).most_common(arguments.get("top", 3)):
        print(f"{count} {word}")


main()
