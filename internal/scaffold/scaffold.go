// Package scaffold makes the files that a new server begins with, from templates.
//
// It knows what a template holds and how its files come to be in a directory: all
// of them or none, and none over another. It must not know who asks for one, nor
// of terminals, nor what conch does with a server.
package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// A folder of its name holds each template's files, as they are but for placeholder.
//
//go:embed templates
var trees embed.FS

// placeholder stands for the server's name in the text of a template's files.
const placeholder = "{{name}}"

// Template is a server to begin with.
type Template struct {
	Name   string   // by which it is chosen
	About  string   // what it is, in a few words
	Server string   // the script or folder to serve, below the server's directory
	Call   []string // a tool and arguments that have an answer anywhere; none if no tool has
}

// Templates are all there are, the plainest first.
func Templates() []Template {
	return []Template{
		{
			Name: "minimal", About: "one script with one tool",
			Server: "server.sh", Call: []string{"greet", "who=Ada"},
		},
		{
			Name: "api", About: "asks an API on the web, with curl and a key",
			Server: "server.sh",
		},
		{
			Name: "git", About: "reads the history of a Git repository",
			Server: "server.sh",
		},
		{
			Name: "files", About: "lists, reads and searches files",
			Server: "server.sh", Call: []string{"list_files"},
		},
		{
			Name: "folder", About: "a folder of scripts, in Bash and Python, each of them a tool",
			Server: "tools", Call: []string{"greet", "who=Ada"},
		},
	}
}

// Find is the template of that name. The error names those that there are.
func Find(name string) (Template, error) {
	var names []string
	for _, t := range Templates() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Template{}, fmt.Errorf("there is no template %.100q; there is %s", name, strings.Join(names, ", "))
}

// file is one that is to be made.
type file struct {
	path string // with slashes, below the server's directory
	text []byte
}

// mode is that of the file, before the umask: what names its interpreter is there
// to be run.
func (f file) mode() fs.FileMode {
	if bytes.HasPrefix(f.text, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// files are those of the template for a server of that name.
func (t Template) files(name string) (files []file, err error) {
	top := path.Join("templates", t.Name)
	err = fs.WalkDir(trees, top, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := trees.ReadFile(at)
		if err != nil {
			return err
		}
		files = append(files, file{
			path: strings.TrimPrefix(at, top+"/"),
			text: bytes.ReplaceAll(text, []byte(placeholder), []byte(name)),
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the template %s: %w", t.Name, err)
	}
	return files, nil
}
