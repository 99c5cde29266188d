package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/subscription"
	"github.com/conch-mcp/conch/internal/watch"
)

// changes has clients told of what changes in the files that a server is made of.
type changes struct {
	hub     *subscription.Hub
	watcher *watch.Watcher
	more    func() []string // what the list of tools is in besides

	mu    sync.Mutex
	lists map[string][]string // their names, by their files: one may hold several
	files []string            // what anybody has subscribed to
}

// startChanges has clients told of changes from now on.
func startChanges(s *server) *changes {
	c := &changes{lists: map[string][]string{}}
	for list, path := range s.lists.paths {
		c.add(list, path)
	}
	c.more = s.source.files
	c.addMore()
	c.watcher = watch.New(watch.Options{Changed: c.changed, Log: s.logs.logger()})
	c.hub = subscription.NewHub(subscription.Options{
		Tells: s.host.Tells, Subscribes: s.host.Subscribes, Find: s.host.Find,
		NotFound: host.NotFound, ServerInfo: s.host.ServerInfo, Subscribed: c.subscribed,
	})
	c.subscribed(nil)
	s.host.OnUpdated(c.hub.Updated)
	s.host.Notify()
	return c
}

// add notes that a list is in a file.
func (c *changes) add(list, path string) {
	path = filepath.Clean(path)
	if !slices.Contains(c.lists[path], list) {
		c.lists[path] = append(c.lists[path], list)
	}
}

// addMore notes the files of a folder of tools, each of which is a part of their
// list.
func (c *changes) addMore() {
	for _, path := range c.more() {
		c.add(subscription.Tools, path)
	}
}

// subscribed has the files watched behind what anybody has subscribed to, and the
// lists.
func (c *changes) subscribed(files []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = files
	c.watch()
}

// watch has all files watched, mu held.
func (c *changes) watch() {
	c.watcher.Watch(slices.AppendSeq(slices.Clone(c.files), maps.Keys(c.lists)))
}

// changed tells of a file that has changed.
func (c *changes) changed(path string) {
	lists := c.listsIn(path)
	if slices.Contains(lists, subscription.Resources) {
		// They may be in other files now.
		c.hub.Resubscribe()
	}
	for _, list := range lists {
		c.hub.ListChanged(list)
	}
	c.hub.FileChanged(path)
}

// listsIn are the lists in a file. A folder of tools may have other files by now.
func (c *changes) listsIn(path string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lists := c.lists[path]
	if slices.Contains(lists, subscription.Tools) {
		c.addMore()
		c.watch()
	}
	return lists
}

// close ends the watching.
func (c *changes) close() { c.watcher.Close() }
