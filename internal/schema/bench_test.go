package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct{ name, schema, arguments string }{
		{"strict", strictSchema, `{"number":"339","repo":"a/b","mode":"production"}`},
		{"typed", typedSchema, `{"name":"abc","count":5,"active":true,"tags":["a","b"]}`},
		{"ranged", rangedSchema, `{"limit":20,"score":1.5,"above":3,"below":7}`},
		{"rejected", strictSchema, `{"number":"339","repo":"x"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, arguments := compile(b, c.schema), json.RawMessage(c.arguments)
			b.ReportAllocs()
			for b.Loop() {
				s.Check(arguments)
			}
		})
	}
}

func BenchmarkCheckTenMegabytes(b *testing.B) {
	for _, c := range largeDocuments(10 << 20) {
		b.Run(c.name, func(b *testing.B) {
			s, arguments := compile(b, c.schema), json.RawMessage(c.arguments)
			b.SetBytes(int64(len(arguments)))
			b.ReportAllocs()
			for b.Loop() {
				s.Check(arguments)
			}
		})
	}
}

func BenchmarkCheckExponential(b *testing.B) {
	s := compile(b, `{"required":["b"],"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	arguments := json.RawMessage(strings.Repeat(`{"b":1,"a":`, 60) + `{}` + strings.Repeat(`}`, 60))
	for b.Loop() {
		s.Check(arguments)
	}
}
