package clients

import (
	"path/filepath"
	"regexp"

	"github.com/conch-mcp/conch/internal/inplace"
)

// What programs replace in the texts of their configuration.
var (
	braced   = regexp.MustCompile(`\$\{[^}]+\}`)
	defaults = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`)
	dollars  = regexp.MustCompile(`\$(\w+|\{[^}]+\})`)
)

// Any is a client of which nothing is known but what most have in common.
func Any() Client {
	return Client{Title: "most clients", parse: inplace.ParseJSON, servers: "mcpServers"}
}

// All lists the clients whose files are known.
func All() []Client {
	return []Client{
		{
			Name: "claude-code", Title: "Claude Code", Next: "start Claude Code anew",
			parse: inplace.ParseJSON, servers: "mcpServers", kind: "stdio", foreign: []string{"url", "headers", "headersHelper", "oauth"},
			strict: true, variables: defaults, keepsProjects: true,
			user: claudeCode, project: below(".mcp.json"),
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop", Windowed: true, Next: "quit Claude Desktop and start it again",
			parse: inplace.ParseJSON, servers: "mcpServers", foreign: []string{"type", "url", "headers"},
			user: func(m Machine) Place {
				return within(filepath.Join(m.settings(), "Claude"), "claude_desktop_config.json")
			},
		},
		{
			Name: "cursor", Title: "Cursor", Windowed: true, Next: "restart Cursor",
			parse: inplace.ParseJSON, servers: "mcpServers", kind: "stdio", foreign: []string{"url", "headers", "auth"},
			variables: braced,
			user:      func(m Machine) Place { return within(filepath.Join(m.Home, ".cursor"), "mcp.json") },
			project:   below(".cursor", "mcp.json"),
		},
		{
			Name: "vscode", Title: "VS Code", Windowed: true, Next: "start it in VS Code with the command MCP: List Servers",
			parse: inplace.ParseJSON, servers: "servers", kind: "stdio", foreign: []string{"url", "headers", "oauth"},
			variables: braced,
			user: func(m Machine) Place {
				return within(filepath.Join(m.settings(), "Code"), "User", "mcp.json")
			},
			project: below(".vscode", "mcp.json"),
		},
		{
			Name: "codex", Title: "Codex", Next: "start Codex anew",
			parse: inplace.ParseTOML, servers: "mcp_servers",
			foreign: []string{"type", "url", "bearer_token_env_var", "http_headers", "env_http_headers", "oauth", "oauth_resource", "scopes"},
			strict:  true,
			inherits: []string{
				"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ", "__CF_USER_TEXT_ENCODING",
			},
			user:    func(m Machine) Place { return within(m.or("CODEX_HOME", ".codex"), "config.toml") },
			project: below(".codex", "config.toml"),
		},
		{
			Name: "gemini", Title: "Gemini CLI", Next: "start Gemini CLI anew",
			parse: inplace.ParseJSON, servers: "mcpServers", foreign: []string{"type", "url", "httpUrl", "tcp", "headers", "oauth", "authProviderType"},
			plain: true, variables: dollars,
			user: func(m Machine) Place {
				return within(filepath.Join(m.or("GEMINI_CLI_HOME"), ".gemini"), "settings.json")
			},
			project: below(".gemini", "settings.json"),
		},
		{
			Name: "zed", Title: "Zed", Windowed: true, Next: "Zed takes it up by itself",
			parse: inplace.ParseJSON, servers: "context_servers", foreign: []string{"type", "url", "headers", "oauth"},
			user:    func(m Machine) Place { return within(zed(m), "settings.json") },
			project: below(".zed", "settings.json"),
		},
	}
}

// claudeCode is where Claude Code keeps more than its settings: beside its
// directory, or in it where CLAUDE_CONFIG_DIR names one.
func claudeCode(m Machine) Place {
	const name = ".claude.json"
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return within(dir, name)
	}
	file := filepath.Join(m.Home, name)
	return Place{File: file, Signs: []string{file, filepath.Join(m.Home, ".claude")}}
}

// zed is Zed's directory, which is the same on macOS.
func zed(m Machine) string {
	if m.OS == "darwin" {
		return filepath.Join(m.Home, ".config", "zed")
	}
	return filepath.Join(m.or("XDG_CONFIG_HOME", ".config"), "zed")
}
