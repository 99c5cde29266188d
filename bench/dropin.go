package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// dropIns are servers written for bash-mcp-sdk, served through the drop-in
// file: the one that framework's users write, which takes its argument out of
// the JSON with jq, and the same without.
var dropIns = []struct{ name, tool string }{
	{"drop-in, jq in the tool", `tool_greet() { local name; name=$(printf '%s' "$1" | jq -r .name); printf 'Hello, %s\n' "$name"; }`},
	{"drop-in, $arg_name", `tool_greet() { printf 'Hello, %s\n' "$arg_name"; }`},
}

// writeDropIn makes a server below dir, beside the tools.json and config.json
// of writeServer.
func writeDropIn(dir, name, tool string) (string, error) {
	lib, err := filepath.Abs("lib/bash-mcp-sdk/mcpserver_core.sh")
	if err != nil {
		return "", err
	}
	conch, err := filepath.Abs(*conchPath)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("#!/usr/bin/env bash\ncd %q\nexport CONCH_BIN=%q\nsource %q\n%s\nrun_mcp_server \"$@\"\n", dir, conch, lib, tool)
	path := filepath.Join(dir, name+".sh")
	return path, os.WriteFile(path, []byte(text), 0o755)
}

// startDropIns starts the servers that can be measured here.
func startDropIns(dir string) (servers []*measured, err error) {
	for i, d := range dropIns {
		if _, err := exec.LookPath("jq"); err != nil && i == 0 {
			fmt.Fprintln(os.Stderr, "bench: without jq there is no figure for a tool that uses it")
			continue
		}
		path, err := writeDropIn(dir, fmt.Sprintf("dropin-%d", i), d.tool)
		if err != nil {
			return servers, err
		}
		c, err := startServer([]string{path}, "greet", `{"name":"World"}`)
		if err != nil {
			return servers, fmt.Errorf("start the server %q: %w", d.name, err)
		}
		servers = append(servers, &measured{name: d.name, client: c, calls: *calls})
	}
	return servers, nil
}

// measured is a server whose sequential calls are measured beside conch serve.
type measured struct {
	name     string
	client   *client
	calls    int // in a round
	p50, p99 samples
}

func (m *measured) round(counts bool) error {
	p50, p99, err := m.client.sequential(m.calls)
	m.p50.add(p50, counts)
	m.p99.add(p99, counts)
	return err
}
