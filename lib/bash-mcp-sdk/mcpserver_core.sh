# shellcheck shell=bash
# Holds the place of the library that serves bash-mcp-sdk's scripts with Conch.
printf '%s\n' 'mcpserver_core.sh: this build of conch has only a placeholder for this file' >&2
return 1
