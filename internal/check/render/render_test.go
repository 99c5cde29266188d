package render_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/check"
	"github.com/conch-mcp/conch/internal/check/render"
)

// result has all that a format may stumble over.
var result = check.Result{
	Files: 2, Tools: 1,
	Findings: []check.Finding{
		{Rule: "eval", Severity: check.Error, File: "a b/ü:%,.sh", Line: 2, Column: 3, EndLine: 2, EndColumn: 9, Message: "eval runs\x1b 100% of, \"it\"\nall <&>", Safer: "say: it, 50%", Source: "  eval \"$x\""},
		{Rule: "SC2034", Severity: check.Warning, File: "/abs/b.sh", Line: 7, Message: "unused", Source: "x=1"},
		{Rule: "list", Severity: check.Error, File: "tools.json", Message: "it is not there"},
		{Rule: "no-shellcheck", Severity: check.Note, Message: "not installed"},
	},
}

func rendered(t *testing.T, format string, r check.Result) string {
	t.Helper()
	var b strings.Builder
	if err := render.Render(&b, format, r, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	want := `a b/ü:%,.sh:2:3: error: eval runs� 100% of, "it"�all <&> [eval]
    eval "$x"
    > say: it, 50%
/abs/b.sh:7: warning: unused [SC2034]
    x=1
tools.json: error: it is not there [list]
note: not installed [no-shellcheck]
2 errors, 1 warning, 1 note in 2 files with 1 tool
`
	if got := rendered(t, "text", result); got != want {
		t.Errorf("got\n%s\nnot\n%s", got, want)
	}
}

func TestALongLineIsShownWhereItMatters(t *testing.T) {
	long := strings.Repeat("a ", 200) + "HERE" + strings.Repeat(" b", 200)
	for _, column := range []int{1, 401, 800} {
		got := rendered(t, "text", check.Result{Findings: []check.Finding{{Rule: "eval", File: "f", Line: 1, Column: column, Message: "m", Source: long}}})
		line := strings.Split(got, "\n")[1]
		if len([]rune(line)) > 180 || strings.Contains(line, "HERE") != (column == 401) {
			t.Errorf("column %d: %q", column, line)
		}
	}
}

func TestGitHubEscapesWhatEndsACommand(t *testing.T) {
	want := `::error file=a b/ü%3A%25%2C.sh,line=2,col=3,endLine=2,endColumn=9,title=eval::eval runs� 100%25 of, "it"�all <&>%0AInstead: say: it, 50%25
::warning file=/abs/b.sh,line=7,title=SC2034::unused
::error file=tools.json,title=list::it is not there
::notice title=no-shellcheck::not installed
2 errors, 1 warning, 1 note in 2 files with 1 tool
`
	if got := rendered(t, "github", result); got != want {
		t.Errorf("got\n%s\nnot\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	var got struct {
		Findings []struct {
			Rule, Severity, File, Message, Safer, Source string
			Line, Column, EndLine, EndColumn             int
		}
		Errors, Warnings, Notes, Files, Tools int
	}
	decoder := json.NewDecoder(strings.NewReader(rendered(t, "json", result)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Error("there is more than one document")
	}
	if got.Errors != 2 || got.Warnings != 1 || got.Notes != 1 || got.Files != 2 || got.Tools != 1 || len(got.Findings) != 4 {
		t.Errorf("counted %+v", got)
	}
	if f := got.Findings[0]; f.Rule != "eval" || f.Severity != "error" || f.Line != 2 || f.EndColumn != 9 || f.Message != result.Findings[0].Message {
		t.Errorf("the first is %+v", f)
	}
	if none := rendered(t, "json", check.Result{}); !strings.Contains(none, `"findings": []`) {
		t.Errorf("without findings: %s", none)
	}
}

// TestSARIF holds the log to what version 2.1.0 demands of the parts that are used.
func TestSARIF(t *testing.T) {
	var log map[string]any
	if err := json.Unmarshal([]byte(rendered(t, "sarif", result)), &log); err != nil {
		t.Fatal(err)
	}
	if log["version"] != "2.1.0" || !strings.Contains(log["$schema"].(string), "sarif-schema-2.1.0.json") {
		t.Errorf("it is no log of 2.1.0: %v, %v", log["version"], log["$schema"])
	}
	run := log["runs"].([]any)[0].(map[string]any)
	if run["columnKind"] != "unicodeCodePoints" {
		t.Errorf("columns are counted in %v", run["columnKind"])
	}
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	if driver["name"] != "conch check" || driver["version"] != "1.2.3" {
		t.Errorf("the driver is %v, %v", driver["name"], driver["version"])
	}
	ids := sarifRules(t, driver["rules"].([]any))
	for i, r := range run["results"].([]any) {
		checkSARIFResult(t, r.(map[string]any), ids, result.Findings[i])
	}
	if len(run["results"].([]any)) != len(result.Findings)-1 {
		t.Errorf("%d results", len(run["results"].([]any)))
	}
	invocation := run["invocations"].([]any)[0].(map[string]any)
	notification := invocation["toolExecutionNotifications"].([]any)[0].(map[string]any)
	if invocation["executionSuccessful"] != true || notification["descriptor"].(map[string]any)["id"] != "no-shellcheck" || notification["level"] != "note" {
		t.Errorf("the invocation is %v", invocation)
	}
	if none := rendered(t, "sarif", check.Result{}); !strings.Contains(none, `"results": []`) {
		t.Errorf("without findings: %s", none)
	}
}

var levels = []string{"none", "note", "warning", "error"}

func sarifRules(t *testing.T, rules []any) (ids []string) {
	t.Helper()
	for _, r := range rules {
		rule := r.(map[string]any)
		id := rule["id"].(string)
		if slices.Contains(ids, id) {
			t.Errorf("the rule %s is there twice", id)
		}
		ids = append(ids, id)
		if rule["shortDescription"].(map[string]any)["text"] == "" {
			t.Errorf("the rule %s has no description", id)
		}
		if level := rule["defaultConfiguration"].(map[string]any)["level"].(string); !slices.Contains(levels, level) {
			t.Errorf("the rule %s has the level %s", id, level)
		}
	}
	return ids
}

func checkSARIFResult(t *testing.T, r map[string]any, ids []string, f check.Finding) {
	t.Helper()
	index := int(r["ruleIndex"].(float64))
	if r["ruleId"] != f.Rule || ids[index] != f.Rule || r["level"] != f.Severity.String() {
		t.Errorf("rule %v, which is %s, and level %v", r["ruleId"], ids[index], r["level"])
	}
	if text := r["message"].(map[string]any)["text"].(string); !strings.Contains(text, f.Message) || !strings.Contains(text, f.Safer) {
		t.Errorf("the message is %q", text)
	}
	at := r["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
	uri := at["artifactLocation"].(map[string]any)["uri"].(string)
	want := map[string]string{"a b/ü:%,.sh": "a%20b/%C3%BC:%25,.sh", "/abs/b.sh": "file:///abs/b.sh", "tools.json": "tools.json"}[f.File]
	if uri != want {
		t.Errorf("the URI is %s, not %s", uri, want)
	}
	if line := int(at["region"].(map[string]any)["startLine"].(float64)); line != max(f.Line, 1) {
		t.Errorf("it begins in line %d", line)
	}
}

type broken struct{}

var errFull = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errFull }

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, format := range render.Formats {
		if err := render.Render(broken{}, format, result, ""); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
