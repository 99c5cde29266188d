package host

import (
	"encoding/json"
	"fmt"

	"github.com/conch-mcp/conch/internal/keep"
	"github.com/conch-mcp/conch/internal/message"
)

// Long says what becomes of texts in results that are too long for a model.
type Long struct {
	MaxText int          // bytes that reach the client; 0 is all
	Keeper  *keep.Keeper // holds the whole for a while; nil does not
}

// Close removes what is kept.
func (l Long) Close() error {
	if l.Keeper == nil {
		return nil
	}
	return l.Keeper.Close()
}

// KeptOutput is the whole of a text of which a client got the head and the tail,
// by the URI that it got with them; ok is false when it is not kept any more.
func (h *Host) KeptOutput(uri string) (text []byte, mime string, ok bool) {
	if h.opts.Long.Keeper == nil {
		return nil, "", false
	}
	return h.opts.Long.Keeper.Get(uri)
}

// kept is the result of a resources/read for a text that was kept; nil for any
// other. A server need have no resources for that: its client got the link.
func (h *Host) kept(uri string, modern bool) json.RawMessage {
	text, kind, ok := h.KeptOutput(uri)
	if !ok {
		return nil
	}
	var item, f fields
	item.add("uri", uri)
	item.add("mimeType", kind)
	item.add("text", string(text))
	f.addRaw("contents", joinArray([]json.RawMessage{item.object()}))
	if modern {
		// Of one call, and gone in a while.
		h.addCaching(&f, new(int64), "private")
		f.addModern(h.serverInfo(h.configOrNone()))
	}
	return f.object()
}

// shortened is an item; in place of one whose text is too long there are its head
// and tail, and a link to the whole.
func (c toolCall) shortened(item json.RawMessage) []json.RawMessage {
	most := c.host.opts.Long.MaxText
	// The JSON of a text is never shorter than the text.
	if most <= 0 || len(item) <= most || message.Text(message.Member(item, "type")) != "text" {
		return []json.RawMessage{item}
	}
	text := message.Text(message.Member(item, "text"))
	if len(text) <= most {
		return []json.RawMessage{item}
	}
	uri := c.keep(text)
	short, _ := keep.Shorten(text, most, uri)
	var f fields
	f.add("type", "text")
	f.add("text", short)
	if annotations := message.Member(item, "annotations"); annotations != nil {
		f.addRaw("annotations", annotations)
	}
	if uri == "" || !c.knowsLinks() {
		return []json.RawMessage{f.object()}
	}
	return []json.RawMessage{f.object(), c.linkTo(uri, len(text))}
}

// keep holds a text for later, and returns its URI; "" when it cannot.
func (c toolCall) keep(text string) string {
	if c.host.opts.Long.Keeper == nil {
		return ""
	}
	uri, err := c.host.opts.Long.Keeper.Put([]byte(text), "text/plain")
	if err != nil {
		c.host.opts.Log.Warn("a long text is not kept", "tool", c.tool.Name, "err", err)
	}
	return uri
}

func (c toolCall) linkTo(uri string, size int) json.RawMessage {
	var f fields
	f.add("type", "resource_link")
	f.add("uri", uri)
	f.add("name", c.tool.Name+" output")
	f.add("description", fmt.Sprintf("All %d bytes of what %s says", size, c.tool.Name))
	f.add("mimeType", "text/plain")
	f.add("size", size)
	return f.object()
}
