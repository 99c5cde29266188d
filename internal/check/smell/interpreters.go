package smell

import (
	"slices"
	"strings"
)

// An interpreter runs the file that its first word names, or what an option gives.
type interpreter struct {
	// values are the options that take some value, by their letters, and long those
	// with dashes.
	values string
	long   []string
	// code are the options behind which there is a program, or the name of one: then
	// words are its arguments.
	code []string
	// verb is the word in front of the file.
	verb string
	// files are the options whose value is a program's file: then words are none.
	files []string
}

var interpreters = map[string]interpreter{
	"python3": {values: "WX", code: []string{"-c", "-m"}}, "ruby": {values: "CIrEF", code: []string{"-e", "-ne", "-pe"}},
	"perl": {values: "", code: []string{"-e", "-E"}}, "php": {values: "cdz", code: []string{"-r", "-B", "-R"}}, "lua": {values: "l", code: []string{"-e"}},
	"node": {values: "rC", long: []string{"--require", "--import", "--loader", "--conditions"}, code: []string{"-e", "--eval", "-p", "--print", "-pe"}},
	"deno": {verb: "run"}, "bun": {verb: "run"}, "go": {verb: "run"}, "tsx": {}, "ts-node": {}, "Rscript": {code: []string{"-e"}}, "julia": {values: "eEpJ", code: []string{"-e", "-E"}}, "tclsh": {}, "expect": {code: []string{"-c"}},
	"osascript": {values: "ls", code: []string{"-e"}}, "npx": {values: "pc"}, "uvx": {}, "pipx": {verb: "run"}, "make": {files: []string{"-f", "--file", "--makefile"}}, "awk": {files: []string{"-f", "--file"}}, "sed": {files: []string{"-f", "--file"}}, "psql": {files: []string{"-f", "--file"}},
}

// interpreted tells of a file that the caller chooses and that is run.
func (s *scope) interpreted(name string, argv []text) {
	if other, ok := namesakes[name]; ok {
		name = other
	}
	in, ok := interpreters[name]
	if !ok {
		return
	}
	if len(in.files) > 0 {
		s.interpretedFiles(in.files, argv)
		return
	}
	verb := in.verb
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		option := t.prefix
		switch {
		case t.static && option == "--":
		case strings.HasPrefix(option, "-") && len(option) > 1:
			if in.isCode(option) {
				if option == "-m" && i+1 < len(argv) {
					s.interpretedFile(argv[i+1])
				}
				return
			}
			if t.static && (takesNext(option, in.values) || slices.Contains(in.long, option)) {
				i++
			}
		case verb != "" && t.static:
			if option != verb {
				return
			}
			verb = ""
		default:
			s.interpretedFile(t)
			return
		}
	}
}

// isCode reports whether an option has a program behind it, perhaps with other
// letters in front, as in perl -lne.
func (in interpreter) isCode(option string) bool {
	for _, code := range in.code {
		letters := len(code) == 2 && !strings.HasPrefix(option, "--")
		if option == code || strings.HasPrefix(code, "--") && strings.HasPrefix(option, code+"=") || letters && strings.Contains(option, code[1:]) {
			return true
		}
	}
	return false
}

func (s *scope) interpretedFiles(options []string, argv []text) {
	for i, t := range argv[:len(argv)-1] {
		if t.static && slices.Contains(options, t.prefix) {
			s.interpretedFile(argv[i+1])
		}
	}
}

// interpretedFile tells of a file that is run, also of one below a folder: there may
// be .. in its name.
func (s *scope) interpretedFile(t text) {
	if t.tainted && t.shape.Code && (t.prefix == "" && t.first.tainted && t.first.shape.Code || t.below) {
		s.tell(SourcedFile, Grave, t.node, "the file that "+t.whose(s.culprit(t))+" names is run as a program",
			s.demand(aChoice, t.value)+`, or have a case choose the file`)
	}
}
