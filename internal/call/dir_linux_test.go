package call

import (
	"os"
	"testing"
)

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

func TestNoDescriptorOfADirectoryIsLeftOpen(t *testing.T) {
	d := newTestDirs(t, t.TempDir())
	before := descriptors(t)
	for i := range 60 {
		had := []dir{take(t, d), take(t, d), take(t, d)}
		must(t, os.WriteFile(had[0].path+"/file", nil, 0o600))
		must(t, os.Remove(had[1].path))
		if i%3 == 0 {
			next := take(t, d)
			d.drop(next, false)
			must(t, os.RemoveAll(next.path))
		}
		for _, one := range had {
			d.drop(one, i%2 == 0)
		}
		if waiting := descriptors(t) - before; waiting > cap(d.next) {
			t.Fatalf("%d are open after %d calls", waiting, 3*i)
		}
	}
	d.close()
	if now := descriptors(t); now > before {
		t.Errorf("there were %d, and are %d", before, now)
	}
}
