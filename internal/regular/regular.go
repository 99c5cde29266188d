// Package regular reads files that somebody else has put where they are: regular
// files of a bounded size, and nothing that would wait or never end.
//
// It knows nothing of what is in them.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	in, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, state, reason(err)
	}
	defer in.Close()
	if err := unix.Fstat(int(in.Fd()), &state); err != nil {
		return nil, state, err
	}
	if state.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, state, errors.New("it is not a regular file")
	}
	// It may grow while it is read.
	text, err = io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, state, reason(err)
	case int64(len(text)) > most:
		return nil, state, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return text, state, nil
}

// reason is why, without the path.
func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrAbsent
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
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
