package jq

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Valid reports whether a text is one JSON value in UTF-8.
func Valid(text []byte) bool { return utf8.Valid(text) && json.Valid(text) }

// String returns a text as a JSON string, as jq writes it. What is no UTF-8
// becomes U+FFFD.
func String(text string) string {
	return compact(strings.ToValidUTF8(text, "\uFFFD"))
}

// Array returns texts as a JSON array of strings.
func Array(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = String(text)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// Object returns names and values in turns as a JSON object of strings, in their
// order. The number of texts is even.
func Object(texts []string) string {
	members := make([]string, len(texts)/2)
	for i := range members {
		members[i] = String(texts[2*i]) + ":" + String(texts[2*i+1])
	}
	return "{" + strings.Join(members, ",") + "}"
}
