package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sharedMemory returns a file without a name, to be mapped. Its size is sealed: were
// it cut by whoever finds it in /proc, the next look at it would end this process.
func sharedMemory(size int64) (_ *os.File, err error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	// Systems may ask that it be said that it is not to be executed, which Linux
	// before 6.3 does not understand.
	fd, err := unix.MemfdCreate("conch-groups", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate("conch-groups", flags)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "conch-groups")
	if err = file.Truncate(size); err != nil {
		err = fmt.Errorf("give it its size: %w", err)
	} else if _, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		err = fmt.Errorf("seal its size: %w", err)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
