// Package regular reads files that somebody else has put where they are: regular
// files of a bounded size, and nothing that would wait or never end.
//
// It knows nothing of what is in them.
package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// ErrAbsent is that there is no file of a name. It is [fs.ErrNotExist], too.
var ErrAbsent error = absent{}

type absent struct{}

func (absent) Error() string { return "there is no such file" }

func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// Read returns what a file holds, and its state when it was opened, which is there
// also of a file that cannot be read to its end. Errors do not name the path; of
// a name that leads nowhere it is ErrAbsent.
func Read(path string, most int64) (text []byte, state unix.Stat_t, err error) {
	// It may grow while it is read.
	text, state, err = read(path, most+1)
	if err == nil && int64(len(text)) > most {
		return nil, state, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return text, state, err
}

// Head returns the beginning of a file, of so many bytes at most.
func Head(path string, most int64) ([]byte, error) {
	text, _, err := read(path, most)
	return text, err
}

// read does not leave the waiting to the runtime, as [os.File] does: there are
// regular files, in /proc, that have nothing for now.
func read(path string, most int64) (text []byte, state unix.Stat_t, err error) {
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	fd, err := again(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	if errors.Is(err, unix.ENOENT) {
		return nil, state, ErrAbsent
	}
	if err != nil {
		return nil, state, err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &state); err != nil {
		return nil, state, err
	}
	if state.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, state, errors.New("it is not a regular file")
	}
	text = make([]byte, 0, min(max(state.Size, 0)+1, most))
	for int64(len(text)) < most {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := again(func() (int, error) { return unix.Read(fd, text[len(text):min(int64(cap(text)), most)]) })
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil, state, errors.New("what is in it has to be waited for")
		case err != nil:
			return nil, state, err
		case n == 0:
			return text, state, nil
		}
		text = text[:len(text)+n]
	}
	return text, state, nil
}

func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// IsSame reports whether a file is as it was, by what changes when it does.
func IsSame(a, b *unix.Stat_t) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mode == b.Mode && a.Mtim == b.Mtim && a.Ctim == b.Ctim
}

// settled is how old a change must be for its time stamps to tell it from the next:
// kernels stamp in steps of some milliseconds.
const settled = 100 * time.Millisecond

// IsSettled reports whether a file that was looked at from start on had been left
// alone for so long that its state tells of any change since.
func IsSettled(state *unix.Stat_t, start time.Time) bool {
	return start.Sub(time.Unix(state.Ctim.Unix())) > settled
}
