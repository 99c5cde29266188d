#!/usr/bin/env python3
# @describe Demonstrate how to create a tool in Python.
# @option --string! Define a required string property
# @option --integer=7 <INT> Define an integer property with a default
# @option --array* Define a string array property
# @flag --boolean Define a boolean property
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
