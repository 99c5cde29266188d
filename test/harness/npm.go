package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The packages need this version of Node at least.
const nodeMajor, nodeMinor = 22, 19

// Node is the Node to run what is installed from npm in a directory, once it is
// sure that the packages are there in the versions that package.json pins.
func Node(dir string) (string, error) {
	if err := checkPackages(dir); err != nil {
		return "", fmt.Errorf("%w; run make test-deps", err)
	}
	return findNode(dir)
}

func checkPackages(dir string) error {
	var pinned struct{ Dependencies map[string]string }
	if err := readJSON(filepath.Join(dir, "package.json"), &pinned); err != nil {
		return err
	}
	for name, version := range pinned.Dependencies {
		var installed struct{ Version string }
		if err := readJSON(filepath.Join(dir, "node_modules", name, "package.json"), &installed); err != nil {
			return fmt.Errorf("%s is not installed in %s", name, filepath.Join(dir, "node_modules"))
		}
		if installed.Version != version {
			return fmt.Errorf("%s is installed as %s and wanted as %s", name, installed.Version, version)
		}
	}
	return nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// findNode prefers the Node that came with the packages, which not every
// platform has, to the system's.
func findNode(dir string) (string, error) {
	candidates, _ := filepath.Glob(filepath.Join(dir, "node_modules", "node-*", "bin", "node"))
	if system, err := exec.LookPath("node"); err == nil {
		candidates = append(candidates, system)
	}
	var found []string
	for _, node := range candidates {
		out, err := exec.Command(node, "--version").Output()
		version := strings.TrimSpace(string(out))
		if err != nil {
			version = err.Error()
		}
		if newEnough(version) {
			return node, nil
		}
		found = append(found, node+" ("+version+")")
	}
	return "", fmt.Errorf("no Node of version %d.%d or later, only %q; install one, or run make test-deps", nodeMajor, nodeMinor, found)
}

func newEnough(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "v%d.%d.", &major, &minor); err != nil {
		return false
	}
	return major > nodeMajor || major == nodeMajor && minor >= nodeMinor
}
