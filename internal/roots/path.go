package roots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many links the path of a file may lead through, as in Linux.
const maxLinks = 40

// canonical returns the place that a path leads to, through all links, whether
// or not something is there. ".." goes up from where a link led to, as it does
// when the path is opened; [filepath.Clean] would take the link away.
func canonical(path string) (string, error) {
	switch {
	case !filepath.IsAbs(path):
		return "", errors.New("the path is not absolute")
	case strings.Contains(path, "\x00"):
		return "", errors.New("the path has a NUL in it")
	}
	place, links := "/", 0
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := step(place, name)
		target, err := follow(next)
		switch {
		case err != nil:
			return "", err
		case target == "":
			place = next
			continue
		}
		if links++; links > maxLinks {
			return "", unix.ELOOP
		}
		if filepath.IsAbs(target) {
			place = "/"
		}
		rest = target + "/" + rest
	}
	return place, nil
}

func step(place, name string) string {
	switch name {
	case "", ".":
		return place
	case "..":
		return filepath.Dir(place)
	}
	return filepath.Join(place, name)
}

// follow returns where a link leads to, and nothing for what is no link.
func follow(path string) (string, error) {
	target, err := os.Readlink(path)
	switch {
	case err == nil && strings.HasPrefix(path, "/proc/"):
		// /proc/self/cwd and its like lead each process elsewhere, and the one that
		// asks is not the one that answers.
		return "", fmt.Errorf("%s leads elsewhere for each process", path)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return "", nil
	case err != nil:
		return "", cause(err)
	}
	return target, nil
}

// cause takes off a path that the message has already.
func cause(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// resolve makes the path that somebody has typed absolute. It joins no more than
// the texts, since ".." may come behind a link.
func resolve(path, base string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty")
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%.200q begins with the home directory, and HOME does not say which that is", path)
		}
		return home + rest, nil
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	return base + "/" + path, nil
}
