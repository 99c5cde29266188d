package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/schema"
)

// lacks tells what of want is not in got; "" where all is. An object may have
// more members than are wanted. A list is as long as the one that is wanted, and
// its items are compared one by one: one too many is a fault as much as one that
// is missing. Numbers are the same however they are written.
func lacks(want, got any, place string) string {
	switch want := want.(type) {
	case map[string]any:
		return lacksMember(want, got, place)
	case []any:
		return lacksItem(want, got, place)
	case json.Number:
		if got, ok := got.(json.Number); ok && schema.SameNumber(want.String(), got.String()) {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return differs(want, got, place)
}

func lacksMember(want map[string]any, got any, place string) string {
	object, ok := got.(map[string]any)
	if !ok {
		return differs(want, got, place)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		below := place + "." + name
		if !isName(name) {
			below = fmt.Sprintf("%s[%q]", place, name)
		}
		value, ok := object[name]
		if !ok {
			return fmt.Sprintf("there is no %s; expected %s", below, encode(want[name]))
		}
		if lack := lacks(want[name], value, below); lack != "" {
			return lack
		}
	}
	return ""
}

func lacksItem(want []any, got any, place string) string {
	list, ok := got.([]any)
	if !ok {
		return differs(want, got, place)
	}
	for i := range min(len(want), len(list)) {
		if lack := lacks(want[i], list[i], fmt.Sprintf("%s[%d]", place, i)); lack != "" {
			return lack
		}
	}
	if len(want) != len(list) {
		return fmt.Sprintf("%s has length %d, and not %d", placed(place), len(list), len(want))
	}
	return ""
}

func differs(want, got any, place string) string {
	return fmt.Sprintf("%s is %s, and not %s", placed(place), encode(got), encode(want))
}

// placed names a place as a filter of jq does.
func placed(place string) string {
	if !strings.HasPrefix(place, ".") {
		return "." + place
	}
	return place
}

func isName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// decode reads one document of JSON, its numbers as they are written.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	return value, nil
}

// mustDecode reads JSON that has been checked.
func mustDecode(text []byte) any {
	value, err := decode(text)
	if err != nil {
		return nil
	}
	return value
}

func encode(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// What was decoded can be encoded.
	_ = e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n")
}
