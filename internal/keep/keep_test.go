package keep_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/keep"
)

func newKeeper(t *testing.T, options keep.Options) (*keep.Keeper, string) {
	t.Helper()
	options.Dir = filepath.Join(t.TempDir(), "outputs")
	return keep.New(options), options.Dir
}

func put(t *testing.T, k *keep.Keeper, text string) string {
	t.Helper()
	uri, err := k.Put([]byte(text), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return uri
}

func kept(k *keep.Keeper, uri string) bool {
	_, _, ok := k.Get(uri)
	return ok
}

func files(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestAnOutputIsReadUnderItsURI(t *testing.T) {
	k, dir := newKeeper(t, keep.Options{})
	text := []byte("long\x00\xff")
	uri, err := k.Put(text, "application/json")
	if err != nil || !strings.HasPrefix(uri, keep.URIPrefix) || len(uri) < len(keep.URIPrefix)+22 {
		t.Fatalf("%q, %v", uri, err)
	}
	got, mime, ok := k.Get(uri)
	if !ok || mime != "application/json" || !bytes.Equal(got, text) {
		t.Errorf("%q, %q, %t", got, mime, ok)
	}
	for _, other := range []string{"", keep.URIPrefix, uri + "x", uri[:len(uri)-1], strings.TrimPrefix(uri, "conch:"), keep.URIPrefix + "../outputs/" + strings.TrimPrefix(uri, keep.URIPrefix)} {
		if kept(k, other) {
			t.Errorf("there is something under %q", other)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := k.Put(text, ""); !errors.Is(err, keep.ErrClosed) || kept(k, uri) {
		t.Errorf("still in use: %v", err)
	}
}

func TestOutputsExpireEachInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, dir := newKeeper(t, keep.Options{TTL: 10 * time.Minute})
		first := put(t, k, "first")
		time.Sleep(4 * time.Minute)
		second := put(t, k, "second")
		time.Sleep(6*time.Minute - 1)
		if !kept(k, first) {
			t.Error("the first is gone too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if kept(k, first) || !kept(k, second) || files(t, dir) != 1 {
			t.Errorf("after 10 minutes: %t, %t, %d files", kept(k, first), kept(k, second), files(t, dir))
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if kept(k, second) || files(t, dir) != 0 {
			t.Error("the second is still there")
		}
		// And the next, after there was nothing to wait for.
		put(t, k, "third")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if files(t, dir) != 0 {
			t.Error("the third is still there")
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheOldestMakeRoom(t *testing.T) {
	for name, options := range map[string]keep.Options{
		"by number": {MaxCount: 2},
		"by size":   {MaxBytes: 11},
	} {
		t.Run(name, func(t *testing.T) {
			k, dir := newKeeper(t, options)
			one, two, three := put(t, k, "one.."), put(t, k, "two.."), put(t, k, "three")
			if kept(k, one) || !kept(k, two) || !kept(k, three) || files(t, dir) != 2 {
				t.Errorf("%t, %t, %t, %d files", kept(k, one), kept(k, two), kept(k, three), files(t, dir))
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatDoesNotFitAtAllLeavesTheRest(t *testing.T) {
	k, _ := newKeeper(t, keep.Options{MaxBytes: 8})
	small := put(t, k, "small")
	if _, err := k.Put([]byte("too large"), ""); !errors.Is(err, keep.ErrTooLong) || !strings.Contains(err.Error(), "9 bytes, of at most 8") {
		t.Error(err)
	}
	if !kept(k, small) {
		t.Error("it made room for nothing")
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	k, dir := newKeeper(t, keep.Options{MaxCount: 8})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				text := []byte("some text")
				uri, err := k.Put(text, "")
				if err != nil {
					t.Error(err)
				}
				if got, _, ok := k.Get(uri); ok && !bytes.Equal(got, text) {
					t.Errorf("%q", got)
				}
			}
		})
	}
	all.Wait()
	if n := files(t, dir); n != 8 {
		t.Errorf("%d files", n)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestADirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := keep.New(keep.Options{Dir: filepath.Join(file, "below")})
	if _, err := k.Put([]byte("x"), "text/plain"); err == nil || !strings.Contains(err.Error(), "directory for long outputs") {
		t.Error(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put([]byte("x"), "text/plain"); err != nil {
		t.Errorf("once it can: %v", err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
