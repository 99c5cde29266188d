// Package folder reads files below one folder, which nobody leads it out of:
// not with .., nor with a link.
//
// It knows nothing of who asks for a file, nor what for.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrAbsent is what there is no file for.
var ErrAbsent = errors.New("there is no such file")

// A TooLargeError is why a file is not read.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("it is larger than %d bytes", e.Most) }

// Read returns what a regular file below dir holds, at most so many bytes. A
// name that leads out of dir is an error; what it leads to is not opened.
func Read(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, reason(err)
	}
	defer root.Close()
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	in, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, reason(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, reason(err)
	case int64(len(text)) > most:
		return nil, &TooLargeError{most}
	}
	return text, nil
}

// reason is an error without the path, which is for the caller to tell.
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

// types are the MIME types of files that servers are likely to have. What a
// system says of others differs from one to the next.
var types = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
	".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml",
	".xml": "application/xml", ".sql": "application/sql", ".sh": "application/x-sh", ".ini": "text/plain", ".conf": "text/plain",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
	".wav": "audio/wav", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".pdf": "application/pdf",
	".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar", ".wasm": "application/wasm",
}

// Type is the MIME type that a file's name speaks of, "" for none.
func Type(name string) string {
	extension := strings.ToLower(filepath.Ext(name))
	if known := types[extension]; known != "" {
		return known
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(extension), ";")
	return kind
}

// IsText reports whether what is of a MIME type is text.
func IsText(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	switch {
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"), strings.HasSuffix(kind, "+yaml"):
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
		"application/ecmascript", "application/sql", "application/graphql", "application/x-sh", "application/x-ndjson", "application/jsonl",
		"application/x-www-form-urlencoded":
		return true
	}
	return false
}
