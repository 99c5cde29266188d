package check

import (
	"slices"

	"github.com/conch-mcp/conch/internal/check/smell"
)

// A Rule is one thing that is looked for.
type Rule struct {
	ID       string
	Severity Severity
	About    string // a sentence
}

const (
	ruleSyntax         = "syntax"
	ruleUnread         = "unread"
	ruleCRLF           = "crlf"
	ruleNotExecutable  = "not-executable"
	ruleDynamic        = "dynamic"
	ruleNoShellcheck   = "no-shellcheck"
	ruleDirective      = "directive"
	ruleCases          = "test-cases"
	ruleLastCommand    = "last-command"
	rulePipelineStatus = "pipeline-status"

	ruleList           = "list"
	ruleEntry          = "list-entry"
	ruleDuplicate      = "duplicate"
	ruleNoFunction     = "no-function"
	ruleNotDeclared    = "not-declared"
	ruleNoFile         = "no-file"
	ruleConfig         = "config"
	ruleTags           = "tags"
	ruleNearTag        = "near-tag"
	ruleNotation       = "notation"
	ruleListAndTags    = "list-and-tags"
	ruleProgram        = "program"
	ruleMissingEnv     = "missing-env"
	ruleMissingProgram = "missing-program"

	ruleName         = "tool-name"
	ruleDescription  = "description"
	ruleSchema       = "schema"
	ruleOutputSchema = "output-schema"
	ruleOutputType   = "output-schema-type"
	ruleNeverMet     = "never-met"
	ruleDefault      = "default"
	ruleExample      = "example"
	ruleEnumValue    = "enum-value"
	ruleRequired     = "required"
	ruleKeyword      = "keyword"
	ruleNoVariable   = "no-variable"
	ruleUnknown      = "unknown-argument"
	ruleAnnotations  = "annotations"
	ruleHeader       = "header"
)

// rules are all there are, by their ids.
var rules = byID([]Rule{
	{ruleSyntax, Error, "Bash cannot read the script (bash -n)."},
	{ruleUnread, Note, "The script's code could not be looked at, or a file that it sources."},
	{ruleCRLF, Error, "Lines end as on Windows; Bash takes the carriage return for part of the line."},
	{ruleNotExecutable, Note, "A script with a #! line is not executable."},
	{ruleDynamic, Note, "The script does something whose effect shows only when it runs."},
	{ruleNoShellcheck, Note, "shellcheck is not installed."},
	{ruleDirective, Warning, "A comment for conch check names a rule that there is not."},
	{ruleCases, Error, "A file of test cases cannot be used."},
	{ruleLastCommand, Warning, "A script, or a tool, ends with a test, whose status is its own."},
	{rulePipelineStatus, Note, "A tool ends with a pipeline, whose first command may fail unnoticed."},

	{ruleList, Error, "A list cannot be read."},
	{ruleEntry, Error, "An entry of a list is of no use, or part of it."},
	{ruleDuplicate, Error, "Something is declared twice; neither is served."},
	{ruleNoFunction, Error, "A list declares something that the script has no function for."},
	{ruleNotDeclared, Warning, "The script has a function for a tool that neither its list nor its tags declare."},
	{ruleNoFile, Warning, "A list names a file that is not there."},
	{ruleConfig, Error, "The server's description cannot be used."},
	{ruleTags, Error, "A tag is wrong."},
	{ruleNearTag, Warning, "A comment looks like a tag, and is none."},
	{ruleNotation, Warning, "A notation looks like one that says a type, and says none, or stands where it is only text."},
	{ruleListAndTags, Warning, "The list and the tags of a script differ; the list counts."},
	{ruleProgram, Error, "A program with tags cannot be a tool."},
	{ruleMissingEnv, Warning, "A variable of the environment that a tool needs is not set."},
	{ruleMissingProgram, Warning, "A program that a tool needs is not there."},

	{ruleName, Error, "A tool's name is not one that all clients take."},
	{ruleDescription, Warning, "A tool or an argument has no description, which is all that a model knows of it."},
	{ruleSchema, Error, "An inputSchema cannot be used; calls are refused."},
	{ruleOutputSchema, Error, "An outputSchema cannot be used."},
	{ruleOutputType, Note, "An outputSchema is for the newest clients alone."},
	{ruleNeverMet, Error, "Nothing can be as a schema demands."},
	{ruleDefault, Error, "A default is not what its own schema allows."},
	{ruleExample, Warning, "An example is not what its own schema allows."},
	{ruleEnumValue, Warning, "A value of an enum is not what the rest of the schema allows."},
	{ruleRequired, Error, "An argument is required that the schema does not have."},
	{ruleKeyword, Warning, "A member means nothing, and is spelled nearly as one that does."},
	{ruleNoVariable, Note, "An argument has a name that no variable can have; it is in $1 alone."},
	{ruleUnknown, Warning, "A variable is named like an argument, and no tool has one of that name."},
	{ruleAnnotations, Error, "What clients are told about a tool is of the wrong type; some drop the list over it."},
	{ruleHeader, Warning, "A header that a schema asks for is one that clients cannot send."},

	{smell.Eval, Error, "An argument is run as code by eval, a trap or ${…@P}."},
	{smell.ShellCode, Error, "An argument becomes part of a command for another shell."},
	{smell.RemoteCode, Error, "An argument becomes part of a command for a shell on another machine."},
	{smell.SourcedFile, Error, "An argument chooses a file that is run as a script."},
	{smell.CommandName, Error, "An argument chooses a command."},
	{smell.ProgramText, Error, "An argument becomes part of a program in another language."},
	{smell.Arithmetic, Error, "An argument is evaluated as arithmetic, which can run commands."},
	{smell.VariableName, Error, "An argument chooses a variable, or a subscript that is evaluated."},
	{smell.Unquoted, Warning, "An argument is expanded without quotes."},
	{smell.Option, Warning, "An argument may be taken for an option."},
	{smell.Format, Warning, "An argument is the format of printf."},
	{smell.Path, Note, "An argument that nothing limits is the path of a file."},
})

func byID(list []Rule) map[string]Rule {
	all := map[string]Rule{}
	for _, r := range list {
		all[r.ID] = r
	}
	return all
}

// Rules are all rules of Conch's own, sorted by their ids.
func Rules() (list []Rule) {
	for _, r := range rules {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Rule) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}
