package schema

import (
	"bytes"
	"encoding/json"
)

// orderedObject is a JSON object with its members as they were written, those
// included that another of the same name makes void.
type orderedObject struct {
	members []orderedMember
	times   map[string]int // how often a key occurs
}

type orderedMember struct {
	key   string
	value any
}

// first returns the value of a key where it occurs first, nil for none.
func (o orderedObject) first(key string) any {
	for _, m := range o.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o *orderedObject) add(key string, value any) {
	o.members = append(o.members, orderedMember{key, value})
	o.times[key]++
}

// decodeOrdered decodes one JSON value: an object into an orderedObject, an
// array into []any. Anything that is not one JSON value is nil.
func decodeOrdered(text json.RawMessage) any {
	// It bounds the depth as well.
	if !json.Valid(text) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return nextOrdered(decoder)
}

// nextOrdered decodes the next value of a text that is known to be valid.
func nextOrdered(decoder *json.Decoder) any {
	token, _ := decoder.Token()
	switch token {
	case json.Delim('{'):
		object := orderedObject{times: map[string]int{}}
		for decoder.More() {
			key, _ := decoder.Token()
			name, _ := key.(string)
			object.add(name, nextOrdered(decoder))
		}
		_, _ = decoder.Token()
		return object
	case json.Delim('['):
		array := []any{}
		for decoder.More() {
			array = append(array, nextOrdered(decoder))
		}
		_, _ = decoder.Token()
		return array
	}
	return token
}
