// Package judge holds what servers send to the official JSON Schema of its
// revision.
//
// It knows the protocol's definitions, and nothing of how a server is spoken to.
package judge

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

// Revisions are those whose schemas there are, oldest first.
var Revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// Revisions by which the eras are told apart.
const (
	NewestLegacy = "2025-11-25"
	Modern       = "2026-07-28"
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
	for _, revision := range Revisions {
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

// Conforms checks JSON against a definition of a revision's official schema.
// Without schemas it says so, once; under CI that is a failure.
func Conforms(t testing.TB, revision, definition, text string) {
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

// ErrorDefinition names what a revision calls an error response.
func ErrorDefinition(revision string) string {
	if revision < NewestLegacy {
		return "JSONRPCError"
	}
	return "JSONRPCErrorResponse"
}

// ResultDefinition names what a revision calls a response with a result.
func ResultDefinition(revision string) string {
	if revision < NewestLegacy {
		return "JSONRPCResponse"
	}
	return "JSONRPCResultResponse"
}

// CodeDefinitions names the errors that revision 2026-07-28 defines apart.
var CodeDefinitions = map[int]string{
	-32700: "ParseError",
	-32600: "InvalidRequestError",
	-32601: "MethodNotFoundError",
	-32602: "InvalidParamsError",
	-32603: "InternalError",
}

// MethodResults names the definition of each method's result.
var MethodResults = map[string]string{
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

// Notifications names the definitions of what a server tells of its own, apart
// from what belongs to a request.
var Notifications = map[string]string{
	"notifications/tools/list_changed":         "ToolListChangedNotification",
	"notifications/resources/list_changed":     "ResourceListChangedNotification",
	"notifications/prompts/list_changed":       "PromptListChangedNotification",
	"notifications/resources/updated":          "ResourceUpdatedNotification",
	"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}
