package render

import (
	"io"

	"github.com/conch-mcp/conch/internal/check"
)

// finding is one in the JSON report.
type finding struct {
	Rule      string `json:"rule"`
	Severity  string `json:"severity"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Message   string `json:"message"`
	Safer     string `json:"safer,omitempty"`
	Source    string `json:"source,omitempty"`
}

type document struct {
	Findings []finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Files    int       `json:"files"`
	Tools    int       `json:"tools"`
}

func asJSON(out io.Writer, result check.Result) error {
	d := document{
		Findings: []finding{}, Errors: result.Count(check.Error), Warnings: result.Count(check.Warning), Notes: result.Count(check.Note),
		Files: result.Files, Tools: result.Tools,
	}
	for _, f := range result.Findings {
		d.Findings = append(d.Findings, finding{
			f.Rule, f.Severity.String(), f.File, f.Line, f.Column, f.EndLine, f.EndColumn, f.Message, f.Safer, f.Source,
		})
	}
	return encode(out, d)
}
