package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/catalog"
)

func TestAVerbatimListIsWhatTheFileHolds(t *testing.T) {
	const a, b = `{"name":"a","inputSchema":{}}`, `{"name":"b","inputSchema":true}`
	tests := []struct {
		name, tools, listing string
		unusable             bool
		served, twice        []string
		problems             []string
	}{
		{"tools", `[` + a + `,` + b + `]`, `[` + a + `,` + b + `]`, false, []string{"a", "b"}, nil, nil},
		{"white space goes", "[ { \"name\" : \"a b\",\n\"inputSchema\" : 1.50 } ]", `[{"name":"a b","inputSchema":1.50}]`, false, []string{"a b"}, nil, nil},
		{"an object", `{"z":` + a + `,"y":` + b + `,"z":{"name":"c","inputSchema":5}}`, `{"z":` + a + `,"y":` + b + `,"z":{"name":"c","inputSchema":5}}`, false, []string{"b", "c"}, nil, nil},
		{"an entry that is null", `[null,` + a + `]`, `[null,` + a + `]`, false, []string{"a"}, nil, []string{"entry 1 of the tools list has no name; it cannot be called"}},
		{"an entry that is a number", `[` + a + `,1]`, `[` + a + `,1]`, true, []string{"a"}, nil, []string{"entry 2 of the tools list is not a JSON object; all calls are refused"}},
		{"an entry that is a string", `["a"]`, `["a"]`, true, nil, nil, []string{"entry 1 of the tools list is not a JSON object; all calls are refused"}},
		{"an entry that is a boolean", `{"a":false}`, `{"a":false}`, true, nil, nil, []string{"entry 1 of the tools list is not a JSON object; all calls are refused"}},
		{"an entry that is an array", `[[` + a + `]]`, `[[` + a + `]]`, true, nil, nil, []string{"entry 1 of the tools list is not a JSON object; all calls are refused"}},
		{"a name that is a number", `[{"name":5}]`, `[{"name":5}]`, false, nil, nil, []string{"entry 1 of the tools list has no name; it cannot be called"}},
		{"no schema", `[{"name":"a","inputSchema":null}]`, `[{"name":"a","inputSchema":null}]`, false, []string{"a"}, nil, []string{"entry 1 of the tools list (a) declares no inputSchema; calls are refused"}},
		{"declared twice", `[` + a + `,` + b + `,` + a + `]`, `[` + a + `,` + b + `,` + a + `]`, false, []string{"b"}, []string{"a"}, []string{"the tools list declares a 2 times; calls are refused"}},
		{"null", `null`, `[]`, false, nil, nil, nil},
		{"false", `false`, `[]`, false, nil, nil, nil},
		{"true", `true`, `true`, false, nil, nil, nil},
		{"a number", `1e2`, `1e2`, false, nil, nil, nil},
		{"a string", `"a"`, `"a"`, false, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tools.json")
			writeFile(t, path, `{"tools": `+tt.tools+`}`)
			got, err := NewVerbatimToolsFile(path, "sub/tools.json").Read()
			must(t, err)
			if string(got.Listing) != tt.listing || got.Unusable != tt.unusable || got.File != "sub/tools.json" {
				t.Errorf("listing %s, unusable %v, file %s", got.Listing, got.Unusable, got.File)
			}
			if !slices.Equal(names(got), tt.served) || !slices.Equal(got.Problems, tt.problems) {
				t.Errorf("served are %q, problems %q; want %q, %q", names(got), got.Problems, tt.served, tt.problems)
			}
			for _, name := range tt.twice {
				if !got.Declares(name) || got.Lookup(name) != nil {
					t.Errorf("%s is not declared, or only once", name)
				}
			}
		})
	}
}

func TestWithoutToolsAVerbatimListIsEmpty(t *testing.T) {
	tools, err := parseVerbatimTools([]byte(`{"Tools":[1]}`), "x")
	if err != nil || string(tools.Listing) != `[]` || len(tools.List) > 0 || tools.Unusable {
		t.Errorf("%v, %+v", err, tools)
	}
}

func TestAVerbatimConfigurationIsWhatTheFileHolds(t *testing.T) {
	tests := []struct {
		name, text, info, capabilities, revision string
		problems                                 []string
	}{
		{"nothing", `{}`, "", "", "", nil},
		{"null", `{"serverInfo":null,"capabilities":null,"protocolVersion":null}`, "", "", "", nil},
		{"false", `{"serverInfo":false,"capabilities":false}`, "", "", "", nil},
		{"all", "{\"serverInfo\": {\"version\": 1.50},\n\"capabilities\": [ ], \"protocolVersion\": \"2020-01-01\"}", `{"version":1.50}`, `[]`, "2020-01-01", nil},
		{"other types", `{"serverInfo":"x","capabilities":5,"protocolVersion":5}`, `"x"`, `5`, "", []string{"protocolVersion must be a string"}},
		{"Conch's own members", `{"instructions":5,"ttlMs":-1,"cacheScope":"x"}`, "", "", "", []string{
			"instructions must be a string", "ttlMs must be an integer of at least 0", `cacheScope must be "public" or "private"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.json")
			writeFile(t, path, tt.text)
			c, err := NewVerbatimConfigFile(path, path, revisions).Read()
			must(t, err)
			if string(c.ServerInfo) != tt.info || string(c.Capabilities) != tt.capabilities || c.ProtocolVersion != tt.revision || !slices.Equal(c.Problems, tt.problems) {
				t.Errorf("got %+v", c)
			}
			if c.Instructions != "" || c.TTLMs != nil || c.CacheScope != "" {
				t.Errorf("a member of the wrong type counts: %+v", c)
			}
		})
	}
	c, err := parseVerbatimConfig([]byte(`{"instructions":"Ask.","ttlMs":5,"cacheScope":"private","supportedVersions":["2025-11-25"]}`), revisions)
	if err != nil || c.Instructions != "Ask." || c.TTLMs == nil || *c.TTLMs != 5 || c.CacheScope != "private" || len(c.SupportedVersions) != 1 {
		t.Errorf("%v: Conch's own members are %+v", err, c)
	}
}

// objects are files with the object they hold, or with how an error begins.
var objects = []struct {
	name   string
	make   func(t *testing.T, path string)
	object string
	brief  string
}{
	{"285: missing", func(*testing.T, string) {}, "", "File not found: "},
	{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "", "File not found: "},
	{"a FIFO", func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) }, "", "File not found: "},
	{"a device", func(t *testing.T, path string) { must(t, os.Symlink("/dev/null", path)) }, "", "File not found: "},
	{"below a file", func(t *testing.T, path string) {
		must(t, os.Remove(filepath.Dir(path)))
		writeFile(t, filepath.Dir(path), "")
	}, "", "File not found: "},
	{"a link to a file", func(t *testing.T, path string) {
		writeFile(t, path+".real", `{"a":1}`)
		must(t, os.Symlink(path+".real", path))
	}, `{"a":1}`, ""},
	{"286: two documents", content("{}\n{}"), "", "Not exactly one parseable JSON object: "},
	{"287: pretty", content("{\n  \"a\": 1,\n  \"b\": 2\n}\n"), `{"a":1,"b":2}`, ""},
	{"288: a number", content(`5`), "", "Not exactly one parseable JSON object: "},
	{"289: a string", content(`"x"`), "", "Not exactly one parseable JSON object: "},
	{"290: an array", content(`[1,2]`), "", "Not exactly one parseable JSON object: "},
	{"291: true", content(`true`), "", "Not exactly one parseable JSON object: "},
	{"292: false", content(`false`), "", "Not exactly one parseable JSON object: "},
	{"293: null", content(`null`), "", "Not exactly one parseable JSON object: "},
	{"empty", content(``), "", "Not exactly one parseable JSON object: "},
	{"broken", content(`{ not json`), "", "Not exactly one parseable JSON object: "},
	{"a byte order mark", content("\ufeff{}"), `{}`, ""},
	{"digits and escapes", content(`{"a": 1.50, "b": "\u00e9<"}`), `{"a":1.50,"b":"\u00e9<"}`, ""},
}

func content(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { writeFile(t, path, text) }
}

func TestReadObjectTellsAFileThatIsMissingFromOneThatHoldsNoObject(t *testing.T) {
	for _, tt := range objects {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "file")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			tt.make(t, path)
			object, err := ReadObject(path)
			switch {
			case tt.brief == "" && (err != nil || string(object) != tt.object):
				t.Errorf("got %s, %v; want %s", object, err, tt.object)
			case tt.brief != "" && (err == nil || err.Error() != tt.brief+path || object != nil):
				t.Errorf("got %s, %v; want %q", object, err, tt.brief+path)
			}
			for _, read := range []func() error{
				func() error { _, err := NewVerbatimToolsFile(path, "shown").Read(); return err },
				func() error { _, err := NewVerbatimConfigFile(path, "shown", revisions).Read(); return err },
			} {
				requireBrief(t, read(), tt.brief)
			}
		})
	}
}

// requireBrief requires an error that begins so when it is brief; none for "".
func requireBrief(t *testing.T, err error, brief string) {
	t.Helper()
	var file *catalog.FileError
	switch {
	case brief == "" && err != nil:
		t.Errorf("got %v", err)
	case brief != "" && (!errors.As(err, &file) || file.Brief() != brief+"shown" || !strings.Contains(err.Error(), ": shown: ")):
		t.Errorf("got %v, want %q", err, brief+"shown")
	}
}

func FuzzVerbatim(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"tools":[{"name":"x","inputSchema":{}},null,1,{"name":5}]}`, `{"tools":{"a":{"name":"x"},"a":[]}}`, `{"tools":false}`,
		`{"serverInfo":[1],"capabilities":"x","protocolVersion":"","ttlMs":1e400}`, "{\"tools\" :\t\"\\ud800\" , \"\":null}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkObject(text) != nil {
			return
		}
		tools, err := parseVerbatimTools(text, "f")
		if err != nil {
			t.Fatalf("the list %q is an error: %v", text, err)
		}
		config, err := parseVerbatimConfig(text, revisions)
		if err != nil {
			t.Fatalf("the configuration %q is an error: %v", text, err)
		}
		for _, value := range []json.RawMessage{tools.Listing, config.ServerInfo, config.Capabilities} {
			var compact bytes.Buffer
			if value != nil && (json.Compact(&compact, value) != nil || !bytes.Equal(compact.Bytes(), value)) {
				t.Errorf("%q is no compact JSON", value)
			}
		}
		for _, tool := range tools.List {
			if tools.Lookup(tool.Name) != tool || tool.Name == "" {
				t.Errorf("%q cannot be looked up", tool.Name)
			}
		}
	})
}
