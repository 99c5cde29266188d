package smell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Missing is a variable that is named like an argument, where no call has one.
type Missing struct {
	Name     string // of the variable
	File     string
	Pos, End syntax.Pos
	Known    []string // variables of arguments that there are
	// Open says that a call may have arguments nobody has declared.
	Open bool
}

// Unknown finds the variables that are named like arguments and are none: neither of
// the tool whose function it is, nor, in other functions, of any. What the script
// itself assigns is not among them.
func Unknown(files []File, tools []Tool, assigned map[string]bool) (found []Missing) {
	f := newFinder(files, tools)
	own := assignedIn(files)
	for _, fn := range f.everything() {
		seen := map[string]bool{}
		for _, u := range fn.uses() {
			if assigned[u.name] || own[u.name] || seen[u.name] {
				continue
			}
			if known, open, ok := f.has(fn, u.name); !ok {
				seen[u.name] = true
				found = append(found, Missing{u.name, fn.file.Name, u.node.Pos(), u.node.End(), known, open})
			}
		}
	}
	return found
}

// everything is the code outside of functions, and the functions, in their order.
func (f *finder) everything() []*function {
	all := slices.Clone(f.tops)
	for _, file := range f.files {
		syntax.Walk(file.Tree, func(node syntax.Node) bool {
			decl, ok := node.(*syntax.FuncDecl)
			if ok && decl.Name != nil && f.functions[decl.Name.Value].decl == decl {
				all = append(all, f.functions[decl.Name.Value])
			}
			return true
		})
	}
	return all
}

// use is where a variable is expanded.
type use struct {
	name string
	node syntax.Node
}

// prefixes are what the names of variables with arguments begin with.
var prefixes = []string{"argc_", "arg_"}

func isArgument(name string) bool {
	for _, prefix := range prefixes {
		// What begins with two underscores is Conch's own, or argc's.
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && rest[0] != '_' {
			return true
		}
	}
	return false
}

// uses are the expansions in a function, but for those in functions within.
func (fn *function) uses() (list []use) {
	for _, st := range fn.body {
		syntax.Walk(st, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				return false
			case *syntax.ParamExp:
				if n.Param != nil && n.Names == 0 && isArgument(n.Param.Value) {
					list = append(list, use{n.Param.Value, n})
				}
			case *syntax.ArithmExp, *syntax.ArithmCmd:
				list = append(list, bareNames(node)...)
			}
			return true
		})
	}
	return list
}

// bareNames are the variables of an expression that stand there without a dollar sign.
func bareNames(expression syntax.Node) (list []use) {
	syntax.Walk(expression, func(node syntax.Node) bool {
		if w, ok := node.(*syntax.Word); ok && isArgument(w.Lit()) && syntax.ValidName(w.Lit()) {
			list = append(list, use{w.Lit(), w})
		}
		return true
	})
	return list
}

// has reports whether a variable may be an argument where a function uses it, and
// which there are.
func (f *finder) has(fn *function, name string) (known []string, open, ok bool) {
	tools := fn.asTool
	if len(tools) == 0 {
		for i := range f.tools {
			tools = append(tools, &f.tools[i])
		}
	}
	if len(tools) == 0 {
		return nil, true, true
	}
	for _, tool := range tools {
		for argument := range tool.Arguments {
			variable := tool.Prefix + argument
			if variable == name {
				return nil, false, true
			}
			known = append(known, variable)
		}
		open = open || tool.Open && strings.HasPrefix(name, tool.Prefix)
	}
	// Where nothing is declared, as in a list that cannot be read, nothing is missing.
	return known, open, len(known) == 0 && slices.ContainsFunc(tools, func(t *Tool) bool { return t.Open })
}

// assignedIn are the variables that commands set: read, printf -v, a loop, a
// declaration and the like.
func assignedIn(files []File) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		syntax.Walk(file.Tree, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					names[n.Name.Value] = true
				}
			case *syntax.WordIter:
				names[n.Name.Value] = true
			case *syntax.BinaryArithm:
				if w, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") {
					names[w.Lit()] = true
				}
			case *syntax.CallExpr:
				for _, w := range n.Args[min(1, len(n.Args)):] {
					names[w.Lit()] = true
				}
			}
			return true
		})
	}
	return names
}
