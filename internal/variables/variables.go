// Package variables is the list of the environment's variables that Conch reads,
// and of the variables that a script's functions find: their names, and what they
// mean to people. The reference is written from it, and its test holds the code to
// it.
//
// It knows nothing of who reads a variable: whoever does has the name and what to
// do with the value.
package variables

// A Group is variables that one sort of reader looks for together.
type Group struct {
	Title string
	About string // Markdown, a paragraph
	All   []Variable
}

// A Variable is one variable, or, where its name has a part in angle brackets, all
// whose names are like it.
type Variable struct {
	Name    string
	Means   string // Markdown, one line
	Default string // Markdown, one line; "" where it is simply not there

	// Elsewhere is set of one that no code here names, since a library or Bash
	// reads it, or whose name is made.
	Elsewhere bool
}

// Groups are all variables, the ones that most people look for first.
func Groups() []Group {
	return []Group{calls(), limited(), conventions(), server(), tools(), dropIn(), httpVariables(), installing(), doctor(), testing(), internals()}
}

func calls() Group {
	return Group{
		Title: "What a call finds",
		About: "Exported to the programs that a call runs, but for the arguments. Where a script has a variable of such a name, [writing servers](../writing-servers.md#what-a-call-finds) tells which of the two counts.",
		All: []Variable{
			{Name: "arg_<name>", Means: "an argument whose name is made of letters, digits and underscores: a text, or an array where the argument is one of scalars. Not exported", Default: "what the script has set", Elsewhere: true},
			{Name: "argc_<name>", Means: "an argument of a server that is described in [tags](tags.md): a text, an array, or 1 for a flag. Not exported", Elsewhere: true},
			{Name: "ARG_<NAME>", Means: "an argument, for a tool that is a [program](../writing-servers.md#programs): a string's text, JSON of all else", Elsewhere: true},
			{Name: "LLM_OUTPUT", Means: "`/dev/stdout`, for scripts of llm-functions that print their results there; with tags only, and where the server's environment has none"},
			{Name: "MCP_CALL_TMPDIR", Means: "an empty directory of mode 700, which is gone after the call"},
			{Name: "MCP_ROOTS_JSON", Means: "the [roots](../roots.md), an array of objects with `uri`, `name` and `path`"},
			{Name: "MCP_ROOTS_PATHS", Means: "their paths, with a newline between any two"},
			{Name: "MCP_ROOTS_COUNT", Means: "how many there are"},
			{Name: "CONCH_BIN", Means: "where the `conch` is that serves the call"},
			{Name: "TRACEPARENT", Means: "the trace that the request belongs to ([W3C Trace Context](https://www.w3.org/TR/trace-context/))"},
			{Name: "TRACESTATE", Means: "what vendors have added to it"},
			{Name: "BAGGAGE", Means: "what goes along with it"},
		},
	}
}

func limited() Group {
	return Group{
		Title: "What a program has of a minimal environment",
		About: "With `environment` set to `minimal`, for [a tool that is a program](../writing-servers.md#programs): these of the server's, as far as they are there, besides what calls find. Names in place of `minimal` are in place of these, but for `PATH`.",
		All: []Variable{
			{Name: "PATH", Means: "where programs are"},
			{Name: "HOME", Means: "the user's home", Elsewhere: true},
			{Name: "USER", Means: "the user's name", Elsewhere: true},
			{Name: "LOGNAME", Means: "the same", Elsewhere: true},
			{Name: "SHELL", Means: "the user's shell", Elsewhere: true},
			{Name: "TERM", Means: "the kind of terminal"},
			{Name: "TMPDIR", Means: "where temporary files go"},
			{Name: "TZ", Means: "the time zone", Elsewhere: true},
			{Name: "LANG", Means: "the locale", Elsewhere: true},
			{Name: "LANGUAGE", Means: "languages for messages", Elsewhere: true},
			{Name: "LC_ALL", Means: "the locale, whatever the others say"},
			{Name: "LC_COLLATE", Means: "the locale for order"},
			{Name: "LC_CTYPE", Means: "for characters"},
			{Name: "LC_MESSAGES", Means: "for messages"},
			{Name: "LC_MONETARY", Means: "for money"},
			{Name: "LC_NUMERIC", Means: "for numbers"},
			{Name: "LC_TIME", Means: "for times"},
		},
	}
}

func conventions() Group {
	return Group{
		Title: "What a script may set",
		About: "Read when the script has been run, so that it may set them; what the environment has counts where it does not. A flag goes before its variable. Relative paths start from the directory that the script was in at its end.",
		All: []Variable{
			{Name: "MCP_TOOLS_LIST_FILE", Means: "the list of tools", Default: "`tools.json` beside the script"},
			{Name: "MCP_CONFIG_FILE", Means: "the server's description", Default: "`config.json` beside the script"},
			{Name: "MCP_RESOURCES_LIST_FILE", Means: "the list of resources", Default: "`resources.json` beside the script"},
			{Name: "MCP_PROMPTS_LIST_FILE", Means: "the list of prompts", Default: "`prompts.json` beside the script"},
			{Name: "MCP_LOG_FILE", Means: "where the log goes", Default: "standard error"},
			{Name: "MCP_LOG_STDERR", Means: "`1`: the log goes to standard error as well"},
			{Name: "TMPDIR", Means: "below it are the directories of calls", Default: "`/tmp`"},
		},
	}
}

func server() Group {
	return Group{
		Title: "What `conch serve` reads",
		About: "From the environment that it is started in.",
		All: []Variable{
			{Name: "CONCH_ROOTS", Means: "the roots of clients that name none, paths with colons between them; `--roots` goes before it", Default: "`$MCPBASH_ROOTS`"},
			{Name: "MCPBASH_ROOTS", Means: "the same, as mcp-bash calls it", Default: "`config/roots.json`, or the script's directory"},
			{Name: "CONCH_BIN", Means: "what calls get as `CONCH_BIN`, in place of the path of the `conch` that runs"},
			{Name: "HOME", Means: "what `~` is in paths of roots; and where clients have their configurations, for `conch install`", Elsewhere: true},
			{Name: "XDG_RUNTIME_DIR", Means: "where the control files are, if it can be written to", Default: "`/dev/shm`, or else the temporary directory"},
			{Name: "GOMEMLIMIT", Means: "how much memory conch itself takes before it collects garbage more often, over HTTP", Default: "384 MiB"},
			{Name: "GOMAXPROCS", Means: "how many processors conch itself uses at once", Default: "half of those that there are"},
		},
	}
}

func tools() Group {
	return Group{
		Title: "What `conch tool` reads outside of calls",
		About: "For tests of a program that takes its arguments with `conch tool args-…` and `meta-…`. In a call they mean nothing.",
		All: []Variable{
			{Name: "MCP_TOOL_ARGS_JSON", Means: "the arguments, a JSON object", Default: "`{}`"},
			{Name: "MCP_TOOL_ARGS_FILE", Means: "a file that has them; goes before the text"},
			{Name: "MCP_TOOL_META_JSON", Means: "the `_meta` of the request, a JSON object", Default: "`{}`"},
			{Name: "MCP_TOOL_META_FILE", Means: "a file that has it; goes before the text"},
		},
	}
}

func dropIn() Group {
	return Group{
		Title: "What the drop-in files read",
		About: "For [a server that is its own process](../writing-servers.md#a-server-that-is-its-own-process), besides those for `MCP_TOOLS_LIST_FILE`, `MCP_CONFIG_FILE`, `MCP_LOG_FILE`, `MCP_LOG_STDERR` and `TMPDIR`. A script may set them before it serves. The last nine are mcp-server-bash-sdk's format's alone.",
		All: []Variable{
			{Name: "CONCH_BIN", Means: "where `conch` is; nothing else is looked at then", Default: "the one beside the file, or else on `PATH`"},
			{Name: "CONCH_FLAGS", Means: "flags of `conch serve`: `--timeout`, `--max-output`, `--max-line`, `--drain`, and [for HTTP](../compatibility.md#http) more"},
			{Name: "MCP_CONCURRENCY", Means: "how many calls may run at once, 1 to 1024", Default: "1; for mcp-server-bash-sdk's format 2 × CPUs, at least 4"},
			{Name: "MCP_EXTRA_LOG_FILE", Means: "one more file for the log; bash-mcp-sdk's format alone"},
			{Name: "PROJECT_ROOT", Means: "below it is a relative path that a script of bash-mcp-sdk's format gives for one more log file", Default: "`.`"},
			{Name: "SCRIPT_DIR", Means: "set, not read: the drop-in file's directory"},
			{Name: "MCP_PROTOCOL_VERSION", Means: "set, not read: the revision that the library speaks"},
			{Name: "MCP_VALIDATE", Means: "`0`: arguments are not held against the schema"},
			{Name: "MCP_DEFAULT_TTL_MS", Means: "for how long clients may keep lists, in milliseconds", Default: "60000"},
			{Name: "MCP_DEFAULT_CACHE_SCOPE", Means: "`public` or `private`", Default: "`public`"},
			{Name: "MCP_HTTP_BIND", Means: "the address to serve HTTP on", Default: "127.0.0.1"},
			{Name: "MCP_HTTP_PORT", Means: "its port; 0 takes any that is free", Default: "3000"},
			{Name: "MCP_HTTP_PATH", Means: "the path of the endpoint", Default: "`/mcp`"},
			{Name: "MCP_ALLOWED_ORIGINS", Means: "origins of web pages that may send requests, with commas between them", Default: "`http://localhost,http://127.0.0.1`"},
		},
	}
}

func httpVariables() Group {
	return Group{
		Title: "What a server over HTTP reads",
		About: "[Traces](../http.md#metrics-and-traces) are turned on by the first two. OpenTelemetry's library reads the others that its specification has too, such as `OTEL_TRACES_SAMPLER` and `OTEL_EXPORTER_OTLP_HEADERS`.",
		All: []Variable{
			{Name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Means: "the collector's URL for traces"},
			{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Means: "the collector's URL, such as `http://localhost:4318`"},
			{Name: "OTEL_SDK_DISABLED", Means: "`true`: no traces all the same"},
			{Name: "OTEL_TRACES_EXPORTER", Means: "`none`: the same"},
			{Name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", Means: "`http/protobuf`, if anything; goes before the next"},
			{Name: "OTEL_EXPORTER_OTLP_PROTOCOL", Means: "`http/protobuf`, if anything"},
			{Name: "OTEL_SERVICE_NAME", Means: "who the spans come from", Default: "`conch`", Elsewhere: true},
			{Name: "OTEL_RESOURCE_ATTRIBUTES", Means: "more of who they come from", Elsewhere: true},
			{Name: "LISTEN_FDS", Means: "how many sockets systemd passes, for `--http systemd`"},
			{Name: "LISTEN_PID", Means: "to whom it passes them"},
			{Name: "LISTEN_FDNAMES", Means: "their names; taken away, not read"},
			{Name: "LISTEN_PIDFDID", Means: "taken away, not read"},
		},
	}
}

func installing() Group {
	return Group{
		Title: "What `conch install` reads",
		About: "They say where a client has its configuration, as they do to the client itself. `--env KEY` reads the variable KEY besides.",
		All: []Variable{
			{Name: "PATH", Means: "where the server's programs are; written into the entry for clients with windows"},
			{Name: "CLAUDE_CONFIG_DIR", Means: "the directory of Claude Code", Default: "the home directory"},
			{Name: "CODEX_HOME", Means: "the directory of Codex", Default: "`~/.codex`"},
			{Name: "GEMINI_CLI_HOME", Means: "where the `.gemini` of Gemini CLI is", Default: "the home directory"},
			{Name: "XDG_CONFIG_HOME", Means: "where Claude Desktop, VS Code and Zed have theirs, as far as they look there", Default: "`~/.config`"},
		},
	}
}

func doctor() Group {
	return Group{
		Title: "What `conch doctor` reads",
		About: "Besides those for `conch install`: a server is started with the variables that its client hands on.",
		All: []Variable{
			{Name: "BASH_ENV", Means: "what Bash runs before each script; told of, since it slows servers down and may print"},
			{Name: "NO_COLOR", Means: "no colours, whatever it says"},
			{Name: "TERM", Means: "`dumb`: no colours"},
			{Name: "WAYLAND_DISPLAY", Means: "what clients with windows of their own have, and hand on"},
			{Name: "DBUS_SESSION_BUS_ADDRESS", Means: "likewise"},
			{Name: "SSH_AUTH_SOCK", Means: "likewise"},
		},
	}
}

func testing() Group {
	return Group{
		Title: "What `conch test` sets",
		About: "For the set-up of a file of cases, and for the server.",
		All: []Variable{
			{Name: "CONCH_TEST_DIR", Means: "an empty directory of the file's own"},
		},
	}
}

func internals() Group {
	return Group{
		Title: "What conch says to itself",
		About: "Set by conch for programs of its own. Leave them alone; they may change at any time.",
		All: []Variable{
			{Name: "CONCH_TALK", Means: "where a call's messages go"},
			{Name: "CONCH_UPDATES", Means: "where messages go that are of no call"},
			{Name: "CONCH_ASKER", Means: "which of a call's questions is whose"},
			{Name: "CONCH_ASK_ROOTS", Means: "that the client has roots, and has not been asked for them"},
			{Name: "CONCH_CONTROL", Means: "where the control files are, while the script's shell starts"},
			{Name: "CONCH_ROOT", Means: "how the names of that shell's files begin"},
		},
	}
}
