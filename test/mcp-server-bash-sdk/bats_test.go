// Package batstest runs the bats suites beside it against the built binary and
// the drop-in files for scripts that were written for mcp-server-bash-sdk. What
// the suites check is in the .bats files; bats is that of test/bash-mcp-sdk.
package batstest

import (
	"testing"

	"github.com/conch-mcp/conch/test/batsrun"
)

func TestTheSuitesPass(t *testing.T) {
	batsrun.Suites(t, "../bash-mcp-sdk/node_modules", []batsrun.Variant{
		{Name: "bash"},
		{Name: "posix", Env: "CONCH_TEST_POSIX=1"},
	})
}
