package variables_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/variables"
)

// What ships, seen from here.
var shipped = []string{"../../cmd", "../../internal", "../../lib"}

// A uses is the names of variables that the code has, each with a place.
type uses map[string]string

func (u uses) add(name, place string) {
	if _, ok := u[name]; !ok {
		u[name] = place
	}
}

func TestEveryVariableInTheCodeIsListed(t *testing.T) {
	found := inCode(t)
	if len(found) < 40 {
		t.Fatalf("only %d names were found in the code", len(found))
	}
	listed := names()
	for name, place := range found {
		if !slices.Contains(listed, name) && !slices.Contains(bashsOwn, name) {
			t.Errorf("%s: variables.go does not tell of $%s", place, name)
		}
	}
}

func TestEveryVariableThatIsListedIsInTheCode(t *testing.T) {
	found := inCode(t)
	for _, group := range variables.Groups() {
		for _, v := range group.All {
			if _, ok := found[v.Name]; ok == v.Elsewhere {
				t.Errorf("%s: in the code: %v; listed as a matter of others: %v", v.Name, ok, v.Elsewhere)
			}
		}
	}
}

func TestEveryVariableIsExplainedOnceInItsGroup(t *testing.T) {
	for _, group := range variables.Groups() {
		seen := map[string]bool{}
		for _, v := range group.All {
			if v.Means == "" || strings.ContainsAny(v.Means+v.Default, "\n|") {
				t.Errorf("%s: %q is no line of a table", v.Name, v.Means)
			}
			if seen[v.Name] {
				t.Errorf("%s has %s twice", group.Title, v.Name)
			}
			seen[v.Name] = true
		}
	}
}

func names() []string {
	var all []string
	for _, group := range variables.Groups() {
		for _, v := range group.All {
			all = append(all, v.Name)
		}
	}
	return all
}

// inCode finds the variables that what ships reads or sets.
func inCode(t *testing.T) uses {
	t.Helper()
	found := uses{}
	for _, top := range shipped {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "templates" || d.Name() == "variables"):
				return filepath.SkipDir
			case strings.HasSuffix(path, "_test.go"):
			case strings.HasSuffix(path, ".go"):
				inGo(t, path, found)
			case strings.HasSuffix(path, ".bash"), strings.HasSuffix(path, ".sh"):
				inBash(t, path, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

var (
	// A text of Go that is one of these is a variable's name, whatever is done with
	// it: most are handed on before they are looked up.
	named = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

	// An entry of an environment: "NAME=" and something.
	entry = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)=`)

	// What looks up a variable that is named by one word.
	lookup = regexp.MustCompile(`(?i)^(getenv|lookupenv|unsetenv|setenv)$`)
)

func inGo(t *testing.T, path string, found uses) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	place := func(n ast.Node) string { return files.Position(n.Pos()).String() }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name, ok := lookedUp(n); ok {
				found.add(name, place(n))
			}
		case *ast.BasicLit:
			text, _ := strconv.Unquote(n.Value)
			if named.MatchString(text) {
				found.add(text, place(n))
			}
			if e := entry.FindStringSubmatch(text); e != nil {
				found.add(e[1], place(n))
			}
		case *ast.ImportSpec:
			return false
		}
		return true
	})
}

// lookedUp is the name in os.Getenv("NAME") and its like.
func lookedUp(n *ast.CallExpr) (name string, ok bool) {
	selector, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || !lookup.MatchString(selector.Sel.Name) || len(n.Args) == 0 {
		return "", false
	}
	text, ok := n.Args[0].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	name, err := strconv.Unquote(text.Value)
	return name, err == nil
}

var (
	comment  = regexp.MustCompile(`(?m)(^|\s)#\s.*$`)
	expanded = regexp.MustCompile(`\$\{?[!#]?([A-Z][A-Z0-9_]+)`)
	assigned = regexp.MustCompile(`(?m)(?:^|[\s;({"])([A-Z][A-Z0-9_]+)\+?=`)
	// Names that are put into the environment, or taken off it, by a list.
	listed = regexp.MustCompile(`\b((?:CONCH|MCP|MCPBASH)_[A-Z0-9_]+|TRACE[A-Z]+|BAGGAGE)\b`)
)

// bashsOwn are variables of Bash itself, which everybody has.
var bashsOwn = []string{
	"BASHPID", "BASH_ARGV0", "BASH_REMATCH", "BASH_SOURCE", "BASH_VERSINFO", "BASH_VERSION", "CDPATH", "IFS", "LC_ALL",
	"LINENO", "OSTYPE", "PIPESTATUS", "PPID", "PWD", "RANDOM", "TMOUT",
}

func inBash(t *testing.T, path string, found uses) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code := comment.ReplaceAllString(string(text), "")
	for _, pattern := range []*regexp.Regexp{expanded, assigned, listed} {
		for _, m := range pattern.FindAllStringSubmatch(code, -1) {
			// "${!ARG_@}" is the beginning of names.
			if !strings.HasSuffix(m[1], "_") {
				found.add(m[1], path)
			}
		}
	}
}
