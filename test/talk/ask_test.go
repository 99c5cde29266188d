package talk_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
	"github.com/conch-mcp/conch/test/judge"
)

const asking = `
form='{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}'
tool_form() { mcp_elicit --key n 'How many?' "$form" || echo "status $?"; }
tool_confirm() { mcp_elicit_confirm 'Really?'; }
tool_string() { mcp_elicit_string 'Name?' name; }
tool_choice() { mcp_elicit_choice 'Which?' red 'dark "blue"'; }
tool_titled() { mcp_elicit_titled_choice 'Which?' r:Red b:Blue; }
tool_multi() { mcp_elicit_multi_choice 'Which?' red blue; }
tool_titled_multi() { mcp_elicit_titled_multi_choice 'Which?' r:Red b:Blue; }
tool_url() { mcp_elicit_url 'Go there' 'https://example.org/?a=b&c' 2>&1 || echo "status $?"; }
tool_sample() { mcp_sample --max-tokens 7 --system 'Be brief' 'Say "hi"' 2>&1 || echo "status $?"; }
tool_required() { echo ran; }
tool_twice() { mcp_elicit_confirm 'Again?'; mcp_elicit_confirm 'Again?'; mcp_elicit --key k x "$form"; mcp_elicit --key k x "$form"; }
tool_marked() { mcp_elicit_confirm 'Stay?'; echo "$BASHPID" >"$arg_file.new"; mv "$arg_file.new" "$arg_file"; sleep 1000; }
`

var askingEntries = map[string]string{"required": `"requires":["elicitation"]`}

// askingWays are the ways in which a client can be asked.
var askingWays = append(ways[:4:4], way{"stdio", "2025-06-18"})

func askingClient(t *testing.T, w way, flags ...string) *client {
	t.Helper()
	return fixture{
		script: asking, entries: askingEntries, flags: flags,
		caps: `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`,
	}.serve(t, w)
}

// always gives one answer.
func always(result string) func(question) reply {
	return func(question) reply { return reply{result: result} }
}

func TestTheAnswerReachesTheTool(t *testing.T) {
	each(t, askingWays, func(t *testing.T, w way) {
		c := askingClient(t, w, "--max-text=0B")
		for _, answer := range []string{
			`{"action":"accept","content":{"n":5}}`, `{"action":"decline"}`, `{"action":"cancel"}`,
			`{"action":"accept","content":{"n":12345678901234567890,"more":"` + strings.Repeat("x", 100_000) + `"}}`,
		} {
			c.answer = always(answer)
			o := c.call(ask{tool: "form"})
			said, failed := o.says()
			if failed {
				t.Errorf("%.100s: %.500s", answer, o.Raw)
			}
			sameJSON(t, "the answer", json.RawMessage(said), answer)
			if w.isModern() && o.rounds != 2 {
				t.Errorf("it took %d rounds", o.rounds)
			}
		}
	})
}

func TestWhatIsAskedIsWhatTheProtocolHas(t *testing.T) {
	value := func(schema string) string {
		return `{"type":"object","properties":{"value":` + schema + `},"required":["value"]}`
	}
	tests := []struct{ tool, schema, answer string }{
		{"confirm", `{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}`, `{"confirmed":true}`},
		{"string", `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`, `{"name":"A \"b\"\n"}`},
		{"choice", value(`{"type":"string","enum":["red","dark \"blue\""]}`), `{"value":"dark \"blue\""}`},
		{"titled", value(`{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"b","title":"Blue"}]}`), `{"value":"r"}`},
		{"multi", value(`{"type":"array","items":{"type":"string","enum":["red","blue"]}}`), `{"value":["red"]}`},
		{"titled_multi", value(`{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"},{"const":"b","title":"Blue"}]}}`), `{"value":["r","b"]}`},
	}
	each(t, ways, func(t *testing.T, w way) {
		c := askingClient(t, w)
		for _, tt := range tests {
			var asked question
			c.answer = func(q question) reply {
				asked = q
				return reply{result: `{"action":"accept","content":` + tt.answer + `}`}
			}
			said, failed := c.call(ask{tool: tt.tool}).says()
			if failed || asked.method != "elicitation/create" {
				t.Errorf("%s: %s, asked %+v", tt.tool, said, asked)
			}
			sameJSON(t, tt.tool, member(asked.params, "requestedSchema"), tt.schema)
			sameJSON(t, tt.tool, member(json.RawMessage(said), "content"), tt.answer)
		}
		var asked question
		c.answer = func(q question) reply { asked = q; return reply{result: `{"action":"accept"}`} }
		c.call(ask{tool: "url"}).wantSays(t, `{"action":"accept"}`)
		if text(asked.params, "mode") != "url" || text(asked.params, "url") != "https://example.org/?a=b&c" || text(asked.params, "elicitationId") == "" {
			t.Errorf("asked is %s", asked.params)
		}
		c.answer = func(q question) reply {
			asked = q
			return reply{result: `{"role":"assistant","model":"m","content":{"type":"text","text":"hi \"there\""}}`}
		}
		c.call(ask{tool: "sample"}).wantSays(t, `hi "there"`)
		sameJSON(t, "the prompt", asked.params, `{"messages":[{"role":"user","content":{"type":"text","text":"Say \"hi\""}}],"maxTokens":7,"systemPrompt":"Be brief"}`)
	})
}

func TestWhoAnswersWhatWasNotAskedIsAskedAgain(t *testing.T) {
	wrong := []string{`{"action":"accept","content":{"n":"5"}}`, `{"action":"accept","content":{}}`, `{"action":"accept"}`, `{"action":"maybe"}`, `[]`}
	each(t, ways, func(t *testing.T, w way) {
		c := askingClient(t, w)
		for _, bad := range wrong {
			var mu sync.Mutex
			times := 0
			c.answer = func(question) reply {
				mu.Lock()
				defer mu.Unlock()
				if times++; times < 3 {
					return reply{result: bad}
				}
				return reply{result: `{"action":"accept","content":{"n":5}}`}
			}
			c.call(ask{tool: "form"}).wantSays(t, `{"action":"accept","content":{"n":5}}`)
			if times != 3 {
				t.Errorf("%s: asked %d times", bad, times)
			}
		}
	})
}

func TestAClientIsAskedThreeTimes(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := askingClient(t, w)
		c.answer = always(`{"action":"accept"}`)
		said, _ := c.call(ask{tool: "form"}).says()
		if said != "conch: the client has answered 3 times what was not asked; the last time: it has no content\nstatus 1" || !w.isModern() && len(c.asked) != 3 {
			t.Errorf("asked %d times, it says %q", len(c.asked), said)
		}
	})
}

func TestAQuestionThatIsNoneIsNotPut(t *testing.T) {
	script := `
tool_wrong() {
  mcp_elicit x '{"type":"string"}'; mcp_elicit x '{"type":"object"}'; mcp_elicit x '[1]'
  mcp_elicit x '{"type":"object","properties":{"a":{"type":"object"}}}'; mcp_elicit x '{"type":"object","properties":{"a":{"$ref":"#"}}}'
  mcp_elicit x '{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}'
  mcp_elicit_url x javascript:alert; mcp_elicit_url x page; mcp_elicit_confirm ''
  echo "status $?"
}
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, caps: `{"elicitation":{"form":{},"url":{}}}`}.serve(t, w)
		c.answer = always(`{"action":"accept","content":{}}`)
		said, _ := c.call(ask{tool: "wrong"}).says()
		lines := strings.Split(said, "\n")
		if len(c.asked) != 0 || len(lines) != 10 || lines[9] != "status 2" || !strings.Contains(lines[3], `property "a"`) || !strings.Contains(lines[6], "http or https") {
			t.Errorf("asked %d times, it says %q", len(c.asked), said)
		}
	})
}

// Choices as the forms of 2025-06-18 have them.
func TestOlderFormsHaveTheirOwnChoices(t *testing.T) {
	script := `
tool_titled() { mcp_elicit_titled_choice which r:Red g:Green; }
tool_several() { mcp_elicit_multi_choice which a b || echo "status $?"; }
`
	c := fixture{script: script, caps: `{"elicitation":{}}`}.serve(t, way{"stdio", "2025-06-18"})
	c.answer = always(`{"action":"accept","content":{"value":"r"}}`)
	c.call(ask{tool: "titled"}).wantSays(t, `{"action":"accept","content":{"value":"r"}}`)
	sameJSON(t, "the form", member(c.asked[0].params, "requestedSchema"), `{"type":"object","properties":{"value":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}},"required":["value"]}`)
	if said, _ := c.call(ask{tool: "several"}).says(); !strings.HasSuffix(said, "choose several things\nstatus 4") || len(c.asked) != 1 {
		t.Errorf("it says %q", said)
	}
}

func TestAnErrorOfTheClientsReachesTheTool(t *testing.T) {
	each(t, []way{ways[0], ways[2]}, func(t *testing.T, w way) {
		c := askingClient(t, w)
		c.answer = func(question) reply { return reply{err: `{"code":-1,"message":"User rejected sampling request"}`} }
		c.call(ask{tool: "sample"}).wantSays(t, "conch: the client refused: User rejected sampling request\nstatus 1")
	})
}

func TestWhatAClientDoesNotDeclareItIsNotAsked(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: asking, entries: askingEntries, caps: `{"sampling":{}}`}.serve(t, w)
		c.answer = always(`{"action":"accept","content":{"n":5}}`)
		c.call(ask{tool: "form"}).wantSays(t, "conch: the client cannot be asked this: it declares no elicitation\nstatus 4")
		c.call(ask{tool: "url"}).wantSays(t, "conch: the client cannot be asked this: it declares no elicitation.url\nstatus 4")
		o := c.call(ask{tool: "required"})
		code := -32600
		if w.isModern() {
			code = -32021
		}
		if o.Error == nil || o.Error.Code != code {
			t.Fatalf("a tool that requires it: %s", o.Raw)
		}
		sameJSON(t, "data", o.Error.Data, `{"requiredCapabilities":{"elicitation":{}}}`)
	})
}

// A client declares what it can do before it knows what will be spoken.
func TestWhatARevisionDoesNotHaveNobodyIsAsked(t *testing.T) {
	older := []way{{"stdio", "2024-11-05"}, {"stdio", "2025-03-26"}, {"stdio", "2025-06-18"}}
	each(t, older, func(t *testing.T, w way) {
		c := askingClient(t, w)
		c.answer = always(five)
		refused := func(capability string) string {
			return "conch: the client cannot be asked this: its revision of the protocol has no " + capability + "\nstatus 4"
		}
		c.call(ask{tool: "url"}).wantSays(t, refused("elicitation.url"))
		if w.revision >= "2025-06-18" {
			c.call(ask{tool: "form"}).wantSays(t, five)
			return
		}
		c.call(ask{tool: "form"}).wantSays(t, refused("elicitation"))
		o := c.call(ask{tool: "required"})
		if o.Error == nil || o.Error.Code != -32600 {
			t.Fatalf("a tool that requires it: %s", o.Raw)
		}
		sameJSON(t, "data", o.Error.Data, `{"requiredCapabilities":{"elicitation":{}}}`)
	})
}

func TestTheSameQuestionTwiceIsTwoQuestions(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		// Without parking too, where the answers are found by their keys.
		for _, most := range []string{"100", "0"} {
			c := askingClient(t, w, "--max-parked="+most)
			var mu sync.Mutex
			n := 0
			c.answer = func(q question) reply {
				mu.Lock()
				defer mu.Unlock()
				n++
				return reply{result: fmt.Sprintf(`{"action":"accept","content":{"confirmed":true,"n":%d}}`, n)}
			}
			said, failed := c.call(ask{tool: "twice"}).says()
			lines := strings.Split(said, "\n")
			if failed || len(lines) != 4 {
				t.Fatalf("--max-parked %s: it says %q", most, said)
			}
			for i, line := range lines {
				sameJSON(t, "the answer", json.RawMessage(line), fmt.Sprintf(`{"action":"accept","content":{"confirmed":true,"n":%d}}`, i+1))
			}
		}
	})
}

// Both are said in one breath, so both are asked in one result.
func TestQuestionsAskedAtOnceGoOutTogether(t *testing.T) {
	script := `
tool_both() {
  local me=${MCP_CALL_TMPDIR##*/} a b
  mkfifo "$CONCH_TALK.a" "$CONCH_TALK.b"
  exec 8<>"$CONCH_TALK.a" 9<>"$CONCH_TALK.b"
  printf '%s' "$me ask {\"reply\":\"a\",\"key\":\"a\",\"method\":\"roots/list\",\"params\":{}}
$me ask {\"reply\":\"b\",\"key\":\"b\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"x\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}
" 1<>"$CONCH_TALK"
  read -r a <&8; read -r b <&9
  printf '%s\n%s\n' "$a" "$b"
}
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, caps: `{"elicitation":{},"roots":{}}`}.serve(t, w)
		c.answer = func(q question) reply {
			if q.method == "roots/list" {
				return reply{result: `{"roots":[]}`}
			}
			return reply{result: `{"action":"decline"}`}
		}
		o := c.call(ask{tool: "both"})
		roots := `{"result":{"roots":[]}}`
		if w.isModern() {
			// Whoever asks is told beside it which roots they come to.
			roots = `{"result":{"roots":[]},"roots":[]}`
		}
		o.wantSays(t, roots+"\n"+`{"result":{"action":"decline"}}`)
		if w.isModern() && o.rounds != 2 {
			t.Errorf("it took %d rounds", o.rounds)
		}
	})
}

func TestACallIsCancelledWhileItAsks(t *testing.T) {
	each(t, []way{ways[0], ways[2]}, func(t *testing.T, w way) {
		c := askingClient(t, w)
		file := filepath.Join(t.TempDir(), "asked")
		p := c.start(ask{tool: "marked", args: fmt.Sprintf(`{"file":%q}`, file)})
		harness.Eventually(t, harness.Deadline, "the client is asked", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.asked) == 1
		})
		p.cancel()
		harness.Eventually(t, harness.Deadline, "the asking process is gone", func() bool { return asksNothing(c) })
		c.answer = always(`{"action":"accept","content":{"n":5}}`)
		c.call(ask{tool: "form"}).wantSays(t, `{"action":"accept","content":{"n":5}}`)
		if p.reply.Raw != "" {
			t.Errorf("what was cancelled is answered: %s", p.reply.Raw)
		}
	})
}

// In the stateless era a call that asks has been answered. What can be cancelled
// is the request that it goes on with.
func TestACallThatWasParkedIsCancelled(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c := askingClient(t, w)
		file := filepath.Join(t.TempDir(), "pid")
		a := c.asks("marked", fmt.Sprintf(`{"file":%q}`, file))
		for key := range a.answers {
			a.answers[key] = json.RawMessage(`{"action":"decline"}`)
		}
		p := c.start(a)
		var pid int
		harness.Eventually(t, harness.Deadline, "the tool goes on", func() bool {
			text, _ := os.ReadFile(file)
			_, err := fmt.Sscan(string(text), &pid)
			return err == nil
		})
		p.cancel()
		harness.Eventually(t, harness.Deadline, "the tool has ended", func() bool { return !harness.Alive(pid) })
		c.answer = always(five)
		c.call(ask{tool: "form"}).wantSays(t, five)
	})
}

// asksNothing reports whether no process of the server's waits for an answer,
// and no place for one is left.
func asksNothing(c *client) bool {
	for _, pid := range c.server.Session() {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(args), "\x00tool\x00") {
			return false
		}
	}
	for _, file := range c.server.Files() {
		if _, after, ok := strings.Cut(filepath.Base(file), ".talk."); ok && after != "bash" {
			return false
		}
	}
	return true
}

func TestTheEndOfTheInputEndsACallThatAsks(t *testing.T) {
	for _, revision := range []string{judge.NewestLegacy, modern} {
		t.Run(revision, func(t *testing.T) {
			c := askingClient(t, way{"stdio", revision}, "--drain=300ms")
			p := c.start(ask{tool: "form"})
			if revision == modern {
				p.wait()
			} else {
				harness.Eventually(t, harness.Deadline, "the client is asked", func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return len(c.asked) == 1
				})
			}
			c.end()
		})
	}
}

func TestAQuestionOfTheOlderErasIsNotWaitedForForEver(t *testing.T) {
	// The shorter time has to do for the start of the program that asks.
	c := askingClient(t, ways[0], "--park-timeout=6s", "--timeout=5s")
	// Its time stands still, or it would have been stopped before.
	c.call(ask{tool: "form"}).wantSays(t, "conch: the client has not answered within 6s (--park-timeout)\nstatus 1")
}

func TestATextThatLooksLikeAnOptionIsAsked(t *testing.T) {
	script := `
tool_dash() { mcp_elicit_confirm "$arg_text"; mcp_elicit_choice "$arg_text" -a --help; mcp_elicit --key k "$arg_text" '{"type":"object","properties":{}}' 30; }
tool_sample() { mcp_sample "$arg_text" --max-tokens 7; mcp_sample --system s -- --system; }
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, caps: `{"elicitation":{},"sampling":{}}`}.serve(t, w)
		var asked []string
		c.answer = func(q question) reply {
			if q.method == "sampling/createMessage" {
				var messages []json.RawMessage
				_ = json.Unmarshal(member(q.params, "messages"), &messages)
				asked = append(asked, text(messages[0], "content", "text"))
				return reply{result: `{"role":"assistant","model":"m","content":[{"type":"text","text":"o"},{"type":"text","text":"k"}]}`}
			}
			asked = append(asked, text(q.params, "message"))
			return reply{result: `{"action":"decline"}`}
		}
		for _, say := range []string{"--help", "-h", "-5 degrees?", "--keys"} {
			asked = nil
			args := `{"text":` + quote(say) + `}`
			c.call(ask{tool: "dash", args: args}).wantSays(t, strings.TrimSpace(strings.Repeat(`{"action":"decline"}`+"\n", 3)))
			if strings.Join(asked, " ") != strings.TrimSpace(strings.Repeat(say+" ", 3)) {
				t.Errorf("%s is asked as %q", say, asked)
			}
		}
		asked = nil
		c.call(ask{tool: "sample", args: `{"text":"--help"}`}).wantSays(t, "ok\nok")
		if strings.Join(asked, " ") != "--help --system" {
			t.Errorf("the model is asked %q", asked)
		}
	})
}

// A program that takes its time to start, as on a busy machine.
func TestQuestionsThatAreAnnouncedAreWaitedFor(t *testing.T) {
	script := `
tool_both() {
  printf '%s asking "late"\n' "${MCP_CALL_TMPDIR##*/}" 1<>"$CONCH_TALK"
  mcp_elicit_confirm one &
  { sleep 0.6; CONCH_ASKER=late "$CONCH_BIN" tool elicit confirm two; } &
  wait
}
`
	each(t, ways[1:2], func(t *testing.T, w way) {
		c := fixture{script: script, caps: `{"elicitation":{}}`}.serve(t, w)
		c.answer = always(`{"action":"decline"}`)
		if o := c.call(ask{tool: "both"}); o.rounds != 2 {
			t.Errorf("it took %d rounds", o.rounds)
		}
	})
}

func TestOnlySoManyQuestionsAreOpenAtOnce(t *testing.T) {
	script := `
tool_many() {
  local i me=${MCP_CALL_TMPDIR##*/}
  for ((i = 0; i < 200; i++)); do
    printf '%s ask {"key":"k%d","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}},"reply":"none%d"}\n' "$me" "$i" "$i" 1<>"$CONCH_TALK"
  done
  mcp_elicit_confirm really 2>"$arg_file.refused" || echo "status $?"
  until [[ -e $arg_file ]]; do sleep 0.02; done
}
`
	for _, w := range []way{ways[0], ways[1]} {
		c := fixture{script: script, caps: `{"elicitation":{}}`}.serve(t, w)
		most := 0
		c.answer = func(question) reply { return reply{} }
		file := filepath.Join(t.TempDir(), "go")
		p := c.start(ask{tool: "many", args: `{"file":` + quote(file) + `}`})
		harness.Eventually(t, harness.Deadline, "one more is refused", func() bool {
			text, _ := os.ReadFile(file + ".refused")
			return strings.Contains(string(text), "64 questions open")
		})
		if w.isModern() {
			most = len(questions(p.wait().Result))
		} else {
			c.mu.Lock()
			most = len(c.asked)
			c.mu.Unlock()
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if most == 0 || most > 64 {
			t.Errorf("%s: %d questions are put to the client", w, most)
		}
	}
}

// Until the server has room for it no more.
func TestAnswersTooLongToBeCarriedStayWithTheCall(t *testing.T) {
	script := `tool_ask() { local a b; a=$(mcp_elicit_string first); b=$(mcp_elicit_string second); echo "${#a} $b"; }`
	var long strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&long, "%x", sha256.Sum256([]byte(fmt.Sprint(i))))
	}
	for _, flags := range [][]string{nil, {"--max-parked=0"}} {
		c := fixture{script: script, flags: flags, caps: `{"elicitation":{}}`}.serve(t, ways[1])
		c.answer = func(q question) reply {
			if text(q.params, "message") == "second" {
				return reply{result: `{"action":"accept","content":{"value":"short"}}`}
			}
			return reply{result: `{"action":"accept","content":{"value":"` + long.String() + `"}}`}
		}
		o := c.call(ask{tool: "ask"})
		if flags == nil {
			said, _ := o.says()
			if !strings.HasSuffix(said, ` {"action":"accept","content":{"value":"short"}}`) || len(said) > 200 {
				t.Errorf("it says %.300s", said)
			}
			continue
		}
		if o.Error == nil || !strings.Contains(o.Error.Message, "--max-parked") {
			t.Errorf("without room to park: %.300s", o.Raw)
		}
	}
}
