package smell_test

import (
	"encoding/json"
	"testing"

	"github.com/conch-mcp/conch/internal/check/smell"
)

func TestShapes(t *testing.T) {
	const (
		dash = 1 << iota
		splits
		subscript
		code
		free
	)
	all := dash | splits | subscript | code | free
	limited := all &^ free
	for _, c := range []struct {
		schema string
		want   int
	}{
		{`{"type":"string"}`, all},
		{`{}`, all},
		{`true`, all},
		{`false`, 0},
		{`7`, all},
		{`{"type":"integer"}`, 0},
		{`{"type":["integer","null"]}`, 0},
		{`{"type":["integer","string"]}`, all},
		{`{"type":"boolean"}`, 0},
		{`{"type":"object"}`, splits | subscript | code},
		{`{"type":"array","items":{"type":"integer"}}`, 0},
		{`{"type":"array","items":{"type":"string","pattern":"^[a-z]*$"}}`, 0},
		{`{"type":"array"}`, all},
		{`{"type":"array","prefixItems":[{"type":"integer"}],"items":false}`, 0},
		{`{"type":"array","prefixItems":[{"type":"integer"}]}`, all},
		{`{"enum":["a","b",3,null]}`, 0},
		{`{"enum":["a b"]}`, splits | code},
		{`{"enum":["-a"]}`, dash},
		{`{"const":"a[1]"}`, splits | subscript | code},
		{`{"type":"string","pattern":"^[a-z]+$"}`, 0},
		{`{"type":"string","pattern":"^[A-Za-z0-9_.-]+$"}`, dash},
		{`{"type":"string","pattern":"^[a-z][a-z-]*$"}`, 0},
		{`{"type":"string","pattern":"^(a|-b)$"}`, dash},
		{`{"type":"string","pattern":"^a$|^b$"}`, 0},
		{`{"type":"string","pattern":"^(?:a|b)$"}`, 0},
		{`{"type":"string","pattern":"[a-z]+"}`, limited},
		{`{"type":"string","pattern":"^[a-z]"}`, limited &^ dash},
		{`{"type":"string","pattern":"^[a-z]*"}`, limited},
		{`{"type":"string","pattern":"^-?[0-9]+$"}`, dash},
		{`{"type":"string","pattern":"^(?!-)"}`, limited &^ dash},
		{`{"type":"string","pattern":"^(?![-/])[^\\u0000-\\u001f]*$"}`, limited &^ dash},
		{`{"type":"string","pattern":"^(?!/)[a-z-]*$"}`, dash},
		{`{"type":"string","pattern":"^(?!-x)[a-z-]*$"}`, dash},
		{`{"type":"string","pattern":"^(?![a-z])[a-z-]*$"}`, dash},
		{`{"type":"string","pattern":"^[^ ]+$"}`, limited},
		{`{"type":"string","pattern":"^\\S+$"}`, limited},
		{`{"type":"string","pattern":"^[a-z ]+$"}`, splits | code},
		{`{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d$"}`, 0},
		{`{"type":"string","pattern":"("}`, limited},
		{`{"type":"string","pattern":"(?<=a)b"}`, limited},
		{`{"type":"string","pattern":"^$"}`, 0},
		{`{"type":"string","allOf":[{"pattern":"^[a-z]+$"}]}`, 0},
		{`{"anyOf":[{"type":"integer"},{"enum":["a"]}]}`, 0},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, all},
		{`{"$ref":"#/$defs/id"}`, 0},
		{`{"$ref":"#/$defs/loop"}`, all},
		{`{"$ref":"#/$defs/none"}`, all},
	} {
		root := json.RawMessage(`{"$defs":{"id":{"type":"integer"},"loop":{"$ref":"#/$defs/loop"}}}`)
		s := smell.ShapeOf(json.RawMessage(c.schema), root)
		got := 0
		for bit, is := range map[int]bool{dash: s.Dash, splits: s.Splits, subscript: s.Subscript, code: s.Code, free: s.Free} {
			if is {
				got |= bit
			}
		}
		if got != c.want {
			t.Errorf("%s: %05b, not %05b (free, code, subscript, splits, dash)", c.schema, got, c.want)
		}
	}
}
