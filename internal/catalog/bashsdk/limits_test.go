package bashsdk

import (
	"strings"
	"testing"
	"time"
)

func TestLimitsOfATool(t *testing.T) {
	tests := []struct {
		members       string
		timeout, most time.Duration
		problem       string
	}{
		{``, 0, 0, ""},
		{`,"timeout":30`, 30 * time.Second, 0, ""},
		{`,"timeout":0.5,"maxTimeout":60`, 500 * time.Millisecond, time.Minute, ""},
		{`,"timeout":60,"maxTimeout":60`, time.Minute, time.Minute, ""},
		{`,"timeout":"30s"`, 0, 0, "timeout that is no positive number of seconds; --timeout applies"},
		{`,"timeout":"30","maxTimeout":60`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":0`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":-1`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":1e300`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":null`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":[1]`, 0, 0, "timeout that is no positive number"},
		{`,"timeout":30,"maxTimeout":true`, 30 * time.Second, 0, "maxTimeout that is no positive number"},
		{`,"timeout":30,"maxTimeout":10`, 30 * time.Second, 0, "less than its timeout"},
		{`,"maxTimeout":10`, 0, 0, "no timeout that could be extended"},
	}
	for _, tt := range tests {
		t.Run(tt.members, func(t *testing.T) {
			list, err := parseTools([]byte(`{"tools":[{"name":"x","inputSchema":{"type":"object"}`+tt.members+`}]}`), "")
			if err != nil {
				t.Fatal(err)
			}
			x := list.Lookup("x")
			if x == nil || x.Timeout != tt.timeout || x.MaxTimeout != tt.most {
				t.Errorf("got %+v", x)
			}
			problems := strings.Join(list.Problems, "\n")
			if tt.problem == "" && problems != "" || !strings.Contains(problems, tt.problem) {
				t.Errorf("the problems are %q", problems)
			}
		})
	}
}
