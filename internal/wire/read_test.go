package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadLineCutsAtNewlinesHoweverTheBytesArrive(t *testing.T) {
	const most = 40
	long := strings.Repeat("x", most)
	tests := []struct {
		name, input string
		want        []string // "!" stands for a line that is too long
	}{
		{"nothing", "", nil},
		{"one line", "a\n", []string{"a"}},
		{"a last line without a newline", "a\nb", []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"", "", "a", ""}},
		{"a carriage return stays", "a\r\n", []string{"a\r"}},
		{"NULs and bytes that are no UTF-8 stay", "\x00\xff\n", []string{"\x00\xff"}},
		{"a line of the limit", long + "\nb\n", []string{long, "b"}},
		{"a last line of the limit", long, []string{long}},
		{"a line over the limit", long + "y\nb\n", []string{"!", "b"}},
		{"a line far over the limit", strings.Repeat(long, 9) + "\nb", []string{"!", "b"}},
		{"two lines over the limit", long + "y\n" + long + "z\n", []string{"!", "!"}},
		{"a last line over the limit", "a\n" + long + "y", []string{"a", "!"}},
		{"a last line far over the limit", strings.Repeat(long, 9), []string{"!"}},
	}
	readers := []struct {
		name string
		wrap func(io.Reader) io.Reader
	}{
		{"at once", func(r io.Reader) io.Reader { return r }},
		{"byte by byte", iotest.OneByteReader},
		{"by halves", iotest.HalfReader},
		{"with the end in the last read", iotest.DataErrReader},
	}
	for _, tt := range tests {
		for _, reader := range readers {
			t.Run(tt.name+" "+reader.name, func(t *testing.T) {
				// The smallest buffer bufio has: most lines need several.
				r := bufio.NewReaderSize(reader.wrap(strings.NewReader(tt.input)), 16)
				if got := allLines(t, r, most); strings.Join(got, "|") != strings.Join(tt.want, "|") {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func allLines(t *testing.T, r *bufio.Reader, most int) (lines []string) {
	for range 100 {
		line, err := readLine(r, most)
		switch {
		case errors.Is(err, errTooLong):
			lines = append(lines, "!")
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				lines = append(lines, string(line))
			}
			return lines
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, string(line))
		}
	}
	t.Fatal("the input does not end")
	return nil
}

func TestReadLineTellsOfAnInputThatBreaks(t *testing.T) {
	broken := errors.New("broken")
	r := bufio.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if line, err := readLine(r, 10); err != nil || string(line) != "a" {
		t.Errorf("first %q, %v", line, err)
	}
	if _, err := readLine(r, 10); !errors.Is(err, broken) {
		t.Errorf("then %v", err)
	}
}

func TestALineThatIsTooLongHoldsNoMemory(t *testing.T) {
	r := bufio.NewReaderSize(io.MultiReader(io.LimitReader(endless{}, 64<<20), strings.NewReader("\nnext\n")), 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readLine(r, 1000); !errors.Is(err, errTooLong) {
		t.Errorf("readLine: %v", err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d bytes were allocated", allocated)
	}
	if line, err := readLine(r, 1000); err != nil || string(line) != "next" {
		t.Errorf("then comes %q, %v", line, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestABatchIsAnsweredOnceTheLastReplyIsThere(t *testing.T) {
	tests := []struct {
		name string
		do   func(b *batch) [][]byte
		want string
	}{
		{"nothing but notifications", func(b *batch) [][]byte { return [][]byte{b.take(nil)} }, ""},
		{"one reply", func(b *batch) [][]byte {
			b.add()
			return [][]byte{b.take(nil), b.take([]byte(`1`))}
		}, "[1]"},
		{"a reply while the batch is being read", func(b *batch) [][]byte {
			b.add()
			return [][]byte{b.take([]byte(`1`)), b.take(nil)}
		}, "[1]"},
		{"replies in the order they come", func(b *batch) [][]byte {
			b.add()
			b.add()
			return [][]byte{b.take([]byte(`2`)), b.take(nil), b.take([]byte(`1`))}
		}, "[2,1]"},
		{"a cancelled request leaves no trace", func(b *batch) [][]byte {
			b.add()
			b.add()
			return [][]byte{b.take(nil), b.take(nil), b.take([]byte(`1`))}
		}, "[1]"},
		{"one that is answered in its place, and then ends", func(b *batch) [][]byte {
			b.add()
			answer := [][]byte{b.take(nil), b.take([]byte(`1`)), b.take(nil)}
			return [][]byte{answer[0], answer[2], answer[1]}
		}, "[1]"},
		{"all cancelled", func(b *batch) [][]byte {
			b.add()
			return [][]byte{b.take(nil), b.take(nil)}
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers := tt.do(&batch{open: 1})
			last := len(answers) - 1
			if got := string(answers[last]); got != tt.want {
				t.Errorf("the last gives %q, want %q", got, tt.want)
			}
			if early := bytes.Join(answers[:last], nil); len(early) > 0 {
				t.Errorf("there is an early answer %q", early)
			}
		})
	}
}
