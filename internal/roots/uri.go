package roots

import (
	"errors"
	"net/url"
	"strings"
)

// uriOf writes an absolute path as a URI.
func uriOf(path string) string {
	u := url.URL{Scheme: "file", Path: path}
	return u.String()
}

// pathOf reads the path that a file URI names. It decodes bytes, so that letters
// which a client has not encoded stay what they are.
func pathOf(uri string) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", errors.New("it does not begin with file://")
	}
	rest, ok = strings.CutPrefix(rest, "//")
	if !ok {
		return "", errors.New("file: needs two slashes and an absolute path behind it, as in file:///srv")
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return "", errors.New("it has no path")
	}
	if host := rest[:slash]; host != "" && !strings.EqualFold(host, "localhost") {
		return "", errors.New("it names another machine; leave the name out, as in file:///srv, or write localhost")
	}
	return decode(rest[slash:])
}

func decode(text string) (string, error) {
	if strings.ContainsAny(text, "?#") {
		// To cut there would make a root of a directory above the one that is meant.
		return "", errors.New("it has a query or a fragment; in a path, ? is written %3F and # is written %23")
	}
	path, err := url.PathUnescape(text)
	if err != nil {
		return "", errors.New("a % in it is not followed by two hexadecimal digits; in a path, % is written %25")
	}
	if strings.Contains(path, "\x00") {
		return "", errors.New("it has a NUL in it")
	}
	return path, nil
}
