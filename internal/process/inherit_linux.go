package process

import (
	"math"

	"golang.org/x/sys/unix"
)

// KeepDescriptors keeps the descriptors that this process was started with,
// standard input, output and error excepted, from the processes it starts.
func KeepDescriptors() {
	// Kernels before 5.11 do not know the flag; there they are passed on.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}
