package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// httpSettings say where a script with a drop-in file is to be served over HTTP.
type httpSettings struct {
	bind    string
	port    int
	path    string
	origins []string // whose pages may ask, each with any port
}

// readHTTPSettings takes them from the environment, into which the drop-in file
// has put the script's variables.
func readHTTPSettings() (httpSettings, error) {
	s := httpSettings{bind: os.Getenv("MCP_HTTP_BIND"), path: os.Getenv("MCP_HTTP_PATH")}
	text := os.Getenv("MCP_HTTP_PORT")
	var err error
	if s.port, err = strconv.Atoi(text); err != nil || s.port < 0 || s.port > 65535 {
		return s, &exitError{2, fmt.Errorf("$MCP_HTTP_PORT is %q; it must be a number from 0 to 65535", text)}
	}
	if !strings.HasPrefix(s.path, "/") {
		return s, &exitError{2, fmt.Errorf("$MCP_HTTP_PATH is %q; it must begin with a slash", s.path)}
	}
	for origin := range strings.SplitSeq(os.Getenv("MCP_ALLOWED_ORIGINS"), ",") {
		if origin = strings.TrimSpace(origin); origin != "" {
			s.origins = append(s.origins, origin)
		}
	}
	return s, nil
}

// serveHTTP serves clients over HTTP until a signal ends the server.
func (d *dropInServer) serveHTTP(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	end := d.watchEnd(d.stop)
	defer end()
	return d.transportHTTP(ctx, settings, nil, nil)
}

// answerConnection answers the one request on standard input.
func (d *dropInServer) answerConnection(ctx context.Context) error {
	settings, err := readHTTPSettings()
	if err != nil {
		return err
	}
	return d.transportHTTP(ctx, settings, os.Stdin, protocol())
}

// transportHTTP serves d.host over HTTP until ctx ends; or, where in is not nil,
// answers the one HTTP request in it on out.
//
// TO BE FILLED IN: the HTTP transport is not there yet, and this fails.
func (d *dropInServer) transportHTTP(ctx context.Context, s httpSettings, in io.Reader, out io.Writer) error {
	_, _, _, _ = ctx, s, in, out
	return errors.New("this conch does not serve HTTP yet; run the script without --http, and it serves stdio")
}
