#!/usr/bin/env python3
# @describe Show what a program in Python is given.
# @option --string! A text that has to be there
# @option --integer=7 <INT> A whole number
# @option --array* Texts
# @flag --boolean Yes or no
# @meta environment minimal

import json
import os
import sys

given = json.load(sys.stdin)
print(json.dumps({
    "given": given,
    "variables": {name: os.environ[name] for name in sorted(os.environ) if name.startswith("ARG_")},
    "home": "HOME" in os.environ,
    "secret": "SECRET_TOKEN" in os.environ,
}))
