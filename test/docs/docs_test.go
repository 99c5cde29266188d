// Package docs_test holds the documentation to its word: what it says to type
// is typed, and what it says comes back must come back.
//
// The convention, for README.md, docs/ and the examples' README.md:
//
//   - a block fenced "sh" is run by Bash, in a directory that holds a copy of
//     examples/, of lib/ for the examples, and of a library to be replaced for
//     what is about migrating; one shell and one directory are shared by the
//     blocks of a document. The last command must end with status 0, or with 1
//     when the block is fenced "sh status=1". What is left in the background at
//     the end of the document is ended;
//   - a block fenced "text" right behind it is what it prints, on either
//     descriptor; a line "…" in it stands for any number of lines;
//   - a block fenced with a second word, "bash server.sh" or "json tools.json",
//     is written to a file of that name first;
//   - everything else is for reading only.
package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.PlainMain(m)) }

// documents lists the documentation, as paths from the repository's top.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(harness.Root(), pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no document matches %s: %v", pattern, err)
		}
		for _, path := range paths {
			document, err := filepath.Rel(harness.Root(), path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, document)
		}
	}
	return all
}

func read(t *testing.T, document string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), document))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatTheDocumentsSayToTypeDoesWhatTheySay(t *testing.T) {
	ran := 0
	for _, document := range documents(t) {
		t.Run(document, func(t *testing.T) {
			w := newWorkplace(t, document)
			list := blocks(t, read(t, document))
			for i, b := range list {
				if b.file != "" {
					w.write(b.file, b.text)
				}
				if b.language != "sh" {
					continue
				}
				ran++
				output, status := w.run(b.text)
				if status != b.status {
					t.Errorf("%s:%d: status %d, not %d, of\n%s\nIt printed:\n%s", document, b.line, status, b.status, b.text, output)
				}
				if i+1 == len(list) || !list[i+1].follows {
					continue
				}
				if want := list[i+1].text; !matches(output, want) {
					t.Errorf("%s:%d: wanted\n%s\nand got\n%s", document, b.line, want, output)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no document says anything to type")
	}
}

// old are the files that a reader has who migrates: the library that is to be
// replaced.
var old = map[string]map[string]string{
	"docs/migrating/bash-mcp-sdk.md": {"lib/mcpserver_core.sh": "run_mcp_server() { :; }\n"},
	"docs/migrating/mcp-server-bash-sdk.md": {
		"mcpserver_core.sh": "run_mcp_server() { :; }\n",
		"mcpserver_http.sh": "run_mcp_http_server() { :; }\n",
	},
}

// workplace is where the blocks of one document run.
type workplace struct {
	*shell
	t   *testing.T
	dir string
}

func newWorkplace(t *testing.T, document string) workplace {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	for _, folder := range []string{"examples", "lib"} {
		if folder == "lib" && !strings.HasPrefix(document, "examples/") {
			// A reader's own tree has no lib/ before one is made.
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(harness.Root(), folder))); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range old[document] {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "conch")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+t.TempDir(), "XDG_RUNTIME_DIR="+t.TempDir())
	return workplace{newShell(t, dir, env), t, dir}
}

func (w workplace) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// matches compares line by line, white space at their ends aside.
func matches(output, want string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(want + "\n") {
		line = strings.TrimRight(line, " \n")
		if line == "…" {
			pattern.WriteString(`(.*\n)*`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(line) + ` *\n`)
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(output + "\n")
}

func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	seen := 0
	for _, document := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(read(t, document), -1) {
			target := found[1]
			if strings.Contains(target, "://") {
				continue
			}
			seen++
			path := filepath.Join(harness.Root(), filepath.Dir(document), target)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which is not there", document, target)
			}
		}
	}
	if seen == 0 {
		t.Error("no document links to another")
	}
}

func TestEveryFlagOfServeIsToldOfInOperations(t *testing.T) {
	help, err := exec.Command(harness.Binary(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z][a-z-]+)`).FindAllStringSubmatch(string(help), -1)
	if len(flags) < 10 {
		t.Fatalf("the help tells of %q only", flags)
	}
	operations := read(t, "docs/operations.md")
	for _, found := range flags {
		if flag := found[1]; flag != "--help" && !strings.Contains(operations, "`"+flag) {
			t.Errorf("docs/operations.md does not tell of %s", flag)
		}
	}
}

func TestEveryDecisionIsListedAndNumberedInTurn(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(harness.Root(), "docs/decisions/[0-9]*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no decisions: %v", err)
	}
	index := read(t, "docs/decisions/README.md")
	for i, path := range paths {
		name := filepath.Base(path)
		if !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/decisions/README.md does not list %s", name)
		}
		if number := strings.Split(name, "-")[0]; number != number4(i+1) {
			t.Errorf("%s should be number %s", name, number4(i+1))
		}
		heading, _, _ := strings.Cut(read(t, "docs/decisions/"+name), "\n")
		if !strings.HasPrefix(heading, "# "+number4(i+1)+". ") {
			t.Errorf("%s begins with %q, not with its number", name, heading)
		}
	}
}

func TestEveryFlagAndClientOfInstallIsToldOfInInstalling(t *testing.T) {
	help, err := exec.Command(harness.Binary(t), "install", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(help), -1)
	_, list, ok := strings.Cut(string(help), "CLIENT is one of ")
	list, _, ends := strings.Cut(list, ".")
	if len(words) < 8 || !ok || !ends {
		t.Fatalf("the help tells of %q only", words)
	}
	installing := read(t, "docs/installing.md")
	for _, word := range append(words, strings.Split(list, ", ")...) {
		if word != "--help" && word != "--timeout" && !strings.Contains(installing, "`"+word) {
			t.Errorf("docs/installing.md does not tell of %s", word)
		}
	}
}

func TestEveryDocumentIsListedInReadingOrder(t *testing.T) {
	index := read(t, "docs/README.md")
	listed := regexp.MustCompile(`(?m)^(\d+)\. \[[^]]+\]\(([^)]+)\)`).FindAllStringSubmatch(index, -1)
	var there []string
	for i, entry := range listed {
		if entry[1] != strconv.Itoa(i+1) {
			t.Errorf("docs/README.md numbers %s with %s, not with %d", entry[2], entry[1], i+1)
		}
		there = append(there, "docs/"+entry[2])
	}
	for _, document := range documents(t) {
		isDecision := strings.HasPrefix(document, "docs/decisions/") && document != "docs/decisions/README.md"
		if !strings.HasPrefix(document, "docs/") || isDecision || document == "docs/README.md" {
			continue
		}
		if !slices.Contains(there, document) {
			t.Errorf("docs/README.md does not list %s", document)
		}
	}
}

// What the architecture says of packages: that they are there, and which of them
// import nothing of the project.
func TestTheArchitectureKnowsThePackages(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports ","}}`, "./internal/...", "./lib")
	list.Dir = harness.Root()
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/conch-mcp/conch/"
	text := read(t, "docs/architecture.md")
	var alone []string
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
		if name == "reference/generate" {
			continue // a program, which calls the package above it
		}
		if !strings.Contains(text, "\n| `"+name+"` |") && !strings.Contains(text, "`"+name+"` ") {
			t.Errorf("docs/architecture.md does not tell of %s", name)
		}
		if !strings.Contains(imports, module) {
			alone = append(alone, "`"+name+"`")
		}
	}
	slices.Sort(alone)
	last := len(alone) - 1
	if sentence := strings.Join(alone[:last], ", ") + " and " + alone[last] + " import nothing of the project."; !strings.Contains(text, sentence) {
		t.Errorf("docs/architecture.md does not say:\n%s", sentence)
	}
}
