package process

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Find is where a PATH leads for a program that is started in the directory dir,
// "" for the current one; "" for nowhere. An empty entry of the PATH is that
// directory, as relative ones are below it. What is returned has a slash in it.
func Find(path, dir, program string) string {
	for _, entry := range filepath.SplitList(path) {
		file := filepath.Join(entry, program)
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if !strings.ContainsRune(file, filepath.Separator) {
			file = "." + string(filepath.Separator) + file
		}
		if IsProgram(file) {
			return file
		}
	}
	return ""
}

// IsProgram reports whether a file is there that may be started.
func IsProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil
}
