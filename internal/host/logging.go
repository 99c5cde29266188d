package host

//lint:file-ignore SA1019 Logging is deprecated since revision 2026-07-28 and part of every revision before.

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type setLevelRequest = mcp.ServerRequest[*mcp.SetLoggingLevelParams]

// levels are the log levels of MCP, lowest first (RFC 5424).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevel answers logging/setLevel. The engine keeps the level, and would
// keep any.
func (h *Host) setLevel(ctx context.Context, method string, req *setLevelRequest, next mcp.MethodHandler) (mcp.Result, error) {
	if !slices.Contains(levels, string(req.Params.Level)) {
		return nil, invalidParams("level must be one of %q", levels)
	}
	return next(ctx, method, req)
}

// logMessage is the params of notifications/message.
type logMessage struct {
	Level  string `json:"level"`
	Logger string `json:"logger,omitempty"`
	Data   any    `json:"data"`
}

// sendLog sends a log message to a client that asked for messages of its level:
// for the session, or in a request's metadata. Others get nothing, nor does
// anybody without a session.
func sendLog(ctx context.Context, session *mcp.ServerSession, m logMessage) error {
	if session == nil {
		return nil
	}
	return session.Log(ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(m.Level), Logger: m.Logger, Data: m.Data})
}

// sendLogIf does the same for a request that carries its level itself, "" for
// none, and does not go through the engine.
func sendLogIf(asked string, m logMessage, notify func(method string, params json.RawMessage)) error {
	if i := slices.Index(levels, asked); i < 0 || slices.Index(levels, m.Level) < i {
		return nil
	}
	text, err := json.Marshal(m)
	if err == nil {
		notify("notifications/message", text)
	}
	return err
}

var mcpLevels = map[slog.Level]string{
	slog.LevelInfo: "info", slog.LevelWarn: "warning", slog.LevelError: "error",
}
