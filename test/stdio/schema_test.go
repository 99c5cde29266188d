package stdio_test

import "github.com/conch-mcp/conch/test/judge"

const (
	newestLegacy = judge.NewestLegacy
	modern       = judge.Modern
)

var (
	revisions       = judge.Revisions
	legacyRevisions = revisions[:4]

	conforms         = judge.Conforms
	errorDefinition  = judge.ErrorDefinition
	resultDefinition = judge.ResultDefinition
	codeDefinitions  = judge.CodeDefinitions
	methodResults    = judge.MethodResults
	notifications    = judge.Notifications
)

// cachedMethods are those whose results clients may keep.
var cachedMethods = []string{"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}
