package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A result is what the suite found in one scenario.
type result []struct {
	ID           string
	Status       string
	ErrorMessage string
}

// failure tells what failed, a line for each check; "" is nothing.
func (r result) failure() string {
	if len(r) == 0 {
		return "the suite has not checked anything"
	}
	var failed []string
	for _, c := range r {
		switch c.Status {
		case "SUCCESS", "INFO", "SKIPPED":
		default:
			failed = append(failed, fmt.Sprintf("%s %s: %s", c.Status, c.ID, c.ErrorMessage))
		}
	}
	return strings.Join(failed, "\n")
}

// resultDirectory is what the suite calls the directory of a scenario's results.
var resultDirectory = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readResults reads what a run of the suite has written, by scenario.
func readResults(dir string) (map[string]result, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	results := map[string]result{}
	for _, entry := range entries {
		name := resultDirectory.FindStringSubmatch(entry.Name())
		if name == nil {
			return nil, fmt.Errorf("%s: not what a directory of results is called", entry.Name())
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name(), "checks.json"))
		if err != nil {
			return nil, err
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		results[name[1]] = r
	}
	return results, nil
}
