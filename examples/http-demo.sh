#!/usr/bin/env bash
# Serves the movies example over HTTP, calls one of its tools with curl, and ends
# the server: what `make demo` shows last. CONCH_BIN names the conch to use.
set -euo pipefail

message='{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": {
    "name": "get_movies", "arguments": { "genre": "comedy" },
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  }
}'

server=''
directory=''

# Leaves nothing, whatever has happened.
tidy() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  [[ -z $directory ]] || rm -rf "$directory"
}

# Starts the server in the current directory: the path of a socket may not be
# long, and that of a temporary directory may be.
serve() {
  echo "conch serve --http unix:mcp.sock $2 &"
  "$1" serve --http unix:mcp.sock --log-file mcp.log "$2" &
  server=$!
  until [[ -S mcp.sock ]]; do
    kill -0 "$server" 2>/dev/null || {
      echo 'The server has ended before anybody could call it.' >&2
      cat mcp.log >&2 || true
      exit 1
    }
    sleep 0.05
  done
}

# The socket may be there a moment before anybody listens.
post() {
  echo "curl --unix-socket mcp.sock http://localhost/mcp …"
  curl -q -sS --fail --max-time 30 --retry 5 --retry-connrefused --noproxy '*' --unix-socket mcp.sock http://localhost/mcp \
    -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' \
    -H 'Mcp-Method: tools/call' -H 'Mcp-Name: get_movies' -d "$message"
  echo
}

main() {
  local conch examples
  if ! command -v curl >/dev/null; then
    echo 'curl is not installed, so the call over HTTP is left out.'
    return 0
  fi
  conch=$(command -v "${CONCH_BIN:-conch}") || {
    echo "There is no ${CONCH_BIN:-conch}; make build makes bin/conch, and CONCH_BIN names it." >&2
    return 1
  }
  [[ $conch == /* ]] || conch=$PWD/$conch
  examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  trap tidy EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  directory=$(mktemp -d)
  cd "$directory"
  serve "$conch" "$examples/movies/server.sh"
  post
}

main "$@"
