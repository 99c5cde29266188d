package host

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/folder"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
)

// listResources answers resources/list.
func (h *Host) listResources(params *mcp.ListResourcesParams) (json.RawMessage, error) {
	params = cmp.Or(params, &mcp.ListResourcesParams{})
	resources, err := h.resourcesNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	var all []listed
	for _, r := range resources.List {
		if h.isServed(r.Source) {
			all = append(all, listed{r.URI, r.Entry})
		}
	}
	return h.listing("resources", all, params.Cursor, isModern(params.Meta))
}

// listTemplates answers resources/templates/list.
func (h *Host) listTemplates(params *mcp.ListResourceTemplatesParams) (json.RawMessage, error) {
	params = cmp.Or(params, &mcp.ListResourceTemplatesParams{})
	resources, err := h.resourcesNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	var all []listed
	for _, t := range resources.Templates {
		if h.isServed(t.Source) {
			all = append(all, listed{t.URITemplate(), t.Entry})
		}
	}
	return h.listing("resourceTemplates", all, params.Cursor, isModern(params.Meta))
}

// listing is the result of a request for a list.
func (h *Host) listing(list string, all []listed, cursor string, modern bool) (json.RawMessage, error) {
	var f fields
	if err := h.addPage(&f, list, all, cursor); err != nil {
		return nil, err
	}
	h.addEra(&f, modern, true)
	return f.object(), nil
}

// addEra adds what results have in the stateless era alone.
func (h *Host) addEra(f *fields, modern, cached bool) {
	if !modern {
		return
	}
	config := h.configOrNone()
	if cached {
		h.addCaching(f, config.TTLMs, config.CacheScope)
	}
	f.addModern(h.serverInfo(config))
}

// content is what there is to read under a URI.
type content struct {
	catalog.Source
	uri      string
	mimeType string
	meta     json.RawMessage // of its entry; nil for none
	// arguments are what a function gets: the URI, and the template's variables.
	arguments map[string]any
}

// find returns what is to be read under a URI, be it a resource's own or one of
// a template. A variable named uri takes the place of the URI.
func (h *Host) find(resources *catalog.Resources, uri string) (content, bool) {
	if r := resources.Lookup(uri); r != nil && h.isServed(r.Source) {
		return content{r.Source, uri, r.MIMEType, message.Member(r.Entry, "_meta"), map[string]any{"uri": uri}}, true
	}
	for _, t := range resources.Templates {
		values, ok := t.Match(uri)
		if !ok || !h.isServed(t.Source) {
			continue
		}
		c := content{t.Source, uri, t.MIMEType, message.Member(t.Entry, "_meta"), map[string]any{"uri": uri}}
		for name, value := range values {
			c.arguments[name] = value
		}
		if c.File != "" {
			c.File, ok = fileOf(c.File, values)
		}
		if ok {
			return c, true
		}
	}
	return content{}, false
}

// fileOf puts variables into the path of a template's file; ok is false where
// one of them would be more than the name of a file in plain sight.
func fileOf(path string, values map[string]any) (file string, ok bool) {
	ok = true
	file = catalog.FileVariable.ReplaceAllStringFunc(path, func(place string) string {
		value, isText := values[place[1:len(place)-1]].(string)
		if !isText || value == "" || value[0] == '.' || strings.ContainsAny(value, "/\\\x00") {
			ok = false
		}
		return value
	})
	return file, ok
}

// Find tells whether there is a resource of that URI, and the path of the file
// that holds it; "" for none.
func (h *Host) Find(uri string) (path string, ok bool) {
	resources, err := h.resourcesNow()
	if err != nil {
		return "", false
	}
	c, ok := h.find(resources, uri)
	if !ok || c.File == "" {
		return "", ok
	}
	return filepath.Join(h.opts.Folder, c.File), true
}

// readResource answers resources/read for the engine.
func (h *Host) readResource(ctx context.Context, params *mcp.ReadResourceParams) (json.RawMessage, error) {
	c := toolCall{host: h, modern: isModern(params.Meta), trace: traceIn(params.Meta)}
	return h.read(ctx, c, params.URI)
}

// readCall returns how a resources/read is answered whose function can say and ask
// things.
func (h *Host) readCall(uri string) (runFunc, error) {
	if _, _, kept := h.KeptOutput(uri); !kept && !h.has("resources") {
		return nil, notServed("resources/read")
	}
	return func(ctx context.Context, c toolCall) (json.RawMessage, error) {
		if kept := h.kept(uri, c.modern); kept != nil {
			return kept, nil
		}
		return h.read(ctx, c, uri)
	}, nil
}

// read returns the result that has what there is to read under a URI.
func (h *Host) read(ctx context.Context, c toolCall, uri string) (json.RawMessage, error) {
	const what = "Cannot read the resource"
	resources, err := h.resourcesNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	found, ok := h.find(resources, uri)
	if !ok {
		return nil, notFound(uri, c.modern)
	}
	if err := c.begin(ctx, uri); err != nil {
		return nil, err
	}
	text, err := h.contentOf(ctx, what, found.Source, c.function(found.Function, object(found.arguments)))
	if fault := c.conclude(what); fault != nil {
		return nil, fault
	}
	if isNothing(err) {
		return nil, notFound(uri, c.modern)
	}
	if err != nil {
		return nil, err
	}
	if len(c.emitted()) > 0 {
		h.opts.Log.Warn("a resource's function said what only the result of a tool or prompt can have; what it prints is the resource", "function", found.Function)
	}
	var f fields
	f.addRaw("contents", joinArray([]json.RawMessage{found.item(text)}))
	h.addEra(&f, c.modern, true)
	return f.object(), nil
}

// isNothing reports whether an error says that there is nothing of that name. No
// file or function's argument has a NUL in it.
func isNothing(err error) bool {
	return errors.Is(err, errNothing) || errors.Is(err, folder.ErrAbsent) || errors.Is(err, shell.ErrNUL)
}

// contentOf returns what a source has: what its file holds, or what function prints,
// which is a call of its function.
func (h *Host) contentOf(ctx context.Context, what string, s catalog.Source, function call.Call) ([]byte, error) {
	if s.File == "" {
		return h.output(ctx, what, function)
	}
	text, err := folder.Read(h.opts.Folder, s.File, h.mostBytes())
	var tooLarge *folder.TooLargeError
	switch {
	case errors.As(err, &tooLarge):
		err = cannot(what, fmt.Sprintf("its file is larger than %d bytes, the limit set by --max-output", tooLarge.Most))
	case errors.Is(err, folder.ErrAbsent):
		h.opts.Log.Warn("there is no file "+s.File, "folder", h.opts.Folder)
	case err != nil:
		h.opts.Log.Error("a file cannot be read", "file", s.File, "err", err)
		err = cannot(what, "the server could not read its file. Its log says why")
	}
	return text, err
}

// mostBytes is how much a file may hold.
func (h *Host) mostBytes() int64 {
	if most := h.opts.Limits.MaxOutput; most > 0 {
		return most
	}
	return math.MaxInt64 - 1
}

// item is the content in a result: as text if it is some, and not of a type that
// says otherwise.
func (c content) item(data []byte) json.RawMessage {
	isText := utf8.Valid(data) && !strings.ContainsRune(string(data), 0)
	kind := c.mimeType
	if kind == "" && c.File != "" {
		kind = folder.Type(c.File)
	}
	switch {
	case kind != "":
		isText = isText && folder.IsText(kind)
	case isText:
		kind = "text/plain"
	default:
		kind = "application/octet-stream"
	}
	var f fields
	f.add("uri", c.uri)
	f.add("mimeType", kind)
	if isText {
		f.add("text", string(data))
	} else {
		f.add("blob", base64.StdEncoding.EncodeToString(data))
	}
	if isObject(c.meta) {
		f.addRaw("_meta", c.meta)
	}
	return f.object()
}

// codeNotFound answered a URI of nothing in the older era.
const codeNotFound = -32002

// notFound says that there is no resource of that URI (MCP, "Resources", "Error
// Handling").
func notFound(uri string, modern bool) error {
	code := int64(codeNotFound)
	if modern {
		code = message.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: "Resource not found", Data: marshal(map[string]string{"uri": uri})}
}

// NotFound is the error of a request of the older era for a resource that is not
// there.
func NotFound(uri string) error { return notFound(uri, false) }
