package new_test

import (
	"strings"
	"testing"
)

// The configuration of a repository may name programs. The template runs none.
func TestARepositoryRunsNoProgram(t *testing.T) {
	const program = `"touch $HOME/ran #"`
	for name, trap := range map[string]struct{ lay, plain string }{
		"a file system monitor": {`git config core.fsmonitor ` + program, `git status`},
		"an external diff":      {`git config diff.external ` + program, `git diff HEAD~1`},
		"a driver of diffs":     {`git config diff.evil.command ` + program + `; echo '* diff=evil' >.git/info/attributes`, `git diff HEAD~1`},
		"a converter to text":   {`git config diff.evil.textconv ` + program + `; echo '* diff=evil' >.git/info/attributes`, `git show`},
		"a checker of signatures": {`
			echo 'touch ~/ran' >.git/checker
			chmod +x .git/checker
			git config log.showSignature true
			git config gpg.program "$PWD/.git/checker"
			git cat-file commit HEAD >signed
			sed -i.orig 's/^committer.*/&\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----/' signed
			git reset -q --soft "$(git hash-object -t commit -w signed)"`, `git log`},
		"a promise of objects": {`
			git config remote.origin.url "ext::sh -c touch% $HOME/ran"
			git config protocol.ext.allow always
			git config remote.origin.promisor true
			git config extensions.partialClone origin
			git config core.repositoryFormatVersion 1
			rm -f .git/objects/"$(git rev-parse HEAD:file | sed 's:^..:&/:')"`, `git show`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t)
			w.do("", "conch new --template git mine")
			w.do("", `
				set -e
				mkdir repository
				cd repository
				git init -q
				export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=a@b
				echo one >file
				git add file
				git commit -q -m One
				echo two >file
				git commit -q -a -m Two
			`+trap.lay)
			for _, call := range []string{"git_log", "git_show rev=HEAD", "git_diff from=HEAD~1", "git_grep text=two"} {
				said, failed := w.run("", "conch call --roots \"$PWD/repository\" mine/server.sh "+call)
				if isLost := name == "a promise of objects"; failed && !isLost {
					t.Errorf("%s: %s", call, said)
				}
			}
			if said, failed := w.run("", "ls ~/ran"); !failed {
				t.Errorf("it was run: %s", said)
			}
			if said, failed := w.run("repository", trap.plain+"; ls ~/ran"); failed {
				t.Errorf("there was no trap; %s says %s", trap.plain, said)
			}
		})
	}
}

func TestARepositoryBeyondTheRoots(t *testing.T) {
	w := newWorkplace(t)
	w.do("", `
		set -e
		conch new --template git mine
		git init -q secret
		mkdir -p secret/part door
		echo "gitdir: $PWD/secret/.git" >door/.git
		git -C secret -c user.name=Ada -c user.email=a@b commit -q --allow-empty -m Confidential`)
	for _, root := range []string{"door", "secret/part"} {
		said, failed := w.run("", "conch call --roots \"$PWD/"+root+"\" mine/server.sh git_log")
		if !failed || !strings.Contains(said, "goes beyond the roots") || strings.Contains(said, "Confidential") {
			t.Errorf("%s: failed: %v, %s", root, failed, said)
		}
	}
	said, failed := w.run("", "mkdir none; conch call --roots \"$PWD/none\" mine/server.sh git_log")
	if !failed || !strings.Contains(said, "not a git repository") {
		t.Errorf("no repository: failed: %v, %s", failed, said)
	}
}

func TestOfAHugeCommitTheBeginningIsShown(t *testing.T) {
	w := newWorkplace(t)
	w.do("", `
		set -e
		conch new --template git mine
		git init -q huge
		cd huge
		yes 'a line' | head -n 100000 >file
		git add file
		git -c user.name=Ada -c user.email=a@b commit -q -m Huge`)
	said := w.do("", "conch call --roots \"$PWD/huge\" mine/server.sh git_show")
	if !strings.Contains(said, "Author: Ada") || !strings.HasSuffix(said, "\n[there is more; ask for less of it, such as one path]\n") || len(said) > 70000 {
		t.Errorf("%d bytes, which begin with %.200q", len(said), said)
	}
}
