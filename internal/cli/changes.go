package cli

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/subscription"
	"github.com/conch-mcp/conch/internal/watch"
)

// changes has clients told of what changes in the files that a server is made of.
type changes struct {
	hub     *subscription.Hub
	watcher *watch.Watcher
	lists   map[string][]string // their names, by their files: one may hold several
}

// startChanges has clients told of changes from now on.
func startChanges(s *server) *changes {
	c := &changes{lists: map[string][]string{}}
	for list, path := range s.lists.paths {
		path = filepath.Clean(path)
		c.lists[path] = append(c.lists[path], list)
	}
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

// subscribed has the files watched behind what anybody has subscribed to, and the
// lists.
func (c *changes) subscribed(files []string) {
	c.watcher.Watch(slices.AppendSeq(files, maps.Keys(c.lists)))
}

// changed tells of a file that has changed.
func (c *changes) changed(path string) {
	lists := c.lists[path]
	if slices.Contains(lists, subscription.Resources) {
		// They may be in other files now.
		c.hub.Resubscribe()
	}
	for _, list := range lists {
		c.hub.ListChanged(list)
	}
	c.hub.FileChanged(path)
}

// close ends the watching.
func (c *changes) close() { c.watcher.Close() }
