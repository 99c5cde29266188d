package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"
)

func newTestSlots(t *testing.T) *slots {
	t.Helper()
	s, err := newSlots()
	must(t, err)
	return s
}

func read(t *testing.T, s *slots) []Group {
	t.Helper()
	groups, err := readSlots(s.file)
	must(t, err)
	return groups
}

func TestGroupsAreReadFromTheRecordBySlot(t *testing.T) {
	s := newTestSlots(t)
	defer s.close()
	if got := read(t, s); len(got) > 0 {
		t.Errorf("a new record holds %v", got)
	}
	for slot, g := range map[int]Group{5: 4194304, 0: 77, 2: 0, 9: 1, 12: 2147483647, 14: 0} {
		must(t, s.set(slot, g))
	}
	must(t, s.set(0, 78))
	if got := fmt.Sprint(read(t, s)); got != "[78 0 0 0 0 4194304 0 0 0 1 0 0 2147483647]" {
		t.Errorf("read are %s", got)
	}
	for g, want := range map[Group]bool{78: true, 77: false, 2147483647: true, 3: false} {
		if s.has(g) != want {
			t.Errorf("has(%d) = %v", g, !want)
		}
	}
	must(t, s.set(12, 0))
	if s.has(2147483647) {
		t.Error("a group that was taken off is on record")
	}
}

func TestThereIsAnEndOfSlots(t *testing.T) {
	s := newTestSlots(t)
	must(t, s.set(maxSlots-1, 7))
	if got := read(t, s); len(got) != maxSlots || got[maxSlots-1] != 7 {
		t.Errorf("the last slot is not read, of %d", len(got))
	}
	for _, slot := range []int{-1, maxSlots} {
		if s.set(slot, 7) == nil {
			t.Errorf("there is a slot %d", slot)
		}
	}
	s.close()
	if !errors.Is(s.set(0, 7), os.ErrClosed) || s.has(7) {
		t.Error("a closed record takes groups")
	}
}

func TestARecordThatCannotBeReadHoldsNothing(t *testing.T) {
	if got, err := readSlots(os.NewFile(1<<20, "closed")); len(got) > 0 || err == nil {
		t.Errorf("read are %v, %v", got, err)
	}
	cut := binary.NativeEndian.AppendUint32(nil, 1)
	cut = append(cut, 2)
	if got, err := readSlots(bytes.NewReader(cut)); fmt.Sprint(got) != "[1]" || err != nil {
		t.Errorf("of a record that was cut off, %v, %v", got, err)
	}
}
