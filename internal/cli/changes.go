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
	host    *host.Host
	hub     *subscription.Hub
	watcher *watch.Watcher
	lists   map[string][]string // their names, by their files: one may hold several

	mu    sync.Mutex
	paths map[string]string   // the files of what anybody has subscribed to, "" for none, by URI
	files map[string][]string // those URIs, by file
}

// startChanges has clients told of changes from now on.
func startChanges(s *server) *changes {
	c := &changes{host: s.host, lists: map[string][]string{}}
	for list, path := range s.lists.paths {
		path = filepath.Clean(path)
		c.lists[path] = append(c.lists[path], list)
	}
	c.watcher = watch.New(watch.Options{Changed: c.changed, Log: s.logs.logger()})
	c.hub = subscription.NewHub(subscription.Options{
		Tells: s.host.Tells, Subscribes: s.host.Subscribes, HasResource: s.host.HasResource,
		NotFound: host.NotFound, ServerInfo: s.host.ServerInfo, Subscribed: c.subscribed,
	})
	c.subscribed(nil)
	s.host.OnUpdated(c.hub.Updated)
	s.host.Notify()
	return c
}

// subscribed has the files watched behind what anybody has subscribed to, and the
// lists.
func (c *changes) subscribed(uris []string) {
	c.mu.Lock()
	paths, files := map[string]string{}, map[string][]string{}
	for _, uri := range uris {
		path, known := c.paths[uri]
		if !known {
			path, _ = c.host.FileOf(uri)
		}
		if paths[uri] = path; path != "" {
			files[path] = append(files[path], uri)
		}
	}
	c.paths, c.files = paths, files
	c.mu.Unlock()
	c.watcher.Watch(slices.AppendSeq(slices.Collect(maps.Keys(c.lists)), maps.Keys(files)))
}

// changed tells of a file that has changed.
func (c *changes) changed(path string) {
	lists := c.lists[path]
	if slices.Contains(lists, subscription.Resources) {
		// They may be in other files now.
		c.mu.Lock()
		c.paths = nil
		c.mu.Unlock()
		c.hub.Resubscribe()
	}
	for _, list := range lists {
		c.hub.ListChanged(list)
	}
	c.mu.Lock()
	uris := c.files[path]
	c.mu.Unlock()
	for _, uri := range uris {
		c.hub.Updated(uri)
	}
}

// close ends the watching.
func (c *changes) close() { c.watcher.Close() }
