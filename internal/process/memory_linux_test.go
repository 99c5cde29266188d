package process

import (
	"fmt"
	"os"
	"testing"
)

func TestNobodyCutsTheRecord(t *testing.T) {
	s := newTestSlots(t)
	defer s.close()
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", s.file.Fd()), os.O_RDWR, 0)
	must(t, err)
	defer again.Close()
	if err := again.Truncate(0); err == nil {
		t.Error("whoever finds the record can cut it")
	}
	must(t, s.set(0, 7))
}
