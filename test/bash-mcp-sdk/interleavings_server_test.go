package batstest

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/test/batsrun"
	"github.com/conch-mcp/conch/test/harness"
)

// The server of every run. It records what it does, a line each, so that a test
// can tell what ran, how often, and to which end.
const serverScript = `#!/usr/bin/env bash
source "$CORE"

record() { printf '%s\n' "$*" >>"$RECORD"; }

mcp_before_tool_call() {
  record "asked $1 $arg_n"
  case $2 in *'"refuse":true'*) echo "refused $arg_n" && return 3 ;; esac
}

tool_quick() {
  record "begun quick $arg_n"
  echo "quick $arg_n"
}

tool_slow() {
  record "begun slow $arg_n"
  sleep "$arg_seconds"
  record "ended slow $arg_n"
  echo "slow $arg_n"
}

# Its arguments are there when the client has cancelled the call.
tool_slow_cancel() {
  local n=none
  if [[ $1 =~ \"n\":([0-9]+) ]]; then n=${BASH_REMATCH[1]}; fi
  record "hook slow $n"
}

tool_stubborn() {
  trap '' TERM
  record "begun stubborn $arg_n"
  sleep "$arg_seconds"
  record "ended stubborn $arg_n"
  echo "stubborn $arg_n"
}

tool_child() {
  record "begun child $arg_n"
  sleep 600 &
  record "child $arg_n $!"
  echo "child $arg_n"
}

tool_files() {
  record "begun files $arg_n"
  record "files $arg_n $MCP_CALL_TMPDIR"
  mkdir -p "$MCP_CALL_TMPDIR/closed/locked"
  touch "$MCP_CALL_TMPDIR/closed/locked/file"
  chmod 500 "$MCP_CALL_TMPDIR/closed/locked"
  chmod 000 "$MCP_CALL_TMPDIR/closed"
  echo "files $arg_n"
}

tool_nested() {
  record "begun nested $arg_n"
  handle_tools_call 1 '{"name":"quick","arguments":{"n":'"$arg_n"'}}'
}

tool_big() {
  record "begun big $arg_n"
  printf '%0200000d' "$arg_n"
}

trap 'record exit' EXIT
run_mcp_server "$@"
record over
`

const toolsList = `{"tools":[
{"name":"quick","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"refuse":{"type":"boolean"}}}},
{"name":"slow","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"seconds":{"type":"number"}}}},
{"name":"stubborn","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"seconds":{"type":"number"}}}},
{"name":"child","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},
{"name":"files","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},
{"name":"nested","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},
{"name":"big","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}
]}
`

// A server is what all runs have in common: where the files are.
type server struct{ script, tools, config, core, conch string }

// writeServer writes the script before anything runs: a file that a fork holds
// open for writing cannot be executed.
func writeServer(t *testing.T) server {
	t.Helper()
	dir := t.TempDir()
	s := server{
		script: filepath.Join(dir, "server.sh"),
		tools:  filepath.Join(dir, "tools.json"),
		config: filepath.Join(dir, "config.json"),
		core:   cmp.Or(os.Getenv("CONCH_CORE"), filepath.Join(harness.Root(), "lib", "bash-mcp-sdk", "mcpserver_core.sh")),
		conch:  batsrun.Binary(t),
	}
	for path, text := range map[string]string{s.script: serverScript, s.tools: toolsList, s.config: "{}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// environment is that of the server of one run: nothing of the caller's about
// servers, and places of its own.
func (s server) environment(tmp, run, record, journal, concurrency string) []string {
	return append(os.Environ(),
		"CORE="+s.core, "CONCH_BIN="+s.conch, "CONCH_FLAGS=",
		"TMPDIR="+tmp, "XDG_RUNTIME_DIR="+run, "RECORD="+record,
		"MCP_TOOLS_LIST_FILE="+s.tools, "MCP_CONFIG_FILE="+s.config,
		"MCP_LOG_FILE="+journal, "MCP_EXTRA_LOG_FILE=", "MCP_LOG_STDERR=0",
		"MCP_CONCURRENCY="+concurrency,
	)
}
