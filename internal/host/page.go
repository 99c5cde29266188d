package host

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// listed is an entry of a list, under what tells it from others.
type listed struct {
	key   string
	entry json.RawMessage
}

// addPage adds the page of a list that a cursor asks for, and a cursor for the
// next. The first is asked for with "".
func (h *Host) addPage(f *fields, list string, all []listed, cursor string) error {
	rest := all
	if cursor != "" {
		last, ok := readCursor(list, cursor)
		if !ok {
			return invalidParams("there is no such cursor")
		}
		at := slices.IndexFunc(all, func(l listed) bool { return l.key == last })
		if at < 0 {
			return invalidParams("the list has changed and the cursor is of no use any more; begin again without one")
		}
		rest = all[at+1:]
	}
	next := ""
	if size := h.opts.PageSize; size > 0 && len(rest) > size {
		rest = rest[:size]
		next = newCursor(list, rest[size-1].key)
	}
	entries := make([]json.RawMessage, len(rest))
	for i, l := range rest {
		entries[i] = l.entry
	}
	f.addRaw(list, joinArray(entries))
	f.addUnlessEmpty("nextCursor", next)
	return nil
}

// newCursor names the entry that a page ends with, so that it stays good
// whatever is added to the list, or taken out before that entry.
func newCursor(list, last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + "\n" + last))
}

func readCursor(list, cursor string) (last string, ok bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return "", false
	}
	last, ok = strings.CutPrefix(string(text), list+"\n")
	// Line breaks within are skipped in decoding.
	return last, ok && newCursor(list, last) == cursor
}
