package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/message"
)

// This file is what is made of a server that was started.

// Try starts a server as its client does, and says what came of it.
func (p Prober) Try(ctx context.Context, s Surroundings, from Source, server clients.Server) []Check {
	var section Section
	l, ok := s.examine(&section, from, server)
	if !ok {
		return section.Checks
	}
	v := verdict{answer: p.probe(ctx, l), launch: l, section: &section, timeout: p.Timeout}
	if ctx.Err() != nil {
		return nil
	}
	v.judge()
	return section.Checks
}

// Skipped is what is said of a server that its client does not start.
func Skipped(server clients.Server) Check {
	return Check{Mark: Note, Subject: server.Name, Finding: "is disabled, and was not tried", Remedy: "name it with --server to try it all the same"}
}

type verdict struct {
	answer
	launch
	section *Section
	timeout time.Duration
}

func (v *verdict) add(mark Mark, said []string, remedy, format string, args ...any) {
	v.section.Checks = append(v.section.Checks, Check{
		Mark: mark, Subject: v.launch.name, Finding: fmt.Sprintf(format, args...), Remedy: remedy, Said: said,
	})
}

// mostLines is how much of what a server has said is shown.
const mostLines = 8

func (v *verdict) judge() {
	v.judgeNoise()
	switch {
	case v.err != nil && !v.started:
		v.judgeStart()
	case v.err != nil:
		v.judgeError()
	case v.ended != "":
		v.add(Fail, v.lastLines(), "", "ended by itself once it had answered (%s)", v.ended)
	default:
		v.judgeOffer()
	}
	if v.lingered && v.err == nil {
		v.add(Note, nil, "", "did not end when its input did, and was made to")
	}
}

func (v *verdict) lastLines() []string { return lines(v.said, mostLines) }

func (v *verdict) judgeNoise() {
	if len(v.noise) == 0 {
		return
	}
	v.add(Fail, v.noise, "have it print that on standard error (>&2), or not at all",
		"prints on standard output what is no message of the protocol, where only messages may be")
}

// judgeStart is about what the system would not start.
func (v *verdict) judgeStart() {
	switch {
	case errors.Is(v.err, syscall.ENOEXEC):
		v.add(Fail, nil, "begin it with #!/usr/bin/env bash, or that of whatever runs it", "%s is no program for this machine, nor does its first line begin with #!", v.file)
	case errors.Is(v.err, fs.ErrNotExist):
		v.add(Fail, nil, "", "%s cannot be started: something that it needs is not there", v.file)
	default:
		v.add(Fail, nil, "", "%s cannot be started: %v", v.file, v.err)
	}
}

// judgeError is about a server that did not answer, or not well.
func (v *verdict) judgeError() {
	refused := refusal(v.err)
	switch {
	case v.ended != "":
		v.add(Fail, v.lastLines(), v.whyEnded(), "ended before it had answered (%s)%s", v.ended, v.saying())
	case errors.Is(v.err, errLate):
		v.add(Fail, v.lastLines(), v.whyLate(), "did not answer within %v%s", v.timeout, v.saying())
	case refused != nil && refused.Code == message.CodeMethodNotFound:
		v.add(Fail, v.lastLines(), "", "is no MCP server: it refused to begin")
	case refused != nil:
		v.add(Fail, v.lastLines(), "", "refused: %s", clip(refused.Message))
	case v.closed:
		v.add(Fail, v.lastLines(), "", "closed its standard output before it had answered, and went on%s", v.saying())
	default:
		v.add(Fail, v.lastLines(), "", "answered with what is not of the protocol: %s", clip(v.err.Error()))
	}
}

// saying goes before the last lines.
func (v *verdict) saying() string {
	if len(v.lastLines()) == 0 {
		return ", and said nothing on standard error"
	}
	return "; the last it said on standard error is below"
}

// whyEnded says what to do about a server that has ended, where that is known.
func (v *verdict) whyEnded() string {
	switch {
	case strings.Contains(v.said, "conch was not found"):
		return "give the entry CONCH_BIN in its env, the path of conch, or have conch install write the entry"
	case strings.Contains(v.said, "No such file or directory") && !strings.Contains(v.said, "env: "):
		return fmt.Sprintf("it looks for something that is not there; it runs in %s, from where relative paths lead, also those in the script", v.dir)
	case strings.HasSuffix(v.ended, " 127"), strings.Contains(v.said, "command not found"):
		return "a program that it runs is not on the PATH it has; give the entry a PATH in its env (conch install writes it), or write whole paths"
	case v.ended == "exit status 0":
		return "a server goes on until its input ends; is this one?"
	}
	return ""
}

func (v *verdict) whyLate() string {
	if len(v.noise) > 0 {
		return "what it prints is no MCP; is it a server on standard input and output?"
	}
	return "if it only takes long to start, give it more time with --timeout; clients give it a minute at most"
}

// judgeOffer is about a server that has answered.
func (v *verdict) judgeOffer() {
	warnings := v.warnings()
	as := ""
	if v.answer.name != "" {
		as = ", as " + clip(strings.TrimSpace(v.answer.name+" "+v.answer.version))
	}
	took := v.took.Round(time.Millisecond)
	switch {
	case len(v.tools) == 0 && v.others == 0:
		v.add(Fail, v.lastLines(), v.whyNothing(), "answers%s, and offers no tools", as)
		return
	case len(v.tools) == 0:
		v.add(OK, nil, "", "serves no tools, but resources or prompts (%d)%s, after %v", v.others, as, took)
	default:
		v.add(OK, nil, "", "serves %s (%s)%s, after %v", counted(len(v.tools), "tool"), clip(listed(v.tools)), as, took)
	}
	if len(warnings) > 0 {
		v.add(Warn, warnings, "", "warns on standard error")
	}
}

func (v *verdict) whyNothing() string {
	if v.isConch {
		return "a tool is a function below a comment # @cmd, or one called tool_NAME with an entry of that name in tools.json beside the script; conch tools shows what is missing"
	}
	return ""
}

// warnings are lines of conch's own log that are no news.
func (v *verdict) warnings() []string {
	if !v.isConch {
		return nil
	}
	var found []string
	for line := range strings.Lines(v.said) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") || strings.Contains(line, `"level":"WARN"`) {
			found = append(found, strings.TrimRight(line, "\n"))
		}
	}
	return found[max(0, len(found)-mostLines):]
}
