package examples_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const metaPrefix = "io.modelcontextprotocol/"

// modernCall is a call of the stateless era. members are more of its params.
func modernCall(id int, tool, arguments, capabilities, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"%[2]sprotocolVersion":"2026-07-28","%[2]sclientCapabilities":%[3]s,"progressToken":%[1]d},"name":%[4]q,"arguments":%[5]s%[6]s}}`,
		id, metaPrefix, capabilities, tool, arguments, members)
}

// reply reads lines until there is an answer. The others are notifications.
func reply(t *testing.T, s *harness.Server) (r harness.Reply, told []string) {
	t.Helper()
	for {
		line := s.Line()
		if !strings.Contains(line, `"method":"notifications/`) {
			return harness.ParseReply(t, line), told
		}
		told = append(told, line)
	}
}

func TestADeployAsksBeforeItActs(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("DEPLOY_LOG", log)
	deploy := func(target string) string {
		return fmt.Sprintf(`{"service":"billing","version":"1.4.2","target":%q}`, target)
	}
	tests := []struct {
		about, flags, answer, says string
		deploys                    int
	}{
		{"and does when it may", "", `{"action":"accept","content":{"go":true,"reason":"\"go\":false"}}`, "billing 1.4.2 is on production.", 1},
		{"and begins anew where it cannot wait", "--max-parked=0", `{"action":"accept","content":{"go":true}}`, "billing 1.4.2 is on production.", 2},
		{"and does nothing when it may not", "", `{"action":"accept","content":{"go":false,"reason":"\"go\":true"}}`, "It was not deployed: the answer was no.", 2},
		{"and does nothing when nobody cares", "", `{"action":"cancel"}`, "It was not deployed: the answer was no.", 2},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			args := append(strings.Fields(tt.flags), filepath.Join(harness.Root(), "examples", "ask", "server.sh"))
			s := harness.Serve(t, args...)
			s.Send(modernCall(1, "deploy", deploy("production"), `{"elicitation":{}}`, ""))
			asked, _ := reply(t, s)
			var result struct{ RequestState string }
			if err := json.Unmarshal(asked.Result, &result); err != nil || result.RequestState == "" {
				t.Fatalf("it does not ask: %s", asked.Raw)
			}
			state, _ := json.Marshal(result.RequestState)
			s.Send(modernCall(2, "deploy", deploy("production"), `{"elicitation":{}}`, fmt.Sprintf(`,"requestState":%s,"inputResponses":{"go":%s}`, state, tt.answer)))
			done, _ := reply(t, s)
			if text, isError := done.ToolText(t); text != tt.says || isError {
				t.Errorf("it says %q", text)
			}
			text, err := os.ReadFile(log)
			if err != nil || strings.Count(string(text), "\n") != tt.deploys {
				t.Errorf("the log is %q, %v", text, err)
			}
		})
	}
	t.Run("and refuses where it cannot ask", func(t *testing.T) {
		e := theExample(t, "ask")
		answers := e.session([]asked{
			{"staging", "deploy", deploy("staging"), false, []string{"billing 1.4.2 is on staging."}},
			{"production", "deploy", deploy("production"), true, []string{"Production needs a yes"}},
			{"a strange name", "deploy", `{"service":"$(id)","version":"1","target":"staging"}`, true, []string{"service"}},
		})
		if len(answers) != 3 {
			t.Error(answers)
		}
		if list := e.call("list_deploys", `{}`); strings.Count(list.text, "billing 1.4.2") != 4 {
			t.Errorf("the list is %q", list.text)
		}
	})
}

func TestAPictureIsDrawnRowByRow(t *testing.T) {
	s := harness.Serve(t, filepath.Join(harness.Root(), "examples", "media", "server.sh"))
	s.Send(modernCall(1, "draw", `{"width":16,"height":12,"depth":10}`, `{}`, ""))
	done, told := reply(t, s)
	if len(told) != 12 || !strings.Contains(told[11], `"progress":12,"total":12`) {
		t.Errorf("the progress is %q", told)
	}
	var result struct {
		Content []struct{ Type, Data, MIMEType string }
	}
	if err := json.Unmarshal(done.Result, &result); err != nil || len(result.Content) != 2 || result.Content[1].MIMEType != "image/png" {
		t.Fatalf("the result is %s", done.Raw)
	}
	data, err := base64.StdEncoding.DecodeString(result.Content[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != 16 || size.Y != 12 {
		t.Errorf("it is %v", size)
	}
	var shades []uint32
	for y := range 12 {
		for x := range 16 {
			shade, _, _, _ := picture.At(x, y).RGBA()
			shades = append(shades, shade>>8)
		}
	}
	slices.Sort(shades)
	if shades = slices.Compact(shades); len(shades) < 4 || shades[len(shades)-1] != 255 {
		t.Errorf("its shades are %v", shades)
	}
}

func TestADrawingThatNobodyWantsIsStopped(t *testing.T) {
	s := harness.Serve(t, filepath.Join(harness.Root(), "examples", "media", "server.sh"))
	s.Send(modernCall(1, "draw", `{"width":256,"height":192,"depth":200}`, `{}`, ""))
	if line := s.Line(); !strings.Contains(line, `"method":"notifications/progress"`) {
		t.Fatalf("no progress: %s", line)
	}
	s.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	harness.Eventually(t, harness.Deadline, "it stops", func() bool { return strings.Contains(s.Stderr(), "stopped at row") })
}
