//go:build !linux

package process

func removeAroundMounts(string) {}
