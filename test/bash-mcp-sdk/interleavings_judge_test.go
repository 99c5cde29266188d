package batstest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// judgeOutput tells what is wrong with the lines of the server's output.
func (p *interleaving) judgeOutput(output []string) (faults []string) {
	answered := map[*line]bool{}
	from := 0
	if last := len(output) - 1; last >= 0 && p.kill.tears() && !strings.HasSuffix(output[last], "\n") {
		output = output[:last]
	}
	for _, text := range output {
		if !json.Valid([]byte(text)) || !strings.HasSuffix(text, "\n") {
			faults = append(faults, fmt.Sprintf("no line of JSON: %.300q", text))
		}
		at := slices.IndexFunc(p.lines[from:], func(l *line) bool {
			return !answered[l] && l.need != never && p.answers(text, l)
		})
		if at < 0 {
			faults = append(faults, fmt.Sprintf("asked for by no line, or not now, or not any more: %.300q", text))
			continue
		}
		answered[p.lines[from+at]] = true
		if p.concurrency == 1 {
			from += at + 1
		}
	}
	for _, l := range p.lines {
		if l.need == must && !answered[l] {
			faults = append(faults, "not answered: "+l.String())
		}
	}
	return faults
}

// answers reports whether text is a response to l.
func (p *interleaving) answers(text string, l *line) bool {
	return l.matches(text) || p.kill != kill{} && l.need == may && l.id != "" && isRefusal(strings.TrimPrefix(text, l.start))
}

// isRefusal reports whether a response with that behind its id is one that a
// server at its end may give to what it would else have done.
func isRefusal(rest string) bool {
	return strings.HasPrefix(rest, `"error":{"code":-32603,`) ||
		strings.HasPrefix(rest, `"result":{"content":[{"type":"text","text":"Cannot run `)
}

// judgeEnd tells what is wrong with how the script's shell has ended.
func (p *interleaving) judgeEnd(state *os.ProcessState) []string {
	status := state.Sys().(syscall.WaitStatus)
	var right bool
	switch {
	case p.kill.whom == helper:
		right = status.Exited() && status.ExitStatus() != 0
	case p.kill == kill{}:
		right = state.Success()
	default:
		// It may have been at its end already.
		right = status.Signaled() && status.Signal() == p.kill.signal || p.closed && state.Success()
	}
	if right {
		return nil
	}
	return []string{fmt.Sprintf("the script's shell ended with: %v", state)}
}

// judgeRecord tells what is wrong with what ran, how often each line of the
// record being there.
func (p *interleaving) judgeRecord(record map[string]int) (faults []string) {
	count := func(format string, args ...any) int { return record[fmt.Sprintf(format, args...)] }
	for text, n := range record {
		if n > 1 && text != "hook slow none" {
			faults = append(faults, fmt.Sprintf("%d times: %s", n, text))
		}
	}
	for _, l := range p.lines {
		begun, hooks := count("begun %s %d", l.tool, l.n), count("hook slow %d", l.n)
		switch {
		case l.tool == "" && count("begun quick %d", l.n) > 0:
			faults = append(faults, "run: "+l.String())
		case l.tool != "" && l.need == must && begun != 1:
			faults = append(faults, "not run: "+l.String())
		case l.lasts() && !l.cancelled() && p.kill.letsFinish() && begun != count("ended %s %d", l.tool, l.n):
			faults = append(faults, "begun and not ended: "+l.String())
		case hooks > 0 && !l.cancelled():
			faults = append(faults, "its cancel hook ran: "+l.String())
		case l.tool == "slow" && l.endless && l.begun && l.cancelled() && p.kill == kill{} && hooks != 1:
			faults = append(faults, "its cancel hook did not run: "+l.String())
		}
	}
	return append(faults, p.judgeLast(record)...)
}

func (l *line) lasts() bool { return l.tool == "slow" || l.tool == "stubborn" }

// judgeLast tells what is wrong with what the script does at its end.
func (p *interleaving) judgeLast(record map[string]int) (faults []string) {
	if !p.kill.endsShell() && (p.kill == kill{} || p.served()) && record["exit"] != 1 {
		faults = append(faults, "the script's EXIT trap did not run")
	}
	if p.kill == (kill{}) && record["over"] != 1 {
		faults = append(faults, "the script did not go on after run_mcp_server")
	}
	if p.kill != (kill{}) && !p.closed && record["over"] != 0 {
		faults = append(faults, "the script went on after run_mcp_server")
	}
	return faults
}

// judgeWords tells what is wrong with what the server says beside the protocol.
func (p *interleaving) judgeWords(stderr, journal string) (faults []string) {
	if p.kill == (kill{}) && stderr != "" {
		faults = append(faults, "there is something on standard error")
	}
	if strings.Contains(journal, "Cannot remove call directory") {
		faults = append(faults, "a call's directory was not removed")
	}
	return faults
}
