package nowait

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pipe returns the two ends of a pipe of the poller's.
func pipe(t *testing.T) (r, w *File) {
	t.Helper()
	var fds [2]int
	must(t, unix.Pipe(fds[:]))
	for i, end := range []**File{&r, &w} {
		must(t, unix.SetNonblock(fds[i], true))
		f := os.NewFile(uintptr(fds[i]), "pipe")
		t.Cleanup(func() { f.Close() })
		var err error
		*end, err = NewFile(f)
		must(t, err)
	}
	return r, w
}

func TestAFileIsReadAndWrittenWhole(t *testing.T) {
	r, w := pipe(t)
	// More than a pipe holds: the writer has to wait for the reader.
	text := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	wrote := make(chan error, 1)
	go func() {
		n, err := w.Write(text)
		if err == nil && n != len(text) {
			err = io.ErrShortWrite
		}
		w.Close()
		wrote <- err
	}()
	got, err := io.ReadAll(r)
	must(t, err)
	must(t, <-wrote)
	if !bytes.Equal(got, text) {
		t.Errorf("%d bytes came of %d", len(got), len(text))
	}
}

func TestAReadEndsAtItsDeadline(t *testing.T) {
	r, w := pipe(t)
	must(t, r.SetReadDeadline(time.Now().Add(time.Millisecond)))
	if n, err := r.Read(make([]byte, 8)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d, %v", n, err)
	}
	must(t, r.SetReadDeadline(time.Time{}))
	_, err := w.Write([]byte("late"))
	must(t, err)
	buf := make([]byte, 8)
	if n, err := r.Read(buf); string(buf[:n]) != "late" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

func TestAWriteToNobodyFails(t *testing.T) {
	r, w := pipe(t)
	r.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, unix.EPIPE) {
		t.Errorf("%v", err)
	}
}

func TestAPipeIsLookedIntoWithoutWaiting(t *testing.T) {
	var fds [2]int
	must(t, unix.Pipe(fds[:]))
	r, w := fds[0], fds[1]
	defer unix.Close(r)
	must(t, unix.SetNonblock(r, true))
	buf := make([]byte, 8)
	if n, err := Read(r, buf); n != 0 || !errors.Is(err, unix.EAGAIN) {
		t.Errorf("an empty pipe gives %d, %v", n, err)
	}
	if !IsEmpty(r) {
		t.Error("an empty pipe is not")
	}
	if n, err := Write(w, []byte("text")); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if IsEmpty(r) {
		t.Error("a pipe with a text is empty")
	}
	if n, err := Read(r, buf); string(buf[:n]) != "text" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	unix.Close(w)
	if n, err := Read(r, buf); n != 0 || err != nil {
		t.Errorf("the end is %d, %v", n, err)
	}
	if IsEmpty(r) {
		t.Error("a pipe at its end is empty")
	}
}

func TestAPlaceDoesWhatTheSystemDoes(t *testing.T) {
	for name, place := range map[string]func(path string) Place{
		"here":      func(string) Place { return Place{here: true} },
		"found out": PlaceOf,
		"somewhere": func(string) Place { return Place{} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testPlace(t, place(dir), dir)
		})
	}
}

func testPlace(t *testing.T, p Place, dir string) {
	file, link, moved := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "moved")
	f, err := os.Create(file)
	must(t, err)
	defer f.Close()
	must(t, os.Symlink("file", link))
	must(t, p.WriteAll(int(f.Fd()), []byte("some text"), 0))
	must(t, p.WriteAll(int(f.Fd()), []byte("TEXT"), 5))
	buf := make([]byte, 64)
	if n, err := p.Pread(int(f.Fd()), buf, 2); string(buf[:n]) != "me TEXT" || err != nil {
		t.Errorf("it reads %q, %v", buf[:n], err)
	}
	var held, named, linked unix.Stat_t
	must(t, p.Fstat(int(f.Fd()), &held))
	must(t, p.Stat(link, &named))
	must(t, p.Lstat(link, &linked))
	if held.Size != 9 || held != named || linked.Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Errorf("%+v, %+v, %+v", held, named, linked)
	}
	must(t, p.Rename(file, moved))
	for what, err := range map[string]error{
		"stat": p.Stat(file, &named), "lstat": p.Lstat(file, &named), "rename": p.Rename(file, moved),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", what, err)
		}
	}
	if err := p.Stat("a\x00b", &named); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a name with NUL: %v", err)
	}
	if _, err := p.Open(moved, unix.O_DIRECTORY); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file is opened as a directory: %v", err)
	}
	fd, err := p.Open(dir, unix.O_DIRECTORY)
	must(t, err)
	n, err := p.ReadDirent(fd, make([]byte, 1024))
	if n == 0 || err != nil {
		t.Errorf("the directory has %d bytes, %v", n, err)
	}
	if rest, err := p.ReadDirent(fd, make([]byte, 1024)); rest != 0 || err != nil {
		t.Errorf("behind its end the directory has %d bytes, %v", rest, err)
	}
	must(t, p.Rewind(fd))
	if again, err := p.ReadDirent(fd, make([]byte, 1024)); again != n || err != nil {
		t.Errorf("from its beginning the directory has %d bytes and not %d, %v", again, n, err)
	}
	must(t, p.Close(fd))
	if err := p.Close(fd); !errors.Is(err, unix.EBADF) {
		t.Errorf("it can be closed again: %v", err)
	}
}

func TestPathsOfAnyLengthAreFound(t *testing.T) {
	dir := t.TempDir()
	p := PlaceOf(dir)
	var stat unix.Stat_t
	for _, length := range []int{126, 127, 128, 129, 300} {
		path := dir
		for len(path) < length {
			path += "/" + strings.Repeat("d", min(200, max(1, length-len(path)-1)))
		}
		must(t, os.MkdirAll(path, 0o700))
		if err := p.Lstat(path, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			t.Errorf("a path of %d bytes: %v", len(path), err)
		}
		if err := p.Lstat(path+"x", &stat); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a path of %d bytes that is not there: %v", len(path)+1, err)
		}
	}
}

func TestAFileIsReadWithAndWithoutWaitingInTurns(t *testing.T) {
	r, w := pipe(t)
	buf := make([]byte, 8)
	for _, text := range []string{"a", "bc", "d"} {
		if n, err := r.ReadNow(buf); n > 0 || !errors.Is(err, unix.EAGAIN) {
			t.Fatalf("an empty pipe has %q, %v", buf[:max(n, 0)], err)
		}
		for range 2 {
			_, err := w.Write([]byte(text))
			must(t, err)
			n, err := r.ReadNow(buf)
			if string(buf[:n]) != text || err != nil {
				t.Errorf("ReadNow has %q, %v, want %q", buf[:n], err, text)
			}
			_, err = w.Write([]byte(text))
			must(t, err)
			n, err = r.Read(buf)
			if string(buf[:n]) != text || err != nil {
				t.Errorf("Read has %q, %v, want %q", buf[:n], err, text)
			}
		}
	}
	w.Close()
	if n, err := r.ReadNow(buf); n != 0 || err != nil {
		t.Errorf("at the end ReadNow has %d, %v", n, err)
	}
	if n, err := r.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end Read has %d, %v", n, err)
	}
}

func TestNothingIsNoPlace(t *testing.T) {
	if p := PlaceOf(filepath.Join(t.TempDir(), "nothing")); p != (Place{}) {
		t.Errorf("%+v", p)
	}
}
