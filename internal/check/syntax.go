package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/check/smell"
)

// longest is how long another program may take with one script.
const longest = 2 * time.Minute

// syntax has Bash read a script, which runs nothing of it.
func (c *checker) syntax(f *file, broken *syntax.ParseError) (good bool) {
	if at := bytes.Index(f.text, []byte("\r\n")); at >= 0 {
		found := f.at(ruleCRLF, at, 0)
		found.Column = 0
		found.Message = "lines end in a carriage return and a newline, as on Windows; Bash takes the carriage return for part of each line"
		found.Safer = "sed -i 's/\\r$//' " + f.name
		c.tell(found)
		return false
	}
	if c.options.Bash == "" {
		return c.parsed(broken)
	}
	// A file named in BASH_ENV would be run.
	out, err := c.output(c.options.Bash, []string{"--norc", "--noprofile", "-n", "--", f.name}, "BASH_ENV=", "LC_ALL=C")
	var exit *exec.ExitError
	switch {
	case err == nil && len(out.stderr) == 0:
		return true
	case err != nil && !errors.As(err, &exit):
		c.tell(Finding{Rule: ruleUnread, File: f.name, Message: "bash -n could not be run: " + err.Error()})
		return c.parsed(broken)
	}
	return !c.bashSays(f, broken, string(out.stderr))
}

// parsed tells what keeps the code from being looked at, where Bash itself has not
// been asked.
func (c *checker) parsed(broken *syntax.ParseError) bool {
	if broken == nil {
		return true
	}
	c.tell(c.broken(ruleSyntax, broken))
	return false
}

func (c *checker) broken(rule string, broken *syntax.ParseError) Finding {
	f := Finding{Rule: rule, File: broken.Filename, Line: int(broken.Pos.Line()), Column: int(broken.Pos.Col()), Message: broken.Text}
	if source := c.files[broken.Filename]; source != nil {
		f.Column = source.column(f.Line, f.Column)
	}
	return f
}

// said is a line of Bash's: the script's name, the line and what is wrong.
var said = regexp.MustCompile(`^.*: line (\d+): (.*)$`)

// bashSays tells of what Bash has against a script.
func (c *checker) bashSays(f *file, broken *syntax.ParseError, stderr string) (told bool) {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		m := said.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[1])
		if strings.HasPrefix(m[2], "`") && told {
			continue // the line itself, which Bash repeats
		}
		message := m[2]
		severity := Error
		if strings.HasPrefix(message, "warning: ") {
			message, severity = strings.TrimPrefix(message, "warning: "), Warning
		}
		found := Finding{Rule: ruleSyntax, Severity: severity, File: f.name, Line: min(number, len(f.lines)), Message: strings.TrimPrefix(message, "syntax error: ")}
		if broken != nil {
			found.Safer = fmt.Sprintf("look at line %d: %s", broken.Pos.Line(), broken.Text)
		}
		c.tell(found)
		told = told || severity == Error
	}
	return told
}

// output is what a program has printed.
type output struct{ stdout, stderr []byte }

func (c *checker) output(program string, args []string, env ...string) (output, error) {
	cmd := exec.CommandContext(c.ctx, program, args...)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(longest, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.Bytes(), errs.Bytes()}, err
}

// needless are shellcheck's codes that say nothing here: that files are not
// followed, and that the #! line names no shell.
var needless = []int{1008, 1090, 1091, 2148}

// setByConch are variables that a call finds, or that conch reads.
var setByConch = regexp.MustCompile(`^(arg_|argc_|MCP_|CONCH_|TRACE|BAGGAGE)\w* (is referenced but not assigned|appears unused)`)

type shellcheckComment struct {
	Line, EndLine, Column, EndColumn int
	Level                            string
	Code                             int
	Message                          string
}

// shellcheck tells what shellcheck has to say.
func (c *checker) shellcheck(s *script) {
	if c.options.Shellcheck == "" {
		return
	}
	out, err := c.output(c.options.Shellcheck, []string{"--shell=bash", "--format=json1", "--", s.name})
	var result struct{ Comments []shellcheckComment }
	if jsonErr := json.Unmarshal(out.stdout, &result); jsonErr != nil {
		why := strings.TrimSpace(string(out.stderr))
		if why == "" && err != nil {
			why = err.Error()
		}
		c.tell(Finding{Rule: ruleUnread, File: s.name, Message: "shellcheck could not be run: " + short(why)})
		return
	}
	for _, comment := range result.Comments {
		if slices.Contains(needless, comment.Code) || setByConch.MatchString(comment.Message) || c.known(s, comment) {
			continue
		}
		code := fmt.Sprintf("SC%04d", comment.Code)
		c.tell(Finding{
			Rule: code, Severity: severityOf(comment), File: s.name,
			Line: comment.Line, Column: comment.Column, EndLine: comment.EndLine, EndColumn: comment.EndColumn,
			Message: strings.TrimSuffix(comment.Message, "."), Safer: "see https://www.shellcheck.net/wiki/" + code,
		})
	}
}

// severityOf is how much a finding of shellcheck's matters here: what it calls an
// error is one where it cannot read the code, and else is wrong for some values.
func severityOf(comment shellcheckComment) Severity {
	switch {
	case comment.Level == "error" && comment.Code < 2000:
		return Error
	case comment.Level == "error" || comment.Level == "warning":
		return Warning
	}
	return noted
}

// known reports whether the same is told of an argument already.
func (c *checker) known(s *script, comment shellcheckComment) bool {
	if comment.Code != 2086 && comment.Code != 2068 && comment.Code != 2059 {
		return false
	}
	return slices.ContainsFunc(c.findings, func(f Finding) bool {
		return f.File == s.name && f.Line == comment.Line && (f.Rule == smell.Unquoted || f.Rule == smell.Format) &&
			f.Column <= comment.EndColumn && f.Column+1 >= comment.Column
	})
}

// executable tells of a script that its #! line promises more than its mode.
func (c *checker) executable(s *script) {
	info, err := os.Stat(s.name)
	if err != nil || !strings.HasPrefix(s.lines[0], "#!") || !strings.Contains(s.lines[0], "conch") || info.Mode()&0o111 != 0 {
		return
	}
	c.tell(Finding{Rule: ruleNotExecutable, File: s.name, Line: 1, Message: "the script is not executable, and cannot be started by its #! line", Safer: "chmod +x " + s.name})
}
