package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trap is a repository whose configuration names a program, and the command of
// git's that runs it where nothing is disarmed.
type trap struct {
	about string
	lay   func(t *testing.T, dir, program string)
	plain []string
}

var traps = []trap{
	{"a file system monitor", func(t *testing.T, dir, program string) {
		git(t, dir, "config", "core.fsmonitor", program)
	}, []string{"status"}},
	{"a clean filter", func(t *testing.T, dir, program string) {
		layFilter(t, dir, "evil", "clean", program)
	}, []string{"status"}},
	{"a filter that stays", func(t *testing.T, dir, program string) {
		layFilter(t, dir, "evil", "process", program)
	}, []string{"status"}},
	{"a filter that must not fail", func(t *testing.T, dir, program string) {
		git(t, dir, "config", "filter.evil.required", "true")
		layFilter(t, dir, "evil", "clean", program)
	}, []string{"status"}},
	{"a filter with a name like a setting", func(t *testing.T, dir, program string) {
		layFilter(t, dir, "evil.clean=x", "clean", program)
	}, []string{"status"}},
	{"a filter of an included file", func(t *testing.T, dir, program string) {
		write(t, filepath.Join(dir, ".git", "more"), "[filter \"evil\"]\n\tclean = "+program+"\n")
		git(t, dir, "config", "include.path", "more")
		layFilter(t, dir, "evil", "other", program)
	}, []string{"status"}},
	{"a converter to text", func(t *testing.T, dir, program string) {
		git(t, dir, "config", "diff.evil.textconv", program)
		write(t, filepath.Join(dir, ".git", "info", "attributes"), "* diff=evil\n")
	}, []string{"show", "HEAD"}},
	{"an external diff", func(t *testing.T, dir, program string) {
		git(t, dir, "config", "diff.external", program)
	}, []string{"show", "--ext-diff", "HEAD"}},
	{"a signature's checker", func(t *testing.T, dir, program string) {
		git(t, dir, "config", "gpg.program", program)
		git(t, dir, "config", "log.showSignature", "true")
		sign(t, dir)
	}, []string{"log"}},
	{"a hook", func(t *testing.T, dir, program string) {
		link(t, program, filepath.Join(dir, ".git", "hooks", "post-index-change"))
	}, []string{"status"}},
	{"hooks elsewhere", func(t *testing.T, dir, program string) {
		write(t, filepath.Join(dir, ".git", "elsewhere", "x"), "")
		link(t, program, filepath.Join(dir, ".git", "elsewhere", "post-index-change"))
		git(t, dir, "config", "core.hooksPath", filepath.Join(dir, ".git", "elsewhere"))
	}, []string{"status"}},
	{"a remote to fetch what is missing from", layRemote, []string{"show", "HEAD"}},
	{"a submodule", func(t *testing.T, dir, program string) {
		sub := filepath.Join(dir, "module")
		repository(t, sub)
		git(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "module")
		layFilter(t, sub, "evil", "clean", program)
	}, []string{"status"}},
}

// layFilter gives every file a filter, and has git look at one again.
func layFilter(t *testing.T, dir, name, kind, program string) {
	git(t, dir, "config", "filter."+name+"."+kind, program)
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter="+name+"\n")
	again(t, dir)
}

// again makes a committed file look changed, which it is not.
func again(t *testing.T, dir string) {
	path := filepath.Join(dir, "a.txt")
	write(t, path, "second line\n")
	if err := os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// sign gives the last commit a signature.
func sign(t *testing.T, dir string) {
	head, message, _ := strings.Cut(git(t, dir, "cat-file", "commit", "HEAD"), "\n\n")
	object := filepath.Join(t.TempDir(), "object")
	write(t, object, head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n"+message+"\n")
	git(t, dir, "update-ref", "HEAD", git(t, dir, "hash-object", "-t", "commit", "-w", object))
}

// layRemote takes an object away that the remote, run by a program, promises.
func layRemote(t *testing.T, dir, program string) {
	for _, setting := range [][2]string{
		{"core.repositoryFormatVersion", "1"}, {"extensions.partialClone", "origin"}, {"remote.origin.url", dir},
		{"remote.origin.promisor", "true"}, {"remote.origin.uploadpack", program}, {"protocol.file.allow", "always"},
	} {
		git(t, dir, "config", setting[0], setting[1])
	}
	blob := git(t, dir, "rev-parse", "HEAD:a.txt")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
}

// Each trap is first shown to work on a plain git.
func TestGitRunsNoProgramOfARepository(t *testing.T) {
	for _, trap := range traps {
		t.Run(trap.about, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			gitHome(t, root)
			canary, program := filepath.Join(outside, "canary"), filepath.Join(outside, "program")
			write(t, program, "#!/bin/sh\ntouch '"+canary+"'\n")
			for _, dir := range []string{"plain", "served"} {
				repository(t, filepath.Join(root, dir))
				trap.lay(t, filepath.Join(root, dir), program)
			}
			_ = os.Remove(canary)
			plain := exec.Command("git", trap.plain...)
			plain.Dir = filepath.Join(root, "plain")
			if out, err := plain.CombinedOutput(); !exists(canary) {
				t.Fatalf("the trap does not work with git %q: %v\n%s", trap.plain, err, out)
			}
			_ = os.Remove(canary)
			before := index(t, root)
			for _, c := range []struct{ tool, arguments string }{
				{"git_status", `{"repo":"served"}`},
				{"git_log", `{"repo":"served","path":"a.txt"}`},
				{"git_show", `{"repo":"served","rev":"HEAD"}`},
			} {
				got := theExample(t, "git").call(c.tool, c.arguments)
				if exists(canary) {
					t.Fatalf("%s ran the program, and answered %.300q", c.tool, got.text)
				}
				if missing := trap.plain[0] == "show" && strings.Contains(trap.about, "missing"); got.isError && !missing {
					t.Errorf("%s: %q", c.tool, got.text)
				}
			}
			if index(t, root) != before {
				t.Error("the index was written")
			}
		})
	}
}

func index(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "served", ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
