package annotated_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// strays do not end when they are asked to, and neither do their children.
var strays = map[string]string{
	"command.sh": "# @cmd\nstubborn() { trap '' TERM; echo \"$BASHPID\" >\"$MARK.pid\"; sh -c 'echo $$ >\"$MARK.child\"; exec sleep 60' & while :; do sleep 1; done; }\n" +
		"# @cmd\nleaves() { trap '' TERM; sh -c 'echo $$ >\"$MARK.child\"; exec sleep 60' & until [[ -s $MARK.child ]]; do sleep 0.02; done; }\n",
	"stubborn_program": `#!/usr/bin/perl
# @describe d
$SIG{TERM} = 'IGNORE';
if (!fork) { open my $f, '>', "$ENV{MARK}.child"; print $f "$$\n"; close $f; exec 'sleep', '60' }
open my $f, '>', "$ENV{MARK}.pid"; print $f "$$\n"; close $f;
sleep 1 while 1;
`,
	"leaving_program": `#!/usr/bin/perl
# @describe d
$SIG{TERM} = 'IGNORE';
if (!fork) { open my $f, '>', "$ENV{MARK}.child"; print $f "$$\n"; close $f; exec 'sleep', '60' }
select undef, undef, undef, 0.02 until -s "$ENV{MARK}.child";
print "left\n";
`,
}

func TestWhatDoesNotWantToEndEndsWithItsCall(t *testing.T) {
	needs(t, "perl")
	dir := files(t, strays)
	for _, tt := range []struct{ target, tool string }{
		{dir, "stubborn"}, {dir, "stubborn_program"}, {filepath.Join(dir, "command.sh"), "stubborn"},
	} {
		mark := filepath.Join(t.TempDir(), "mark")
		s := serveWith(t, []string{"MARK=" + mark}, tt.target)
		id := s.post(tt.tool, `{}`)
		pid, child := awaitFile(t, mark+".pid"), awaitFile(t, mark+".child")
		s.cancel(id)
		gone(t, pid)
		gone(t, child)
		s.ends()
	}
	for _, tt := range []struct{ target, tool string }{
		{dir, "leaves"}, {dir, "leaving_program"}, {filepath.Join(dir, "command.sh"), "leaves"},
	} {
		mark := filepath.Join(t.TempDir(), "mark")
		s := serveWith(t, []string{"MARK=" + mark}, tt.target)
		s.ok(tt.tool, `{}`)
		gone(t, awaitFile(t, mark+".child"))
		s.ends()
	}
}

func TestNothingIsLeftOfAServerThatIsKilled(t *testing.T) {
	needs(t, "perl")
	dir := files(t, strays)
	for _, tool := range []string{"stubborn", "stubborn_program"} {
		mark := filepath.Join(t.TempDir(), "mark")
		s := serveWith(t, []string{"MARK=" + mark}, dir)
		s.post(tool, `{}`)
		pid := awaitFile(t, mark+".pid")
		awaitFile(t, mark+".child")
		harness.Kill(t, s.Cmd.Process.Pid)
		s.Wait()
		gone(t, pid)
		harness.Eventually(t, harness.Deadline, "no process and no file is left", func() bool { return len(s.Session())+len(s.Files()) == 0 })
	}
}

func TestAFolderThatIsGoneMayComeBack(t *testing.T) {
	dir := files(t, map[string]string{"a.sh": one("a", "1")})
	s := serve(t, dir)
	s.says("a", `{}`, "1")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if reply := s.request("tools/list", `{}`); reply.Error == nil || !strings.Contains(reply.Raw, dir) {
		t.Errorf("a folder that is gone: %s", reply.Raw)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	s.names("a")
	s.says("a", `{}`, "1")
	s.ends()
}
