package schema

import (
	"slices"
	"strings"
)

// class groups findings by how they are worded, the gravest first. A diagnostic
// speaks of one class only: a missing parameter is best repaired before the range
// of another is argued about.
type class uint8

const (
	classMissing class = iota
	classUnknown
	classType
	classPattern
	classRange
	classItem
	classEnum
	classOther
	classCount
)

const (
	maxFindings = 1_000
	// maxCauses keeps what is told of one alternative to its main defects.
	maxCauses = 5

	maxDiagnosticBytes = 7_600
	maxListBytes       = 1_500
)

// finding is one defect. Its text is made when it is shown, as most of thousands
// never are.
type finding struct {
	class class
	path  []segment
	rank  int
	text  func() string
	// allowed is set on unknown parameters only.
	allowed *allowedNames
}

// Ranks order what is found at one path.
const (
	rankType = iota
	rankEnum
	rankOther
)

type findings struct {
	limit   int
	byClass [classCount][]*finding
	omitted [classCount]int
}

func newFindings(limit int) *findings { return &findings{limit: limit} }

func (f *findings) full(c class) bool { return len(f.byClass[c]) >= f.limit }

func (f *findings) add(found *finding) {
	f.byClass[found.class] = append(f.byClass[found.class], found)
}

func (f *findings) merge(more []*finding) {
	for _, found := range more {
		f.add(found)
	}
}

func (f *findings) empty() bool {
	for _, list := range f.byClass {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// ordered returns the findings of a class as they are to be shown.
func (f *findings) ordered(c class) []*finding {
	list := slices.Clone(f.byClass[c])
	slices.SortStableFunc(list, func(a, b *finding) int {
		if order := comparePaths(a.path, b.path); order != 0 {
			return order
		}
		return a.rank - b.rank
	})
	if c == classItem {
		list = withoutEnumsOfWrongType(list)
	}
	return list
}

// withoutEnumsOfWrongType keeps one defect per item where two schemas apply to it.
func withoutEnumsOfWrongType(list []*finding) []*finding {
	var kept []*finding
	for _, found := range list {
		if len(kept) > 0 && found.rank == rankEnum {
			last := kept[len(kept)-1]
			if last.rank == rankType && comparePaths(last.path, found.path) == 0 {
				continue
			}
		}
		kept = append(kept, found)
	}
	return kept
}

func (f *findings) diagnostic() string {
	for c := range classCount {
		if len(f.byClass[c]) > 0 {
			return f.sentence(c)
		}
	}
	return ""
}

func (f *findings) sentence(c class) string {
	list := f.ordered(c)
	if c == classUnknown {
		return f.unknownSentence(list)
	}
	separator := "; "
	if c == classMissing {
		separator = ", "
	}
	return c.heading() + ": " + joinFindings(list, separator, maxDiagnosticBytes, f.omitted[c]) + "."
}

func (c class) heading() string {
	switch c {
	case classMissing:
		return "Missing required parameter(s)"
	case classType:
		return "Invalid type(s)"
	case classRange:
		return "Out-of-range value(s)"
	case classItem:
		return "Invalid array item(s)"
	default:
		return "Invalid value(s)"
	}
}

func (f *findings) unknownSentence(list []*finding) string {
	const half = maxDiagnosticBytes / 2
	allowed := allowedParameters(list)
	if allowed == "" {
		allowed = "none"
	}
	return "Unknown parameter(s): " + joinFindings(list, ", ", half, f.omitted[classUnknown]) +
		". Allowed parameters: " + allowed + "."
}

// joinFindings shows each text once and as many as there is room for.
func joinFindings(list []*finding, separator string, limit, omitted int) string {
	j := joiner{separator: separator, limit: limit}
	seen := make(map[string]struct{}, len(list))
	for i, found := range list {
		text := found.text()
		if _, repeated := seen[text]; repeated {
			continue
		}
		seen[text] = struct{}{}
		if !j.add(text) {
			omitted += len(list) - i
			break
		}
	}
	return j.finish(omitted)
}

// joiner joins texts up to a limit, and says how many it had no room for.
type joiner struct {
	separator string
	limit     int
	out       strings.Builder
}

func (j *joiner) add(text string) bool {
	if j.out.Len() > 0 {
		if j.out.Len()+len(j.separator)+len(text) > j.limit {
			return false
		}
		j.out.WriteString(j.separator)
	}
	j.out.WriteString(text)
	return true
}

func (j *joiner) finish(omitted int) string {
	if omitted == 0 {
		return j.out.String()
	}
	return j.out.String() + j.separator + ellipsis + " and " + decimal(omitted) + " more"
}

// causes lists what is wrong with one alternative, for use inside a sentence.
func (f *findings) causes() []string {
	var texts []string
	for c := range classCount {
		for _, found := range f.ordered(c) {
			texts = append(texts, c.inSentence(found.text()))
		}
	}
	return texts
}

func (c class) inSentence(text string) string {
	switch c {
	case classMissing:
		return text + " is missing"
	case classUnknown:
		return text + " is unknown"
	default:
		return text
	}
}
