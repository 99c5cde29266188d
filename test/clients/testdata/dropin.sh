#!/usr/bin/env bash
# The same server, with the drop-in file: this shell is the client's process.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=lib/bash-mcp-sdk/mcpserver_core.sh
source "$here/../../../lib/bash-mcp-sdk/mcpserver_core.sh"
export MCP_TOOLS_LIST_FILE=$here/tools.json MCP_CONFIG_FILE=$here/config.json
# shellcheck source=test/clients/testdata/server.sh
source "$here/server.sh"
run_mcp_server "$@"
