package sparing_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/sparing"
)

// record is a log, and the lines it has got.
func record() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, nil)), &text
}

func TestAFewAreWrittenAndTheRestIsCounted(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, sparing.Most: sparing.Most, sparing.Most + 1: sparing.Most + 1, 100_000: sparing.Most + 1} {
		log, text := record()
		l := sparing.New(log, "and more", 0)
		for range n {
			l.Warn("bad", "a", 1)
		}
		l.End("call", "x")
		l.End("call", "x")
		if got := strings.Count(text.String(), "\n"); got != want {
			t.Errorf("of %d warnings there are %d lines", n, got)
		}
		if n == 100_000 && !strings.HasSuffix(text.String(), "msg=\"and more\" times=99980 call=x\n") {
			t.Errorf("the last line of %q does not tell how many", text)
		}
	}
}

func TestItBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, text := record()
		l := sparing.New(log, "and more", time.Minute)
		for range 3 {
			for range 50 {
				l.Warn("bad")
			}
			time.Sleep(time.Minute)
		}
		l.End()
		if bad, more := strings.Count(text.String(), "msg=bad"), strings.Count(text.String(), "times=30"); bad != 3*sparing.Most || more != 3 {
			t.Errorf("%d warnings and %d counts", bad, more)
		}
	})
}
