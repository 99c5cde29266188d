package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/talkback"
)

// newToolEmit adds to the call's result.
func newToolEmit() *cobra.Command {
	var audience []string
	var priority float64
	cmd := &cobra.Command{
		Use:   "emit KIND [ARG...]",
		Short: "Add a text, a picture, a sound, a resource or a link to the result",
		Long: `Emit adds an item to the call's result, behind those that are there.

KIND      ARG
  text      [TEXT]
  json      [JSON], which is the result's structured content as well
  image     FILE [MIME]
  audio     FILE [MIME]
  resource  URI [FILE] [MIME]
  link      URI NAME [MIME [DESCRIPTION]]

A TEXT, a JSON or the FILE of a resource that is left out is read from standard
input, and so is whatever is -.`,
		Args: takes(1, maxWords),
		RunE: func(cmd *cobra.Command, args []string) error {
			item, err := contentItem(cmd, args[0], args[1:])
			if err != nil {
				return &exitError{1, err}
			}
			annotations := map[string]any{}
			if slices.ContainsFunc(audience, func(who string) bool { return who != "user" && who != "assistant" }) {
				return errors.New("--audience is user, assistant or both with a comma")
			}
			if priority < 0 || priority > 1 {
				return errors.New("--priority is a number from 0 to 1")
			}
			if len(audience) > 0 {
				annotations["audience"] = audience
			}
			if cmd.Flags().Changed("priority") {
				annotations["priority"] = priority
			}
			if len(annotations) > 0 {
				item["annotations"] = annotations
			}
			if args[0] == "json" {
				return say(talkback.Document, item)
			}
			return say(talkback.Emit, item)
		},
	}
	cmd.Flags().StringSliceVar(&audience, "audience", nil, "whom it is for: user, assistant or both")
	cmd.Flags().Float64Var(&priority, "priority", 0, "how much it matters, from 0 to 1")
	return cmd
}

// contentItem makes a content item of a command's arguments.
func contentItem(cmd *cobra.Command, kind string, args []string) (map[string]any, error) {
	switch kind {
	case "text":
		text, err := argument(cmd, args, 0)
		return map[string]any{"type": "text", "text": strings.ToValidUTF8(text, "\uFFFD")}, err
	case "json":
		text, err := jsonArgument(cmd, args, 0)
		return map[string]any{"type": "text", "text": string(text)}, err
	case "image", "audio":
		return mediaItem(cmd, kind, args)
	case "resource":
		return resourceItem(cmd, args)
	case "link":
		return linkItem(args)
	}
	return nil, fmt.Errorf("there is nothing called %q to emit; there are text, json, image, audio, resource and link", kind)
}

// mediaItem is a picture or a sound.
func mediaItem(cmd *cobra.Command, kind string, args []string) (map[string]any, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, fmt.Errorf("name the file of the %s to emit", kind)
	}
	data, file, err := fileArgument(cmd, args, 0)
	if err != nil {
		return nil, fmt.Errorf("emit %s: %w", kind, err)
	}
	mimeType := mimeOf(file, data, args[1:])
	if !strings.HasPrefix(mimeType, kind+"/") {
		return nil, fmt.Errorf("emit %s: %s is of the type %s; name another behind it if that is wrong", kind, file, mimeType)
	}
	return map[string]any{"type": kind, "data": base64.StdEncoding.EncodeToString(data), "mimeType": mimeType}, nil
}

// resourceItem embeds a file.
func resourceItem(cmd *cobra.Command, args []string) (map[string]any, error) {
	if len(args) == 0 {
		return nil, errors.New("name the URI of the resource")
	}
	data, file, err := fileArgument(cmd, args, 1)
	if err != nil {
		return nil, err
	}
	resource := map[string]any{"uri": args[0], "mimeType": mimeOf(file, data, args[min(2, len(args)):])}
	if utf8.Valid(data) {
		resource["text"] = string(data)
	} else {
		resource["blob"] = base64.StdEncoding.EncodeToString(data)
	}
	return map[string]any{"type": "resource", "resource": resource}, nil
}

// linkItem tells of a resource without embedding it.
func linkItem(args []string) (map[string]any, error) {
	if len(args) < 2 {
		return nil, errors.New("name the URI and the NAME of the resource")
	}
	item := map[string]any{"type": "resource_link"}
	for i, member := range []string{"uri", "name", "mimeType", "description"} {
		if i < len(args) && args[i] != "" {
			item[member] = args[i]
		}
	}
	return item, nil
}

// argument is the nth argument, or what standard input holds where that is left
// out or -.
func argument(cmd *cobra.Command, args []string, n int) (string, error) {
	if n < len(args) && args[n] != "-" {
		return args[n], nil
	}
	text, err := readInput(cmd)
	return string(text), err
}

// jsonArgument is an argument that has to be one JSON document.
func jsonArgument(cmd *cobra.Command, args []string, n int) (json.RawMessage, error) {
	text, err := argument(cmd, args, n)
	if err == nil && !json.Valid([]byte(text)) {
		err = fmt.Errorf("%.40q is not JSON", text)
	}
	return json.RawMessage(strings.TrimSpace(text)), err
}

// fileArgument reads the file that the nth argument names.
func fileArgument(cmd *cobra.Command, args []string, n int) (data []byte, file string, err error) {
	if n < len(args) && args[n] != "-" {
		data, err = readRegular(args[n])
		return data, args[n], err
	}
	data, err = readInput(cmd)
	return data, "-", err
}

// mostEmitted is how large a file may be that goes into a result.
const mostEmitted = 64 << 20

// readRegular reads a file that is no device or pipe, whose end might never come.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return readAtMost(f, path)
}

func readAtMost(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostEmitted+1))
	if err == nil && len(data) > mostEmitted {
		err = fmt.Errorf("%s is larger than %d MiB", name, mostEmitted>>20)
	}
	return data, err
}

// mimeOf is the media type that was given, or that the name or the bytes tell.
func mimeOf(file string, data []byte, given []string) string {
	if len(given) > 0 {
		return given[0]
	}
	kind := mime.TypeByExtension(filepath.Ext(file))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	if kind == "audio/x-wav" || kind == "audio/wave" || kind == "audio/vnd.wave" {
		return "audio/wav"
	}
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
