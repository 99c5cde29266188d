package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// Machine looks at what every server depends on.
func Machine(ctx context.Context, s Surroundings) Section {
	section := Section{Title: "this machine"}
	s.checkConch(&section)
	s.checkBash(ctx, &section)
	s.checkJQ(&section)
	s.checkControl(&section)
	s.checkTemporary(&section)
	s.checkMenu(&section)
	checkLimits(&section)
	return section
}

func (s Surroundings) checkConch(section *Section) {
	const subject = "conch"
	found := process.Find(s.path(), "", "conch")
	switch {
	case found == "":
		section.add(Note, subject, fmt.Sprintf("add %s to PATH, or have conch install write whole paths", filepath.Dir(s.Conch)),
			"%s, %s, which is not on PATH: scripts that begin with #!/usr/bin/env conch do not find it", s.Version, s.Conch)
	case !sameFile(found, s.Conch):
		section.add(Warn, subject, "call the one you mean by its whole path, or put its directory first on PATH",
			"%s, %s, but the first on PATH is another: %s", s.Version, s.Conch, found)
	default:
		section.add(OK, subject, "", "%s, %s", s.Version, found)
	}
}

func sameFile(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// bashPatience is more than a Bash takes that reads no files.
const bashPatience = 5 * time.Second

// oldestBash is the oldest that runs scripts, major and minor.
var oldestBash = [2]int{3, 2}

func (s Surroundings) checkBash(ctx context.Context, section *Section) {
	const subject = "bash"
	file := process.Find(s.path(), "", "bash")
	if file == "" {
		section.add(Fail, subject, "install Bash 3.2 or later, or name one with --bash", "there is none on PATH (%s)", s.path())
		return
	}
	version, err := bashVersion(ctx, file)
	switch {
	case err != nil:
		section.add(Fail, subject, "run it in a terminal to see why; another can be named with --bash", "%s does not run: %v", file, err)
	case tooOld(version):
		section.add(Fail, subject, "install Bash 3.2 or later, or name one with --bash", "%s, %s, is too old", version, file)
	default:
		section.add(OK, subject, "", "%s, %s", version, file)
	}
	if file := s.Getenv("BASH_ENV"); file != "" {
		section.add(Note, "BASH_ENV", "unset it if servers start slowly, or if something strange is in their output",
			"is %s: Bash runs that before each script", file)
	}
}

func bashVersion(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, bashPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "--norc", "--noprofile", "-c", `printf '%s' "$BASH_VERSION"`)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "BASH_ENV=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	// Somebody may hold the pipe longer than the shell lives.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it took longer than %v", bashPatience)
	case err != nil:
		return "", err
	case len(out) == 0:
		return "", fmt.Errorf("it has no BASH_VERSION, so it is no Bash")
	}
	return string(out), nil
}

// tooOld reports whether a version is older than [oldestBash]. One that nobody can
// read is not.
func tooOld(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < oldestBash[0] || major == oldestBash[0] && minor < oldestBash[1]
}

func (s Surroundings) checkJQ(section *Section) {
	if file := process.Find(s.path(), "", "jq"); file != "" {
		section.add(OK, "jq", "", "%s", file)
		return
	}
	section.add(OK, "jq", "", "none on PATH; scripts that run jq get conch's, which is conch jq")
}

// enoughRoom is what control files need at least.
const enoughRoom = 16 << 20

func (s Surroundings) checkControl(section *Section) {
	const subject = "control files"
	if err := unix.Access(s.Control, unix.W_OK|unix.X_OK); err != nil {
		section.add(Fail, subject, "name a directory of your own in XDG_RUNTIME_DIR", "go to %s, which cannot be written: %v", s.Control, err)
		return
	}
	kind, inMemory := filesystem(s.Control)
	room, known := freeBytes(s.Control)
	switch {
	case known && room < enoughRoom:
		section.add(Warn, subject, "make room there, or name another directory in XDG_RUNTIME_DIR", "go to %s (%s), where %d KiB are free", s.Control, kind, room>>10)
	case inMemory || kind == "":
		section.add(OK, subject, "", "go to %s%s", s.Control, bracketed(kind))
	default:
		section.add(Note, subject, "calls are faster where XDG_RUNTIME_DIR names a directory in memory (tmpfs)", "go to %s, on a disk%s", s.Control, bracketed(kind))
	}
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func freeBytes(dir string) (free uint64, known bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || stat.Blocks == 0 {
		return 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), true
}

func (s Surroundings) checkTemporary(section *Section) {
	dir := s.Getenv("TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		section.add(Fail, "TMPDIR", "have TMPDIR name a directory that you may write to", "calls have their directories in %s, which cannot be written: %v", dir, err)
		return
	}
	section.add(OK, "TMPDIR", "", "calls have their directories in %s", dir)
}

// checkMenu compares what a terminal finds with what a client finds that is
// started from a menu.
func (s Surroundings) checkMenu(section *Section) {
	const subject = "PATH of menus"
	path := s.SystemPath()
	var missing, other []string
	for _, program := range []string{"conch", "bash"} {
		here, there := process.Find(s.path(), "", program), process.Find(path, "", program)
		switch {
		case there == "" && (here != "" || program == "conch"):
			missing = append(missing, program)
		case there != "" && here != "" && !sameFile(here, there):
			other = append(other, fmt.Sprintf("another %s (%s)", program, there))
		}
	}
	var finds []string
	if len(missing) > 0 {
		finds = append(finds, "no "+strings.Join(missing, " and no "))
	}
	finds = append(finds, other...)
	if len(finds) == 0 {
		section.add(OK, subject, "", "leads to the same conch and bash")
		return
	}
	section.add(Note, subject, "conch install writes whole paths, and this shell's PATH, for such clients",
		"clients that are started from a menu have %s, where there is %s", path, strings.Join(finds, " and "))
}

// Limits below which servers with many calls fail.
const (
	fewFiles     = 256
	fewProcesses = 256
)

func checkLimits(section *Section) {
	const subject = "limits"
	var files, processes unix.Rlimit
	errFiles := unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	errProcesses := unix.Getrlimit(unix.RLIMIT_NPROC, &processes)
	bound := os.Geteuid() != 0 // who is root may have any number of processes
	switch {
	case errFiles == nil && uint64(files.Cur) < fewFiles:
		section.add(Warn, subject, "raise it: ulimit -n 1024", "conch may open %d files, and each call takes several", files.Cur)
	case errProcesses == nil && bound && uint64(processes.Cur) < fewProcesses:
		section.add(Warn, subject, "raise it: ulimit -u 1024", "you may have %d processes, and each call takes three", processes.Cur)
	default:
		section.add(OK, subject, "", "%s open files, %s processes", limit(errFiles, files, true), limit(errProcesses, processes, bound))
	}
}

func limit(err error, l unix.Rlimit, bound bool) string {
	// What stands for no limit differs between systems.
	if err != nil || !bound || uint64(l.Cur) >= 1<<62 {
		return "any number of"
	}
	return strconv.FormatUint(uint64(l.Cur), 10)
}
