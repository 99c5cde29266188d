package catalog

import "testing"

func TestLookupFindsToolsByTheirExactName(t *testing.T) {
	a, b := &Tool{Name: "a"}, &Tool{Name: "b"}
	tools := NewTools([]*Tool{a, b}, []string{"twice"}, []string{"a problem"})
	for name, want := range map[string]*Tool{"a": a, "b": b, "A": nil, "": nil, "c": nil, "twice": nil} {
		if got := tools.Lookup(name); got != want {
			t.Errorf("Lookup(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]bool{"a": true, "b": true, "twice": true, "A": false, "": false, "a problem": false} {
		if tools.Declares(name) != want {
			t.Errorf("Declares(%q) = %v", name, !want)
		}
	}
	if len(tools.List) != 2 || tools.List[0] != a || len(tools.Problems) != 1 {
		t.Errorf("the tools have become %+v", tools)
	}
	if NewTools(nil, nil, nil).Lookup("a") != nil {
		t.Error("an empty list has a tool")
	}
}

func TestAToolIsFoundByItsAliases(t *testing.T) {
	a := &Tool{Name: "a", Aliases: []string{"x", "b", "twice"}}
	b := &Tool{Name: "b", Aliases: []string{"x"}}
	tools := NewTools([]*Tool{a, b}, []string{"twice"}, nil)
	for name, want := range map[string]*Tool{"a": a, "b": b, "x": a, "twice": nil, "y": nil} {
		if got := tools.Lookup(name); got != want {
			t.Errorf("Lookup(%q) = %v", name, got)
		}
	}
	if len(tools.List) != 2 {
		t.Errorf("an alias is listed: %v", tools.List)
	}
}
