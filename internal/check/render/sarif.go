package render

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/conch-mcp/conch/internal/check"
)

// The parts of SARIF 2.1.0 that are used, in its own words.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Descriptor sarifDescriptor `json:"descriptor"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
	}
	sarifDescriptor struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		HelpURI              string             `json:"helpUri,omitempty"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn,omitempty"`
		EndLine     int        `json:"endLine,omitempty"`
		EndColumn   int        `json:"endColumn,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

func asSARIF(out io.Writer, result check.Result, version string) error {
	driver := sarifDriver{Name: "conch check", Version: version}
	index := map[string]int{}
	for _, r := range check.Rules() {
		index[r.ID] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRule{ID: r.ID, ShortDescription: sarifText{r.About}, DefaultConfiguration: sarifConfiguration{r.Severity.String()}})
	}
	results := []sarifResult{}
	ran := sarifInvocation{ExecutionSuccessful: true}
	for _, f := range result.Findings {
		if f.File == "" {
			// It is about the run. Some who read such logs refuse a result without a place.
			ran.Notifications = append(ran.Notifications, sarifNotification{sarifDescriptor{f.Rule}, f.Severity.String(), sarifText{f.Message + "."}})
			continue
		}
		if _, ok := index[f.Rule]; !ok {
			index[f.Rule] = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRule{
				ID: f.Rule, ShortDescription: sarifText{"shellcheck's " + f.Rule + "."}, HelpURI: "https://www.shellcheck.net/wiki/" + f.Rule,
				DefaultConfiguration: sarifConfiguration{f.Severity.String()},
			})
		}
		results = append(results, sarifOf(f, index[f.Rule]))
	}
	return encode(out, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{{
		Tool: sarifTool{driver}, Invocations: []sarifInvocation{ran}, ColumnKind: "unicodeCodePoints", Results: results,
	}}})
}

func sarifOf(f check.Finding, rule int) sarifResult {
	message := f.Message + "."
	if f.Safer != "" {
		message += "\nInstead: " + f.Safer
	}
	// What is about a file as a whole stands in its first line, where viewers show it.
	region := sarifRegion{StartLine: max(f.Line, 1), StartColumn: f.Column, EndLine: f.EndLine}
	if f.Column > 0 {
		region.EndColumn = f.EndColumn
	}
	if f.Source != "" {
		region.Snippet = &sarifText{strings.ToValidUTF8(f.Source, "\uFFFD")}
	}
	return sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: f.Severity.String(), Message: sarifText{message},
		Locations: []sarifLocation{{sarifPhysical{sarifArtifact{uri(f.File)}, region}}},
	}
}

// uri is a path as a URI: relative where the path is, so that a viewer finds the
// file in its own copy of the tree.
func uri(path string) string {
	slashed := filepath.ToSlash(filepath.Clean(path))
	if filepath.IsAbs(path) {
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	return (&url.URL{Path: slashed}).EscapedPath()
}
