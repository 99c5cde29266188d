//go:build linux && (amd64 || arm64)

package nowait

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatIsOnANetworkIsNotHere(t *testing.T) {
	for name, kind := range map[string]int64{
		"NFS": unix.NFS_SUPER_MAGIC, "SMB": unix.SMB2_SUPER_MAGIC, "FUSE": unix.FUSE_SUPER_MAGIC,
		"9P": unix.V9FS_MAGIC, "Ceph": unix.CEPH_SUPER_MAGIC, "AFS": unix.AFS_SUPER_MAGIC,
	} {
		if ours[kind] {
			t.Errorf("%s counts as a file system of this machine", name)
		}
	}
	if PlaceOf("/proc") != Kernel() {
		t.Error("/proc is not of the kernel")
	}
}
