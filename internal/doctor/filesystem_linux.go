package doctor

import "golang.org/x/sys/unix"

var kinds = map[int64]string{
	unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.XFS_SUPER_MAGIC: "xfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs",
}

// filesystem is the kind of file system at a path, "" if it has no name here, and
// whether that is in memory.
func filesystem(path string) (kind string, inMemory bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return "", false
	}
	magic := int64(stat.Type)
	return kinds[magic], magic == unix.TMPFS_MAGIC || magic == unix.RAMFS_MAGIC
}
