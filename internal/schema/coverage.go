package schema

// coverage is what subschemas evaluated of one object or array, for the keywords
// unevaluatedProperties and unevaluatedItems. A nil coverage takes no notes.
type coverage struct {
	allNames bool
	names    map[string]struct{}
	// allItems and items below leading are evaluated, and those in items.
	allItems bool
	leading  int
	items    map[int]struct{}
}

func (c *coverage) addName(name string) {
	if c == nil || c.allNames {
		return
	}
	if c.names == nil {
		c.names = map[string]struct{}{}
	}
	c.names[name] = struct{}{}
}

func (c *coverage) addAllNames() {
	if c != nil {
		c.allNames = true
	}
}

func (c *coverage) addLeading(count int) {
	if c != nil {
		c.leading = max(c.leading, count)
	}
}

func (c *coverage) addAllItems() {
	if c != nil {
		c.allItems = true
	}
}

func (c *coverage) addItem(index int) {
	if c == nil || c.allItems {
		return
	}
	if c.items == nil {
		c.items = map[int]struct{}{}
	}
	c.items[index] = struct{}{}
}

func (c *coverage) hasName(name string) bool {
	_, ok := c.names[name]
	return ok || c.allNames
}

func (c *coverage) hasItem(index int) bool {
	_, ok := c.items[index]
	return ok || c.allItems || index < c.leading
}

func (c *coverage) merge(other *coverage) {
	if c == nil || other == nil {
		return
	}
	c.allNames = c.allNames || other.allNames
	c.allItems = c.allItems || other.allItems
	c.addLeading(other.leading)
	for name := range other.names {
		c.addName(name)
	}
	for index := range other.items {
		c.addItem(index)
	}
}

// fresh returns notes for a branch whose own may have to be thrown away.
func (c *coverage) fresh() *coverage {
	if c == nil {
		return nil
	}
	return &coverage{}
}
