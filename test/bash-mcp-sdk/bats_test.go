// Package batstest runs the bats suites beside it against the built binary and
// the drop-in file for scripts that were written for bash-mcp-sdk. What the
// suites check is in the .bats files.
package batstest

import (
	"testing"

	"github.com/conch-mcp/conch/test/batsrun"
)

func TestTheSuitesPass(t *testing.T) {
	batsrun.Suites(t, "node_modules", []batsrun.Variant{
		{Name: "bash"},
		{Name: "posix", Env: "CONCH_TEST_POSIX=1"},
		{Name: "busybox", Env: "CONCH_TEST_BUSYBOX=" + batsrun.Applets(t)},
	})
}
