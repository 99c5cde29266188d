package bashsdk

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var revisions = []string{"2026-07-28", "2025-11-25"}

func TestEveryMemberOfAConfigurationIsOptional(t *testing.T) {
	for _, text := range []string{`{}`, `{"more":1}`, `{"serverInfo":null,"instructions":null,"supportedVersions":null,"protocolVersion":null,"capabilities":null,"ttlMs":null,"cacheScope":null}`} {
		c, err := parseConfig([]byte(text), revisions)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.ServerInfo != nil || c.Instructions != "" || c.SupportedVersions != nil || c.ProtocolVersion != "" || c.Capabilities != nil || c.TTLMs != nil || c.CacheScope != "" {
			t.Errorf("%s gives %+v", text, c)
		}
	}
}

func TestAConfigurationIsTakenWhole(t *testing.T) {
	c, err := parseConfig([]byte(`{"serverInfo": {"version": "2", "name": "n", "x": 1.50}, "instructions": "do\nit", "supportedVersions": ["2025-11-25", "1999-01-01"], "protocolVersion": "2025-11-25",
		"capabilities": {"tools": {}, "a": "\u003c"}, "ttlMs": 9007199254740993, "cacheScope": "private"}`), revisions)
	if err != nil {
		t.Fatal(err)
	}
	if string(c.ServerInfo) != `{"version":"2","name":"n","x":1.50}` || string(c.Capabilities) != `{"tools":{},"a":"\u003c"}` {
		t.Errorf("serverInfo %s, capabilities %s", c.ServerInfo, c.Capabilities)
	}
	if c.Instructions != "do\nit" || strings.Join(c.SupportedVersions, " ") != "2025-11-25 1999-01-01" || c.ProtocolVersion != "2025-11-25" || *c.TTLMs != 9007199254740993 || c.CacheScope != "private" {
		t.Errorf("got %+v", c)
	}
}

func TestAMemberOfTheWrongTypeIsNamed(t *testing.T) {
	const (
		info     = "serverInfo must be an object; its name and version, when given, are strings"
		text     = "instructions must be a string"
		able     = "capabilities must be an object"
		versions = `supportedVersions must be an array with some of ["2026-07-28" "2025-11-25"]`
		pin      = `protocolVersion must be one of ["2026-07-28" "2025-11-25"]`
		left     = `protocolVersion is "2025-11-25", and supportedVersions leaves it out; name it there too, or remove one of the two`
		ttl      = "ttlMs must be an integer of at least 0"
		scope    = `cacheScope must be "public" or "private"`
	)
	tests := []struct{ config, want string }{
		{`{"serverInfo":5}`, info}, {`{"serverInfo":[]}`, info}, {`{"serverInfo":"x"}`, info},
		{`{"serverInfo":{"name":5}}`, info}, {`{"serverInfo":{"name":"x","version":1.0}}`, info},
		{`{"serverInfo":{"NAME":5}}`, ""}, {`{"serverInfo":{}}`, ""},
		{`{"instructions":5}`, text}, {`{"instructions":["a"]}`, text}, {`{"instructions":""}`, ""},
		{`{"capabilities":[]}`, able}, {`{"capabilities":true}`, able}, {`{"capabilities":{}}`, ""},
		{`{"supportedVersions":"2025-11-25"}`, versions}, {`{"supportedVersions":[]}`, versions}, {`{"supportedVersions":["1999-01-01"]}`, versions}, {`{"supportedVersions":[5]}`, versions},
		{`{"protocolVersion":5}`, pin}, {`{"protocolVersion":["2025-11-25"]}`, pin}, {`{"protocolVersion":"1999-01-01"}`, pin}, {`{"protocolVersion":""}`, pin}, {`{"protocolVersion":"2025-11-25"}`, ""},
		{`{"supportedVersions":["2026-07-28"],"protocolVersion":"2025-11-25"}`, left}, {`{"supportedVersions":["2025-11-25"],"protocolVersion":"2025-11-25"}`, ""},
		{`{"ttlMs":-1}`, ttl}, {`{"ttlMs":1.5}`, ttl}, {`{"ttlMs":"1"}`, ttl}, {`{"ttlMs":99999999999999999999}`, ttl}, {`{"ttlMs":0}`, ""},
		{`{"cacheScope":"shared"}`, scope}, {`{"cacheScope":""}`, scope}, {`{"cacheScope":1}`, scope}, {`{"cacheScope":"public"}`, ""},
		{`{"cacheScope":1,"serverInfo":5}`, info},
	}
	for _, tt := range tests {
		_, err := parseConfig([]byte(tt.config), revisions)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%s: %v, want %q", tt.config, err, tt.want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"serverInfo":{"name":"n","version":"1"},"instructions":"x","supportedVersions":["2025-11-25"],"capabilities":{},"ttlMs":5,"cacheScope":"public"}`,
		`{"protocolVersion":"2025-11-25"}`, `{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"]}`, `{"serverInfo":{"name":null}}`, `{"ttlMs":1e3}`, `{"ttlMs":-0}`, `{"supportedVersions":[null]}`, `{"cacheScope":null,"cacheScope":5}`, "{ \"capabilities\" : { \"a\" : [ ] } }",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkObject(text) != nil {
			return
		}
		c, err := parseConfig(text, revisions)
		if err != nil {
			if !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		for _, raw := range []json.RawMessage{c.ServerInfo, c.Capabilities} {
			if raw != nil && (raw[0] != '{' || !json.Valid(raw) || string(compact(raw)) != string(raw)) {
				t.Errorf("no compact object: %s", raw)
			}
		}
		if c.TTLMs != nil && *c.TTLMs < 0 || c.CacheScope != "" && c.CacheScope != "public" && c.CacheScope != "private" || c.SupportedVersions != nil && !anyOf(c.SupportedVersions, revisions) {
			t.Errorf("%q gives %+v", text, c)
		}
	})
}
