package call

import (
	"testing"
	"time"
)

func TestAClockStandsStillWhileItIsHeld(t *testing.T) {
	c := &Clock{Timeout: time.Hour}
	c.begin(time.Minute)
	end := c.deadline()
	c.Hold()
	c.Hold()
	c.held = c.held.Add(-2 * time.Hour)
	c.GoOn()
	if c.isOver() || !c.deadline().After(end) {
		t.Error("it is over while somebody holds it")
	}
	c.GoOn()
	if left := time.Until(c.deadline()); left < 2*time.Hour || left > 4*time.Hour {
		t.Errorf("it has %v left", left)
	}
}

func TestProgressExtendsAClockUpToALimit(t *testing.T) {
	tests := []struct {
		name          string
		timeout, most time.Duration
		passed        time.Duration
		want          time.Duration // that is left then
	}{
		{"not without a limit to that", time.Hour, 0, 30 * time.Minute, 30 * time.Minute},
		{"by its time", time.Hour, 10 * time.Hour, 30 * time.Minute, time.Hour},
		{"up to the limit", time.Hour, 80 * time.Minute, 30 * time.Minute, 50 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &Clock{Timeout: tt.timeout, Most: tt.most}
			c.begin(0)
			c.end, c.latest = c.end.Add(-tt.passed), c.latest.Add(-tt.passed)
			c.Extend()
			if left := time.Until(c.deadline()); left > tt.want || left < tt.want-time.Minute {
				t.Errorf("it has %v left", left)
			}
		})
	}
}

func TestAClockWithoutATimeNeverEnds(t *testing.T) {
	c := &Clock{Most: time.Hour}
	c.begin(0)
	c.Hold()
	c.Extend()
	c.GoOn()
	if c.isOver() || !c.deadline().IsZero() {
		t.Error("it ends")
	}
}
