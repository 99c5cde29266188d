package smell

const (
	asPath = `put ./ before a relative path: "./%e"`
	asName = `have a "pattern" refuse it: "^[A-Za-z0-9]"`
)

// commands are those whose options are known. Options of other commands are not
// known, and nothing is said about them.
var commands = map[string]command{
	// Files.
	"rm": {}, "rmdir": {}, "unlink": {}, "cp": {values: "St", long: []string{"--suffix", "--target-directory"}}, "mv": {values: "St", long: []string{"--suffix", "--target-directory"}},
	"ln": {values: "St", long: []string{"--suffix", "--target-directory"}}, "mkdir": {values: "mZ", long: []string{"--mode"}}, "touch": {values: "drt", long: []string{"--date", "--reference", "--time"}},
	"cat": {}, "tac": {values: "s", long: []string{"--separator"}}, "nl": {values: "bdfhilnsvw"}, "head": {values: "cn", long: []string{"--lines", "--bytes"}}, "tail": {values: "cnsp", long: []string{"--lines", "--bytes", "--pid", "--sleep-interval"}},
	"less": {values: "bhjkKoOpPTtxyz"}, "wc": {}, "sort": {values: "koStT", long: []string{"--key", "--output", "--field-separator", "--buffer-size", "--parallel"}}, "uniq": {values: "fsw", long: []string{"--skip-fields", "--skip-chars", "--check-chars"}}, "cut": {values: "bcdf", long: []string{"--bytes", "--characters", "--fields", "--delimiter"}},
	"paste": {values: "d", long: []string{"--delimiters"}}, "fold": {values: "w", long: []string{"--width"}}, "fmt": {values: "wpg", long: []string{"--width", "--prefix", "--goal"}}, "od": {values: "AjNtSw"}, "xxd": {values: "cglos", safer: asPath}, "strings": {values: "nte"},
	"cksum": {values: "a"}, "md5sum": {}, "sha1sum": {}, "sha256sum": {}, "sha512sum": {}, "shasum": {values: "a"}, "base64": {values: "wio", long: []string{"--wrap"}},
	"ls": {values: "ITw", long: []string{"--ignore", "--sort", "--block-size", "--width"}}, "stat": {values: "cft", long: []string{"--format", "--printf"}}, "file": {values: "emfFP"}, "tree": {values: "LPIoT", safer: asPath},
	"du": {values: "dBtX", long: []string{"--max-depth", "--exclude", "--threshold", "--block-size"}}, "df": {values: "Btx", long: []string{"--type", "--exclude-type"}}, "realpath": {}, "readlink": {}, "basename": {values: "s", long: []string{"--suffix"}}, "dirname": {},
	"chmod": {}, "chown": {}, "chgrp": {}, "tee": {}, "diff": {values: "CUILFxXW", long: []string{"--label", "--exclude", "--width", "--unified", "--context"}}, "cmp": {values: "in"}, "comm": {}, "join": {values: "12aejotv"},
	"patch": {values: "BDdFgiopVYz", long: []string{"--directory", "--input", "--output", "--strip", "--fuzz", "--prefix", "--suffix", "--reject-file"}}, "install": {values: "gmotS"}, "truncate": {values: "rs", long: []string{"--size", "--reference"}}, "shred": {values: "ns"}, "split": {values: "abClnt"},
	"find": {paths: true, safer: asPath + `, or give the path from the root`},

	// Archives.
	"tar": {values: tarValues, long: []string{
		"--file", "--directory", "--files-from", "--exclude", "--exclude-from", "--exclude-tag", "--transform", "--xform", "--strip-components", "--use-compress-program", "--owner", "--group", "--mode", "--mtime",
		"--to-command", "--checkpoint-action", "--format", "--listed-incremental", "--newer", "--label", "--blocking-factor", "--info-script", "--new-volume-script", "--rmt-command", "--rsh-command", "--starting-file", "--suffix", "--sort", "--tape-length", "--add-file", "--one-top-level",
	}},
	"zip": {values: "bntxiPs"}, "unzip": {values: "dPx"}, "gzip": {values: "S"}, "gunzip": {values: "S"}, "bzip2": {}, "xz": {values: "FMTS"}, "zstd": {values: "DToMB"},

	// Texts.
	"grep": {values: "ABCDdefm", long: []string{"--regexp", "--file", "--max-count", "--context", "--after-context", "--before-context", "--include", "--exclude", "--exclude-dir", "--exclude-from", "--label", "--binary-files", "--devices", "--directories"}, pattern: true},
	"rg": {values: "ABCEefgjMmrtTd", long: []string{
		"--regexp", "--file", "--max-count", "--context", "--after-context", "--before-context", "--glob", "--iglob", "--type", "--type-not", "--type-add", "--replace", "--color", "--colors", "--sort", "--sortr", "--threads",
		"--max-columns", "--max-depth", "--max-filesize", "--ignore-file", "--encoding", "--engine", "--pre", "--pre-glob", "--path-separator", "--context-separator",
	}, pattern: true},
	"ag":  {values: "ABCGgmpW", long: []string{"--depth", "--ignore", "--ignore-dir", "--max-count", "--file-search-regex", "--path-to-ignore", "--workers", "--width", "--after", "--before", "--context"}, pattern: true},
	"sed": {values: "efl", long: []string{"--expression", "--file", "--line-length"}}, "awk": {values: "FvfEi", long: []string{"--file", "--assign", "--field-separator"}},
	"jq":         {values: "Lf", long: []string{"--arg", "--arg", "--argjson", "--argjson", "--slurpfile", "--slurpfile", "--rawfile", "--rawfile", "--indent", "--from-file"}, filter: true, safer: asPath},
	"shellcheck": {values: "efioPsSW", long: []string{"--shell", "--format", "--exclude", "--include", "--enable", "--severity", "--source-path", "--wiki-link-count"}},
	"pandoc":     {loose: true, flags: "sSNeipv"}, "xmllint": {loose: true, longFlags: []string{"--format", "--noout", "--html", "--nonet", "--noblanks", "--recover", "--valid", "--huge", "--noent", "--debug", "--stream"}, safer: asPath},
	"man": {values: "CeERLmMprsST"},

	// The network.
	"curl": {values: "AbCcDdEeFHKmoPQrTtUuwXxYyz", long: curlLong, safer: `tell curl that it is a URL: curl … --url "%e"`},
	"wget": {values: "AaBDeIiloOPQRTtUwXn", long: []string{
		"--output-document", "--output-file", "--append-output", "--execute", "--input-file", "--base", "--tries", "--timeout", "--dns-timeout", "--connect-timeout", "--read-timeout", "--wait", "--waitretry", "--quota", "--limit-rate",
		"--user-agent", "--directory-prefix", "--level", "--accept", "--reject", "--accept-regex", "--reject-regex", "--domains", "--exclude-domains", "--include-directories", "--exclude-directories", "--header", "--post-data", "--post-file",
		"--method", "--body-data", "--body-file", "--user", "--password", "--http-user", "--http-password", "--proxy-user", "--proxy-password", "--referer", "--load-cookies", "--save-cookies", "--certificate", "--private-key", "--ca-certificate",
		"--ca-directory", "--bind-address", "--cut-dirs", "--default-page", "--max-redirect", "--progress", "--restrict-file-names", "--secure-protocol", "--local-encoding", "--remote-encoding", "--start-pos", "--config", "--compression",
	}},
	"rsync": {values: "efTMB", long: []string{
		"--rsh", "--rsync-path", "--exclude", "--include", "--exclude-from", "--include-from", "--files-from", "--filter", "--backup-dir", "--suffix", "--temp-dir", "--compare-dest", "--copy-dest", "--link-dest", "--log-file", "--log-file-format",
		"--out-format", "--port", "--password-file", "--bwlimit", "--timeout", "--contimeout", "--address", "--max-size", "--min-size", "--partial-dir", "--chmod", "--chown", "--usermap", "--groupmap", "--block-size", "--modify-window",
		"--compress-level", "--compress-choice", "--checksum-choice", "--skip-compress", "--info", "--debug", "--sockopts", "--iconv", "--max-delete", "--protocol", "--remote-option", "--config", "--stop-after", "--stop-at", "--write-batch", "--read-batch",
	}},
	"ssh": {values: sshValues}, "scp": {values: "cDFiJloPSX"}, "sftp": {values: "BbcDFiJloPRSsX"},
	"ping": {values: "IQSTWcilmpstw"}, "dig": {values: "bcfkmpqtxy", safer: asName}, "host": {values: "ctNRmpW"}, "nslookup": {safer: asName}, "whois": {values: "hpTtiv"}, "traceroute": {values: "fgimNpqstwz"},

	// Machines and what runs on them.
	"docker": container, "podman": container,
	"kubectl":    {loose: true, flags: "AitwRq", subcommands: map[string]string{"logs": "fpitA"}, longFlags: []string{"--all-namespaces", "--watch", "--follow", "--previous", "--show-labels", "--no-headers", "--wait", "--stdin", "--tty", "--all-containers", "--timestamps"}},
	"helm":       {loose: true, flags: "iAqa", longFlags: []string{"--install", "--wait", "--atomic", "--all-namespaces", "--debug", "--create-namespace", "--reuse-values", "--reset-values", "--devel"}},
	"gh":         {loose: true, flags: "wcdfp", longFlags: []string{"--web", "--comments", "--draft", "--fill", "--private", "--public", "--internal", "--clone", "--paginate", "--slurp", "--silent", "--include"}},
	"systemctl":  {values: "tpHMnosP", long: []string{"--type", "--state", "--property", "--host", "--machine", "--signal", "--lines", "--output", "--kill-who", "--root", "--job-mode"}},
	"journalctl": {values: "nouptgDSUMcFTi", long: []string{"--unit", "--user-unit", "--lines", "--since", "--until", "--output", "--identifier", "--priority", "--grep", "--directory", "--file", "--cursor", "--after-cursor", "--field", "--machine", "--facility", "--root"}},
	"kill":       {values: "nsq"}, "pkill": {values: "dFgGPstuUO", long: []string{"--signal"}}, "pgrep": {values: "dFgGPstuUO", long: []string{"--signal"}}, "killall": {values: "suoyZ", long: []string{"--signal", "--user"}},
	"xargs": {values: wrappers["xargs"].values, long: wrappers["xargs"].long}, "xdg-open": {safer: asPath}, "open": {values: "ab", safer: asPath},
	"useradd": {values: "bcdefgGkKpsuRPZ"}, "userdel": {values: "RPZ"}, "passwd": {values: "ixnwR"},
	"date": {values: "dfr", long: []string{"--date", "--file", "--reference"}, safer: `name it behind --date: date --date="%e"`},

	// Tools of developers.
	"make": {values: "CfIoWE", long: []string{"--directory", "--file", "--makefile", "--include-dir", "--old-file", "--what-if", "--eval"}},
	"npm":  {loose: true, flags: "gDESsOBfly", longFlags: []string{"--save-dev", "--save", "--no-save", "--save-exact", "--no-audit", "--no-fund", "--production", "--ignore-scripts", "--legacy-peer-deps"}}, "pip": {loose: true, flags: "qUvyI", longFlags: []string{"--upgrade", "--user", "--no-deps", "--pre", "--no-cache-dir", "--force-reinstall", "--no-index"}},
	"cargo": {loose: true, flags: "qvrV", longFlags: []string{"--release", "--locked", "--offline", "--workspace", "--all-targets", "--all-features", "--no-default-features"}},
	"go":    {loose: true, longFlags: []string{"-v", "-x", "-n", "-a", "-race", "-short", "-u", "-json", "-cover", "-i", "-m"}},

	// Media.
	"ffmpeg": {loose: true, longFlags: []string{"-y", "-n", "-hide_banner", "-nostdin", "-nostats", "-stats", "-vn", "-an", "-sn", "-dn", "-shortest", "-re", "-copyts", "-accurate_seek", "-ignore_unknown", "-report"}, safer: asPath},
	"ffprobe": {loose: true, longFlags: []string{
		"-show_format", "-show_streams", "-show_frames", "-show_packets", "-show_chapters", "-show_programs", "-show_error", "-pretty", "-hide_banner", "-bitexact", "-unit", "-prefix", "-sexagesimal", "-count_frames", "-count_packets", "-byte_binary_prefix", "-show_private_data",
	}, safer: `name it behind -i: ffprobe -i "%e"`},
	"convert": {loose: true, safer: asPath}, "magick": {loose: true, safer: asPath}, "identify": {loose: true, safer: asPath, longFlags: []string{"-verbose", "-quiet", "-ping", "-regard-warnings"}},

	// Databases.
	"psql":    {values: "cdfFhLopPRTUv", long: []string{"--command", "--dbname", "--file", "--host", "--output", "--port", "--username", "--set", "--variable", "--pset", "--field-separator", "--record-separator", "--table-attr", "--log-file"}},
	"sqlite3": {long: []string{"-cmd", "-separator", "-newline", "-nullvalue", "-init", "-vfs", "-mmap", "-maxsize", "-heap", "-lookaside", "-lookaside", "-pagecache", "-pagecache"}, safer: asPath},
}

// container is docker, whose letters mean something else in each subcommand.
var container = command{
	loose: true, flags: "ditq",
	subcommands: map[string]string{
		"build": "q", "buildx": "q", "update": "", "logs": "ft", "rm": "flv", "rmi": "f", "ps": "alqs", "images": "aq", "pull": "aq", "inspect": "s", "container": "aflqstvdi", "image": "afq", "volume": "fq", "network": "fq", "system": "afv", "compose": "dqv",
	},
	longFlags: []string{"--rm", "--detach", "--interactive", "--tty", "--privileged", "--init", "--no-cache", "--follow", "--timestamps", "--volumes", "--read-only", "--no-trunc", "--size", "--publish-all", "--no-healthcheck", "--no-stdin", "--link"},
	runs:      []string{"run", "exec", "create"},
}

// tarValues are the letters of tar's options that take a value.
const tarValues = "bCFfgHIKLNTVX"

// plain are options of nearly all programs that take no value.
var plain = []string{
	"--all", "--force", "--quiet", "--silent", "--verbose", "--recursive", "--yes", "--assume-yes", "--help", "--version", "--dry-run", "--debug", "--no-color", "--no-pager", "--raw", "--list", "--delete", "--global",
}

// gitValues are the letters of options that take a value, of git's commands, and of
// git itself.
var gitValues = map[string]string{
	"": "Cc", "log": "nSGUlOL", "show": "nSGUlOL", "diff": "SGUlO", "rev-list": "n", "shortlog": "n", "whatchanged": "nSGUlO", "blame": "LS", "grep": "eABCmf", "commit": "mFCct", "tag": "mFu", "checkout": "bBU", "switch": "cC",
	"clone": "obujc", "push": "o", "pull": "sXjo", "fetch": "jo", "merge": "mFsX", "rebase": "sXxC", "cherry-pick": "mXs", "revert": "mX", "branch": "u", "stash": "m", "notes": "mFCc", "worktree": "bB", "add": "", "rm": "", "mv": "",
	"clean": "e", "ls-files": "xX", "ls-tree": "", "ls-remote": "o", "archive": "o", "format-patch": "onv", "am": "pC", "apply": "pC", "describe": "", "config": "f", "init": "b", "submodule": "b", "reset": "", "restore": "s", "rev-parse": "", "cat-file": "", "status": "", "remote": "tm",
}

// otherGitValues are those of the commands that are not among these.
const otherGitValues = "CcmFbBnSUGeto"

// gitLong are git's long options that take a value in the next word.
var gitLong = []string{
	"--git-dir", "--work-tree", "--namespace", "--author", "--committer", "--since", "--until", "--after", "--before", "--since-as-filter", "--grep", "--grep-reflog", "--max-count", "--skip", "--date", "--message", "--file", "--branch", "--depth", "--deepen", "--origin",
	"--reference", "--reference-if-able", "--upload-pack", "--receive-pack", "--template", "--config", "--separate-git-dir", "--shallow-since", "--shallow-exclude", "--jobs", "--filter", "--diff-filter", "--diff-algorithm", "--unified", "--exclude", "--exclude-from",
	"--exclude-per-directory", "--remote", "--strategy", "--strategy-option", "--onto", "--exec", "--orphan", "--set-upstream-to", "--sort", "--output", "--output-directory", "--prefix", "--pathspec-from-file", "--repo", "--push-option",
	"--fixup", "--squash", "--reuse-message", "--reedit-message", "--trailer", "--local-user", "--type", "--default", "--word-diff-regex", "--inter-hunk-context", "--src-prefix", "--dst-prefix", "--ignore-matching-lines", "--find-object", "--max-depth",
	"--threads", "--after-context", "--before-context", "--context", "--conflict", "--source", "--server-option", "--refmap", "--min-parents", "--max-parents", "--format", "--initial-branch", "--object-format", "--add-file", "--chmod", "--match", "--candidates", "--minimum", "--ref", "--bundle-uri",
}

// curlLong are curl's long options that take a value.
var curlLong = []string{
	"--abstract-unix-socket", "--alt-svc", "--aws-sigv4", "--cacert", "--capath", "--cert", "--cert-type", "--ciphers", "--config", "--connect-timeout", "--connect-to", "--continue-at", "--cookie", "--cookie-jar", "--create-file-mode", "--crlfile", "--curves",
	"--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--delegation", "--dns-interface", "--dns-ipv4-addr", "--dns-ipv6-addr", "--dns-servers", "--doh-url", "--dump-header", "--ech", "--egd-file", "--engine", "--etag-compare", "--etag-save",
	"--expect100-timeout", "--form", "--form-string", "--ftp-account", "--ftp-alternative-to-user", "--ftp-method", "--ftp-port", "--ftp-ssl-ccc-mode", "--happy-eyeballs-timeout-ms", "--haproxy-clientip", "--header", "--hostpubmd5", "--hostpubsha256", "--hsts",
	"--interface", "--ip-tos", "--ipfs-gateway", "--json", "--keepalive-cnt", "--keepalive-time", "--key", "--key-type", "--krb", "--libcurl", "--limit-rate", "--local-port", "--login-options", "--mail-auth", "--mail-from", "--mail-rcpt", "--max-filesize", "--max-redirs",
	"--max-time", "--netrc-file", "--noproxy", "--oauth2-bearer", "--output", "--output-dir", "--parallel-max", "--pass", "--pinnedpubkey", "--postredir", "--preproxy", "--proto", "--proto-default", "--proto-redir", "--pubkey", "--quote", "--random-file", "--range", "--rate",
	"--referer", "--request", "--request-target", "--resolve", "--retry", "--retry-delay", "--retry-max-time", "--sasl-authzid", "--service-name", "--socks4", "--socks4a", "--socks5", "--socks5-gssapi-service", "--socks5-hostname", "--speed-limit", "--speed-time", "--stderr",
	"--telnet-option", "--tftp-blksize", "--time-cond", "--tls-max", "--tls13-ciphers", "--tlsauthtype", "--tlspassword", "--tlsuser", "--trace", "--trace-ascii", "--trace-config", "--unix-socket", "--upload-file", "--url", "--url-query", "--user", "--user-agent", "--variable",
	"--vlan-priority", "--write-out",
	"--proxy", "--proxy-cacert", "--proxy-capath", "--proxy-cert", "--proxy-cert-type", "--proxy-ciphers", "--proxy-crlfile", "--proxy-header", "--proxy-key", "--proxy-key-type", "--proxy-pass", "--proxy-pinnedpubkey", "--proxy-service-name", "--proxy-tls13-ciphers",
	"--proxy-tlsauthtype", "--proxy-tlspassword", "--proxy-tlsuser", "--proxy-user", "--proxy1.0",
}
