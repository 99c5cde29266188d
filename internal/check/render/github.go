package render

import (
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/check"
)

// What would end a workflow command, or a property of one, is written as in a URL.
var (
	escapedData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapedProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// commands are those of a workflow for each severity.
var commands = map[check.Severity]string{check.Error: "error", check.Warning: "warning", check.Note: "notice"}

// github makes each finding a workflow command, which puts it beside the line it is
// about. The summary is a line of the log.
func github(w *writer, result check.Result) {
	for _, f := range result.Findings {
		message := printable(f.Message)
		if f.Safer != "" {
			message += "\nInstead: " + printable(f.Safer)
		}
		w.printf("::%s %s::%s\n", commands[f.Severity], properties(f), escapedData.Replace(message))
	}
	w.printf("%s\n", summary(result))
}

func properties(f check.Finding) string {
	var list []string
	add := func(name, value string) { list = append(list, name+"="+escapedProperty.Replace(value)) }
	if f.File != "" {
		add("file", f.File)
	}
	for _, p := range []struct {
		name  string
		value int
	}{{"line", f.Line}, {"col", f.Column}, {"endLine", f.EndLine}, {"endColumn", f.EndColumn}} {
		if p.value > 0 && f.Line > 0 {
			list = append(list, p.name+"="+strconv.Itoa(p.value))
		}
	}
	add("title", f.Rule)
	return strings.Join(list, ",")
}
