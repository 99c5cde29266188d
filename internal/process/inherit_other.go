//go:build !linux

package process

import "golang.org/x/sys/unix"

// KeepDescriptors keeps the descriptors that this process was started with,
// standard input, output and error excepted, from the processes it starts.
func KeepDescriptors() {
	for fd := 3; fd < 256; fd++ {
		unix.CloseOnExec(fd)
	}
}
