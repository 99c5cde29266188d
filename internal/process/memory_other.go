//go:build !linux

package process

import (
	"fmt"
	"os"
)

// sharedMemory returns a file without a name, to be mapped. It is written, so that it
// has its place on the disk: a look at what has none ends this process.
func sharedMemory(size int64) (*os.File, error) {
	file, err := os.CreateTemp("", "conch-groups-")
	if err != nil {
		return nil, fmt.Errorf("make a file: %w", err)
	}
	if err = os.Remove(file.Name()); err == nil {
		_, err = file.Write(make([]byte, size))
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("prepare a file: %w", err)
	}
	return file, nil
}
