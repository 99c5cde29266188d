package stdio_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/conch-mcp/conch/test/harness"
)

// The revisions whose schemas there are, oldest first.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

var legacyRevisions = revisions[:4]

const (
	newestLegacy = "2025-11-25"
	modern       = "2026-07-28"
)

// officialSchemas holds the schemas the protocol's authors publish, a file for
// each revision.
type officialSchemas struct {
	compiler *jsonschema.Compiler
	keyword  map[string]string // by revision: where its definitions are

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

func schemaDir() string {
	if dir := os.Getenv("MCP_SCHEMA_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(harness.Root(), "..", "shared", "protocol", "schema")
}

// loadSchemas returns nil when there is no folder of schemas.
var loadSchemas = sync.OnceValues(func() (*officialSchemas, error) {
	s := &officialSchemas{compiler: jsonschema.NewCompiler(), keyword: map[string]string{}, compiled: map[string]*jsonschema.Schema{}}
	for _, revision := range revisions {
		f, err := os.Open(filepath.Join(schemaDir(), revision+".json"))
		if errors.Is(err, fs.ErrNotExist) && len(s.keyword) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		s.keyword[revision] = "definitions"
		if _, ok := doc.(map[string]any)["$defs"]; ok {
			s.keyword[revision] = "$defs"
		}
		if err := s.compiler.AddResource("mem:///"+revision+".json", doc); err != nil {
			return nil, err
		}
	}
	return s, nil
})

var saySchemasAbsent sync.Once

// conforms checks JSON against a definition of a revision's official schema.
// Without schemas it says so, once; under CI that is a failure.
func conforms(t testing.TB, revision, definition, text string) {
	t.Helper()
	s, err := loadSchemas()
	if err != nil {
		t.Fatalf("load the official schemas: %v", err)
	}
	if s == nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there are no official schemas in %s; MCP_SCHEMA_DIR names another folder", schemaDir())
		}
		saySchemasAbsent.Do(func() {
			t.Logf("no answer is checked against the official schemas: there are none in %s", schemaDir())
		})
		return
	}
	schema, err := s.definition(revision, definition)
	if err != nil {
		t.Fatalf("compile %s of %s: %v", definition, revision, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("not JSON: %v: %.2000s", err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("not a %s of revision %s: %v\n%.2000s", definition, revision, err, text)
	}
}

func (s *officialSchemas) definition(revision, name string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := "mem:///" + revision + ".json#/" + s.keyword[revision] + "/" + name
	if schema := s.compiled[at]; schema != nil {
		return schema, nil
	}
	schema, err := s.compiler.Compile(at)
	if err == nil {
		s.compiled[at] = schema
	}
	return schema, err
}

// errorDefinition names what a revision calls an error response.
func errorDefinition(revision string) string {
	if revision < newestLegacy {
		return "JSONRPCError"
	}
	return "JSONRPCErrorResponse"
}

// resultDefinition names what a revision calls a response with a result.
func resultDefinition(revision string) string {
	if revision < newestLegacy {
		return "JSONRPCResponse"
	}
	return "JSONRPCResultResponse"
}

// codeDefinitions names the errors that revision 2026-07-28 defines apart.
var codeDefinitions = map[int]string{
	-32700: "ParseError",
	-32600: "InvalidRequestError",
	-32601: "MethodNotFoundError",
	-32602: "InvalidParamsError",
	-32603: "InternalError",
}

// methodResults names the definition of each method's result.
var methodResults = map[string]string{
	"initialize":       "InitializeResult",
	"ping":             "EmptyResult",
	"logging/setLevel": "EmptyResult",
	"server/discover":  "DiscoverResult",
	"tools/list":       "ListToolsResult",
	"tools/call":       "CallToolResult",

	"resources/list":           "ListResourcesResult",
	"resources/templates/list": "ListResourceTemplatesResult",
	"resources/read":           "ReadResourceResult",
	"resources/subscribe":      "EmptyResult",
	"resources/unsubscribe":    "EmptyResult",
	"prompts/list":             "ListPromptsResult",
	"prompts/get":              "GetPromptResult",
	"completion/complete":      "CompleteResult",
	"subscriptions/listen":     "SubscriptionsListenResult",
}

// cachedMethods are those whose results clients may keep.
var cachedMethods = []string{"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}

// notifications names the definition of each notification.
var notifications = map[string]string{
	"notifications/tools/list_changed":         "ToolListChangedNotification",
	"notifications/resources/list_changed":     "ResourceListChangedNotification",
	"notifications/prompts/list_changed":       "PromptListChangedNotification",
	"notifications/resources/updated":          "ResourceUpdatedNotification",
	"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}
