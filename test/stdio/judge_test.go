package stdio_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/test/harness"
)

// canary is what tests put where no message may repeat it.
const canary = "canary5309"

// leaks are traces of the implementation and of raw parameters.
var leaks = regexp.MustCompile(`mcp\.|\*|unmarshal|(^|[^.\w])json:|jsonrpc2|\bstruct\b|goroutine|interface \{\}|\.go:|handling '|` + canary)

// judge holds one line to everything that is true of all lines.
func (c *client) judge(line string) {
	c.t.Helper()
	if strings.HasPrefix(line, "[") {
		c.judgeBatch(line)
		return
	}
	if strings.HasPrefix(line, `{"jsonrpc":"2.0","method":`) {
		c.judgeNotification(line)
		return
	}
	c.judgeReply(line)
}

// judgeNotification holds a notification to its definition. One that belongs to
// what listens is of the stateless era.
func (c *client) judgeNotification(line string) {
	c.t.Helper()
	revision := c.revision(question{modern: strings.Contains(line, subscriptionID)})
	definition := notifications[member(c.t, json.RawMessage(line), "method")]
	if definition == "" {
		c.t.Errorf("a notification nobody expects: %.2000s", line)
		return
	}
	conforms(c.t, revision, definition, line)
}

func (c *client) judgeBatch(line string) {
	c.t.Helper()
	if c.negotiated != "2025-03-26" {
		c.t.Errorf("an array without revision 2025-03-26: %.2000s", line)
	}
	var replies []json.RawMessage
	if err := json.Unmarshal([]byte(line), &replies); err != nil || len(replies) == 0 {
		c.t.Fatalf("not a batch of replies: %.2000s", line)
	}
	wellFormed := make([]string, len(replies))
	for i, raw := range replies {
		c.judgeReply(string(raw))
		wellFormed[i] = withPlainID(harness.ParseReply(c.t, string(raw)))
	}
	conforms(c.t, "2025-03-26", "JSONRPCBatchResponse", "["+strings.Join(wellFormed, ",")+"]")
}

func (c *client) judgeReply(line string) {
	c.t.Helper()
	r := harness.ParseReply(c.t, line)
	q, wasAsked := c.asked[string(r.ID)]
	delete(c.asked, string(r.ID))
	revision := c.revision(q)
	if r.Error != nil {
		c.judgeError(r, revision)
		return
	}
	if !wasAsked {
		c.t.Errorf("a result nobody asked for: %.2000s", line)
		return
	}
	if q.method == "initialize" {
		c.negotiated = member(c.t, r.Result, "protocolVersion")
		revision = c.negotiated
	}
	conforms(c.t, revision, resultDefinition(revision), withPlainID(r))
	definition := methodResults[q.method]
	if definition == "" {
		c.t.Errorf("a result of %q, which has none: %.2000s", q.method, line)
		return
	}
	conforms(c.t, revision, definition, string(r.Result))
	c.judgeEra(r, q)
}

// revision is the one that the answer to a question belongs to.
func (c *client) revision(q question) string {
	switch {
	case q.modern:
		return modern
	case c.negotiated != "":
		return c.negotiated
	}
	return newestLegacy
}

// judgeEra tells results of the two eras apart by their members.
func (c *client) judgeEra(r harness.Reply, q question) {
	c.t.Helper()
	var result, meta map[string]json.RawMessage
	if err := json.Unmarshal(r.Result, &result); err != nil {
		c.t.Fatalf("the result is no object: %.2000s", r.Raw)
	}
	if !q.modern {
		for _, name := range []string{"resultType", "_meta", "ttlMs", "cacheScope", "supportedVersions"} {
			if _, there := result[name]; there {
				c.t.Errorf("a legacy result with %s: %.2000s", name, r.Raw)
			}
		}
		return
	}
	if string(result["resultType"]) != `"complete"` {
		c.t.Errorf("a modern result without its resultType: %.2000s", r.Raw)
	}
	if json.Unmarshal(result["_meta"], &meta) != nil || meta[metaServerInfo] == nil {
		c.t.Errorf("a modern result without serverInfo: %.2000s", r.Raw)
	}
	_, ttl := result["ttlMs"]
	_, scope := result["cacheScope"]
	cached := slices.Contains(cachedMethods, q.method)
	if ttl != cached || scope != cached {
		c.t.Errorf("ttlMs and cacheScope belong on what may be kept and nowhere else: %.2000s", r.Raw)
	}
}

func (c *client) judgeError(r harness.Reply, revision string) {
	c.t.Helper()
	if leak := leaks.FindString(r.Error.Message + string(r.Error.Data)); leak != "" {
		c.t.Errorf("the error shows %q: %.2000s", leak, r.Raw)
	}
	if r.Error.Message == "" || len(r.Error.Message) > 500 || strings.Contains(r.Error.Message, "\n") {
		c.t.Errorf("the message is no concise sentence: %.2000s", r.Raw)
	}
	c.judgeMissingID(r)
	if r.ID == nil {
		// Only the schemas since then allow for an error without an id.
		revision = max(revision, newestLegacy)
	}
	conforms(c.t, revision, errorDefinition(revision), withPlainID(r))
	if definition := codeDefinitions[r.Error.Code]; definition != "" && revision == modern {
		var m map[string]json.RawMessage
		_ = json.Unmarshal([]byte(r.Raw), &m)
		conforms(c.t, modern, definition, string(m["error"]))
	}
	if r.Error.Code == -32022 {
		conforms(c.t, modern, "UnsupportedProtocolVersionError", withPlainID(r))
	}
}

// judgeMissingID: null where an older revision was negotiated, no member at all
// anywhere else.
func (c *client) judgeMissingID(r harness.Reply) {
	c.t.Helper()
	older := c.negotiated != "" && c.negotiated < newestLegacy
	switch {
	case r.ID == nil && older:
		c.t.Errorf("no id where revision %s wants null: %.2000s", c.negotiated, r.Raw)
	case string(r.ID) == "null" && !older:
		c.t.Errorf("a null id where there should be none: %.2000s", r.Raw)
	}
}

// withPlainID is the reply with an id that any validator can digest. The
// schemas have no null id, which JSON-RPC demands in older revisions, and a
// validator may expand a number like 1e999999999.
func withPlainID(r harness.Reply) string {
	id := string(r.ID)
	if id != "null" && (strings.HasPrefix(id, `"`) || !strings.ContainsAny(id, "eE")) {
		return r.Raw
	}
	return strings.Replace(r.Raw, fmt.Sprintf(`"id":%s,`, id), `"id":0,`, 1)
}
