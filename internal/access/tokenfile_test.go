package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/access"
)

// tokenFile makes one with these lines.
func tokenFile(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	write(t, path, lines...)
	return path
}

func write(t testing.TB, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	tokenA = "aaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbb"
	tokenC = "!#$%&'()*+,-./:;<=>?@[]^_`{|}~\\\""
)

func TestLinesOfATokenFile(t *testing.T) {
	g := newGuard(t, access.Options{TokenFile: tokenFile(t,
		"# comment "+tokenA[:8], "", "  \t", "ada "+tokenA, "\tbob\t "+tokenB+"\r", " # another", tokenC, "ada "+tokenA+"2")})
	wantSubject(t, g, tokenA, "ada")
	wantSubject(t, g, tokenA+"2", "ada")
	wantSubject(t, g, tokenB, "bob")
	if id := wantSubject(t, g, tokenC, "token-6314ecd0"); !id.AllScopes || id.Issuer != "" {
		t.Errorf("%+v", id)
	}
	for _, wrong := range []string{"ada", tokenA[1:], tokenA + "3", "x" + tokenB, strings.ToUpper(tokenB), "comment", "#"} {
		wantDenial(t, g, bearing(wrong), 401, "not known here")
	}
}

var brokenFiles = []struct{ name, text, want string }{
	{"a short token", "# x\n0123456789abcde\n", "line 2: the token is shorter than 16"},
	{"a short token with a name", "somebodywithaname 0123456789abcde", "line 1: the token is shorter than 16"},
	{"three words", tokenA + "\n\na b " + tokenB, "line 3: there are 3 words"},
	{"a comment behind a token", tokenA + " # mine", "line 1: there are 3 words"},
	{"a NUL", tokenA + "\x00", "line 1: there are characters other"},
	{"a letter beyond ASCII", tokenA + "é", "line 1: there are characters other"},
	{"a name beyond ASCII", "é " + tokenA, "line 1: there are characters other"},
	{"a byte order mark", "\xef\xbb\xbf" + tokenA, "line 1: there are characters other"},
	{"a blank beyond ASCII", "ada\u00a0" + tokenA, "line 1: there are characters other"},
	{"the same token twice", "ada " + tokenA + "\n\nbob " + tokenA, "line 3: the token is that of line 1"},
	{"a name without end", strings.Repeat("n", 129) + " " + tokenA, "line 1: the name is longer than 128"},
	{"a token without end", strings.Repeat("n", 16385), "line 1: the token is longer than 16384"},
	{"a file without end", strings.Repeat("#\n", 1<<19+1), "larger than 1 MiB"},
}

func TestBrokenTokenFiles(t *testing.T) {
	for _, test := range brokenFiles {
		t.Run(test.name, func(t *testing.T) {
			path := tokenFile(t)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := access.New(t.Context(), access.Options{TokenFile: path})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), tokenA) || strings.Contains(err.Error(), "0123456789abcde") {
				t.Errorf("the error tells a token: %v", err)
			}
		})
	}
}

func TestTokenFilesThatAreNoFiles(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, t.TempDir()} {
		_, err := access.New(t.Context(), access.Options{TokenFile: path})
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestATokenFileForAllToRead(t *testing.T) {
	path := tokenFile(t, "ada "+tokenA)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	var log journal
	g := newGuard(t, access.Options{TokenFile: path, Log: log.logger()})
	wantSubject(t, g, tokenA, "ada")
	log.wantCount(t, "chmod 600", 1)
}

func TestAnEmptyTokenFile(t *testing.T) {
	var log journal
	g := newGuard(t, access.Options{TokenFile: tokenFile(t), Log: log.logger()})
	wantDenial(t, g, bearing(tokenA), 401, "not known here")
	wantDenial(t, g, request(), 401, "token is needed")
	log.wantCount(t, "holds no token", 1)
}

func TestATokenFileThatIsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		path := tokenFile(t, "ada "+tokenA)
		time.Sleep(later)
		g := newGuard(t, access.Options{TokenFile: path, Log: log.logger()})
		wantSubject(t, g, tokenA, "ada")
		log.wantCount(t, "holds no token", 0)
		write(t, path)
		// It is read more than once while time stamps may not tell.
		for range 4 {
			time.Sleep(check)
			wantDenial(t, g, bearing(tokenA), 401, "not known here")
		}
		log.wantCount(t, "holds no token", 1)
	})
}

// In what follows time is the test's own, and begins long before the file was
// made. Later moves it to where the file is old.

const (
	check = time.Second
	later = 200 * 365 * 24 * time.Hour
)

func TestEditsOfATokenFile(t *testing.T) {
	for _, start := range []time.Duration{0, later} {
		synctest.Test(t, func(t *testing.T) {
			path := tokenFile(t, "ada "+tokenA)
			time.Sleep(start)
			g := newGuard(t, access.Options{TokenFile: path})
			wantSubject(t, g, tokenA, "ada")
			// Another length: the file is not as old as it seems, so that time stamps
			// might not tell.
			write(t, path, "robert "+tokenB)
			time.Sleep(check)
			wantSubject(t, g, tokenB, "robert")
			wantDenial(t, g, bearing(tokenA), 401, "not known here")
			write(t, path)
			time.Sleep(check)
			wantDenial(t, g, bearing(tokenB), 401, "not known here")
		})
	}
}

func TestAnotherFileInTheTokenFilesPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tokenFile(t, "ada "+tokenA)
		time.Sleep(later)
		g := newGuard(t, access.Options{TokenFile: path})
		if err := os.Rename(tokenFile(t, "ada "+tokenB), path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(check)
		wantSubject(t, g, tokenB, "ada")
	})
}

func TestATokenFileThatBreaksKeepsItsTokens(t *testing.T) {
	for _, start := range []time.Duration{0, later} {
		synctest.Test(t, func(t *testing.T) {
			path := tokenFile(t, "ada "+tokenA)
			time.Sleep(start)
			var log journal
			g := newGuard(t, access.Options{TokenFile: path, Log: log.logger()})
			still := func() {
				t.Helper()
				for range 5 {
					time.Sleep(check)
					wantSubject(t, g, tokenA, "ada")
				}
			}
			write(t, path, "bob "+tokenB, "short")
			still()
			wantDenial(t, g, bearing(tokenB), 401, "not known here")
			log.wantCount(t, "line 2", 1)
			write(t, path, "bob "+tokenB, "short again")
			still()
			log.wantCount(t, "line 2", 2)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			still()
			log.wantCount(t, "no such file", 1)
			write(t, path, "bob "+tokenB)
			time.Sleep(check)
			wantSubject(t, g, tokenB, "bob")
			wantDenial(t, g, bearing(tokenA), 401, "not known here")
			log.wantCount(t, "level=WARN", 3)
		})
	}
}
