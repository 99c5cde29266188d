package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Set implements [Document].
func (d *jsonDocument) Set(value any, path ...string) error {
	if len(path) == 0 {
		return errors.New("there is no name to set")
	}
	if err := checkWritable(value); err != nil {
		return err
	}
	if d.root == nil {
		return d.begin(value, path)
	}
	found, missing, err := d.find(path)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return d.change(d.insertion(found, missing[0], nested(value, missing[1:])))
	}
	if Equal(d.value(found), value) {
		return nil
	}
	style := d.style(indentation(d.text, found.StartOffset))
	return d.change([]edit{{found.StartOffset, found.EndOffset, style.write(value)}})
}

// begin makes an object where there is none yet.
func (d *jsonDocument) begin(value any, path []string) error {
	text := d.text
	end := lineEnd(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(bytes.Clone(text), end...)
	}
	empty := jsonDocument{mark: d.mark, text: slices.Concat(text, []byte("{}"), []byte(end))}
	if err := empty.parse(); err != nil {
		return err
	}
	if err := empty.Set(value, path...); err != nil {
		return err
	}
	*d = empty
	return nil
}

// Remove implements [Document].
func (d *jsonDocument) Remove(path ...string) error {
	if d.root == nil || len(path) == 0 {
		return nil
	}
	holder, missing, err := d.find(path[:len(path)-1])
	if err != nil || len(missing) > 0 {
		return err
	}
	object, ok := holder.Value.(*hujson.Object)
	if !ok {
		_, _, err := d.find(path)
		return err
	}
	k, err := d.member(object, path)
	if err != nil || k < 0 {
		return err
	}
	return d.change(d.removal(holder, k))
}

// An edit replaces the bytes from start to end.
type edit struct {
	start, end int
	with       string
}

// change makes edits, which do not overlap, and reads the text again: nothing is
// to come of an edit that would break it.
func (d *jsonDocument) change(edits []edit) error {
	changed := jsonDocument{mark: d.mark, text: d.text}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	for _, e := range slices.Backward(edits) {
		changed.text = splice(changed.text, e.start, e.end, e.with)
	}
	if err := changed.parse(); err != nil {
		return fmt.Errorf("the text cannot be changed without breaking it: %w", err)
	}
	*d = changed
	return nil
}

// insertion puts a member behind the others of an object, in their manner.
func (d *jsonDocument) insertion(holder *hujson.Value, name string, value any) []edit {
	object := holder.Value.(*hujson.Object)
	if len(object.Members) == 0 {
		return d.firstMember(holder, name, value)
	}
	last := object.Members[len(object.Members)-1]
	closing := holder.EndOffset - len("}")
	extra := object.AfterExtra
	at := closing - len(extra) + commented(extra)
	style := d.style(indentation(d.text, last.Name.StartOffset))
	before := style.end + style.indent
	if !bytes.Contains(last.Name.BeforeExtra, []byte("\n")) && !endsInLineComment(extra) {
		style, before = oneLine, " "
	}
	member := before + style.member(name, value)
	if d.commaBehind(last.Value) >= 0 {
		return []edit{{at, at, member + ","}}
	}
	return []edit{{last.Value.EndOffset, last.Value.EndOffset, ","}, {at, at, member}}
}

// firstMember puts a member into an object that has none, behind the comments in
// it. What stands on one line stays there.
func (d *jsonDocument) firstMember(holder *hujson.Value, name string, value any) []edit {
	extra := holder.Value.(*hujson.Object).AfterExtra
	start, closing := holder.StartOffset+len("{"), holder.EndOffset-len("}")
	at := start + commented(extra)
	outer := d.style(indentation(d.text, holder.StartOffset))
	inner := outer.deeper()
	switch blank := string(d.text[at:closing]); {
	case strings.Contains(blank, "\n"):
		return []edit{{at, at, inner.end + inner.indent + inner.member(name, value)}}
	case at > start:
		return []edit{{at, at, " " + oneLine.member(name, value)}}
	}
	return []edit{{start, closing, inner.end + inner.indent + inner.member(name, value) + outer.end + outer.indent}}
}

// removal takes a member out with the white space before it and the comma that
// is one too many then.
func (d *jsonDocument) removal(holder *hujson.Value, k int) []edit {
	object := holder.Value.(*hujson.Object)
	m := object.Members[k]
	before := m.Name.BeforeExtra
	start := m.Name.StartOffset - len(before)
	if len(object.Members) == 1 && isSpace(before) && isSpace(m.Value.AfterExtra) && isSpace(object.AfterExtra) {
		return []edit{{holder.StartOffset, holder.EndOffset, "{}"}}
	}
	cut := edit{start: start + commented(before), end: m.Value.EndOffset}
	comma := d.commaBehind(m.Value)
	if comma >= 0 && isSpace(m.Value.AfterExtra) {
		cut.end = comma + len(",")
	}
	if endsInLineComment(before) && !startsWithLineEnd(d.text[cut.end:]) {
		cut.with = lineEnd(d.text)
	}
	switch {
	case comma >= cut.end:
		return []edit{cut, {start: comma, end: comma + len(",")}}
	case comma < 0 && k > 0:
		comma = d.commaBehind(object.Members[k-1].Value)
		return []edit{cut, {start: comma, end: comma + len(",")}}
	}
	return []edit{cut}
}

// commaBehind is the offset of the comma behind a member's value, -1 for none.
func (d *jsonDocument) commaBehind(value hujson.Value) int {
	if at := value.EndOffset + len(value.AfterExtra); d.text[at] == ',' {
		return at
	}
	return -1
}
