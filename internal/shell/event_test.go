package shell

import "testing"

func TestEventsAreWordsWithOneBlankBetween(t *testing.T) {
	tests := []struct {
		line   string
		kind   string
		number int
		side   int
	}{
		{"w 10", "w", 10, 1},
		{"r 11 0", "r", 11, 0},
		{"r 11 1", "r", 11, 1},
		{"d 137", "d", 137, 1},
		{"r 11 2", "r", 11, 0},
		{"r 11 ", "r", 11, 1},
		{"d", "", 0, 1},
		{"", "", 0, 1},
		{"d ", "", 0, 1},
		{"r  11 0", "", 0, 1},
		{"r 11 0 1", "", 0, 1},
		{"r x 0", "r", 0, 0},
	}
	for _, tt := range tests {
		w := Worker{side: 1, read: []byte(tt.line + "\nd 0")}
		kind, number, ok := w.cutEvent()
		if kind != tt.kind || number != tt.number || !ok || w.side != tt.side || string(w.read) != "d 0" {
			t.Errorf("%q is %q %d, %v, of output %d; left is %q", tt.line, kind, number, ok, w.side, w.read)
		}
	}
}
