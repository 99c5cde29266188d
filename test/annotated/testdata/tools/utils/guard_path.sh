#!/usr/bin/env bash
# @describe Keep a path inside of $WORK
# @arg path!
# It stands below the folder, and is no tool itself.

case $(cd "$(dirname "$1")" && pwd -P)/ in
    "$(cd "$WORK" && pwd -P)"/*) ;;
    *)
        echo "error: $1 is outside of the workspace" >&2
        exit 1
        ;;
esac
