package telemetry

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFailuresAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		f := failures{log: log.logger()}
		for range 150 {
			f.add(errors.New("no route"), 3)
			time.Sleep(time.Second)
		}
		got := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(got) != 3 {
			t.Fatalf("%d lines in two and a half minutes: %q", len(got), got)
		}
		for i, spans := range []string{"spans=3 ", "spans=180 ", "spans=180 "} {
			if !strings.Contains(got[i], spans) || !strings.Contains(got[i], `err="no route"`) {
				t.Errorf("line %d is %q, want %s", i, got[i], spans)
			}
		}
	})
}
