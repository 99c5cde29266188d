//go:build !linux

package process

// openHere opens a directory in another one, unless something is mounted there.
func openHere(above int, name string) (fd int, err error) { return openOnDevice(above, name) }
