package httpd

import (
	"io"
	"net/http"
)

// countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	n int64
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

// countedWriter counts what is written of a response, and keeps its status.
type countedWriter struct {
	http.ResponseWriter
	status int
	n      int64
}

// WriteHeader implements [http.ResponseWriter].
func (c *countedWriter) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (c *countedWriter) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (c *countedWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
