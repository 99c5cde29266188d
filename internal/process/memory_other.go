//go:build !linux

package process

import "os"

// sharedMemory returns a file without a name, to be mapped.
func sharedMemory(size int64) (*os.File, error) {
	file, err := os.CreateTemp("", "conch-groups-")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(file.Name()); err == nil {
		err = file.Truncate(size)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
