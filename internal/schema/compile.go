package schema

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// noLoader refuses every reference that leaves the schema. The metaschemas do not
// pass through it, the library carries them.
type noLoader struct{}

var errNotFetched = errors.New("references are never fetched")

func (noLoader) Load(string) (any, error) { return nil, errNotFetched }

func newCompiler(document *document) (*jsonschema.Compiler, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(document.patterns.compile)
	if err := compiler.AddResource(baseURL, document.tractable); err != nil {
		return nil, fmt.Errorf("preparing the schema: %w", err)
	}
	return compiler, nil
}

// explainCompile turns what the library reports into a sentence that names a place
// in the schema, and never the name the library knows the schema by.
func explainCompile(err error, document *document) error {
	var (
		invalid    *jsonschema.SchemaValidationError
		regex      *jsonschema.InvalidRegexError
		load       *jsonschema.LoadURLError
		noPointer  *jsonschema.JSONPointerNotFoundError
		badPointer *jsonschema.InvalidJsonPointerError
		noAnchor   *jsonschema.AnchorNotFoundError
	)
	switch {
	case errors.As(err, &invalid):
		return explainInvalid(invalid)
	case errors.As(err, &regex):
		return explainRegex(regex)
	case errors.As(err, &load):
		return explainLoad(load.URL, document)
	case errors.As(err, &noPointer):
		return explainUnresolved(noPointer.URL, document)
	case errors.As(err, &badPointer):
		return explainUnresolved(badPointer.URL, document)
	case errors.As(err, &noAnchor):
		return explainUnresolved(noAnchor.Reference, document)
	default:
		return fmt.Errorf("the schema does not compile: %s", withoutBase(err.Error()))
	}
}

func withoutBase(text string) string {
	return shorten(strings.ReplaceAll(text, baseURL, ""), 2*maxValueRunes)
}

func explainRegex(err *jsonschema.InvalidRegexError) error {
	pointer, _ := pointerFromLocation(err.URL)
	return badPattern(err.Regex, pointer, err.Err)
}

func badPattern(source, pointer string, cause error) error {
	reason := strings.TrimPrefix(cause.Error(), "error parsing regexp: ")
	// The engine repeats its own spelling of the pattern, which may not be the author's.
	if at := strings.LastIndex(reason, " in `"); at >= 0 {
		reason = reason[:at]
	}
	return fmt.Errorf("the pattern %s at %s does not compile: %s", quote(source, maxValueRunes), describePointer(pointer), withoutBase(reason))
}

// objection is one thing a metaschema has against a schema.
type objection struct {
	place []string
	kind  jsonschema.ErrorKind
}

// maxDefects bounds how many bad keywords one error tells of.
const maxDefects = 5

// explainInvalid reports every bad keyword, and each once: one defect often makes
// many branches of a metaschema complain, of the same place or of one inside it.
func explainInvalid(invalid *jsonschema.SchemaValidationError) error {
	var validation *jsonschema.ValidationError
	if !errors.As(invalid.Err, &validation) {
		return fmt.Errorf("the schema is not valid: %s", withoutBase(invalid.Err.Error()))
	}
	objections := objectionsOf(validation, nil)
	objections = outermost(objections)
	// A schema compiled on its own is reported relative to its own place.
	base, _ := pointerFromLocation(invalid.URL)
	var defects []string
	for _, o := range objections[:min(len(objections), maxDefects)] {
		defects = append(defects, o.explain(base).Error())
	}
	if more := len(objections) - maxDefects; more > 0 {
		defects = append(defects, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(defects, "; "))
}

// outermost sorts objections by place and leaves out those to a place that is
// objected to already, or is inside one.
func outermost(objections []objection) (kept []objection) {
	slices.SortStableFunc(objections, func(a, b objection) int { return slices.Compare(a.place, b.place) })
	for _, o := range objections {
		// What is inside a place comes right behind it.
		if len(kept) == 0 || !o.isInside(kept[len(kept)-1].place) {
			kept = append(kept, o)
		}
	}
	return kept
}

func (o objection) isInside(place []string) bool {
	return len(o.place) >= len(place) && slices.Equal(place, o.place[:len(place)])
}

// explain words an objection to a schema that is at the pointer base.
func (o objection) explain(base string) error {
	pointer := base
	for _, token := range o.place {
		pointer = appendToken(pointer, token)
	}
	if format, ok := o.kind.(*kind.Format); ok && format.Want == "regex" {
		source, _ := format.Got.(string)
		return badPattern(source, pointer, format.Err)
	}
	return fmt.Errorf("the schema has a bad value at %s: %s", describePointer(pointer), complaint(o.kind))
}

// objectionsOf flattens an error. What is said of a name has no place of its own
// and gets that of the object around it.
func objectionsOf(err *jsonschema.ValidationError, outer []string) []objection {
	if len(err.Causes) == 0 {
		place := err.InstanceLocation
		if outer != nil {
			place = outer
		}
		return []objection{{place, err.ErrorKind}}
	}
	if _, ok := err.ErrorKind.(*kind.PropertyNames); ok && outer == nil {
		outer = slices.Clone(err.InstanceLocation)
	}
	var all []objection
	for _, cause := range err.Causes {
		all = append(all, objectionsOf(cause, outer)...)
	}
	return all
}

func complaint(errorKind jsonschema.ErrorKind) string {
	switch k := errorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("it must be of type %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("it must be one of %s, got %s", renderList(k.Want, maxListBytes), renderJSON(k.Got))
	case *kind.Minimum:
		return "it must be at least " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "it must be greater than " + k.Want.RatString()
	case *kind.MinItems:
		return fmt.Sprintf("it must have at least %s", plural(k.Want, "item", "items"))
	case *kind.UniqueItems:
		return "its items must differ from one another"
	case *kind.Required:
		return "it lacks " + strings.Join(k.Missing, ", ")
	case *kind.Pattern:
		return fmt.Sprintf("it must match the pattern %s, got %s", k.Want, quote(k.Got, maxValueRunes))
	case *kind.Format:
		return fmt.Sprintf("it must be a valid %s", k.Want)
	default:
		return "the metaschema does not allow it"
	}
}

// referenceError is about a reference that cannot be followed.
type referenceError struct {
	keyword, reference string
	message            string
}

func (e *referenceError) Error() string { return e.message }

func outsideReference(keyword string, value any, pointer string) error {
	reference, _ := value.(string)
	return &referenceError{keyword, reference, fmt.Sprintf("%s %s at %s leads outside the schema; references are never fetched",
		keyword, renderJSON(value), describePointer(pointer))}
}

func explainLoad(target string, document *document) error {
	if keyword, reference, pointer, ok := findReference(document, target); ok {
		if keyword == "$schema" {
			return fmt.Errorf("$schema %s at %s names no known version of JSON Schema", renderJSON(reference), describePointer(pointer))
		}
		return outsideReference(keyword, reference, pointer)
	}
	return fmt.Errorf("%q is not part of the schema and is never fetched", withoutBase(target))
}

func explainUnresolved(target string, document *document) error {
	if keyword, reference, pointer, ok := findReference(document, target); ok {
		return &referenceError{keyword, reference, fmt.Sprintf("%s %s at %s does not resolve: the schema has no such place",
			keyword, renderJSON(reference), describePointer(pointer))}
	}
	return fmt.Errorf("a reference does not resolve: the schema has no %q", withoutBase(target))
}

// findReference finds how the schema wrote the reference that the library, which
// keeps only the resolved URL, could not follow.
func findReference(document *document, target string) (keyword, reference, pointer string, ok bool) {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
		for _, place := range findSchemas(document.original, "", keyword) {
			reference, _ := document.at(place)[keyword].(string)
			if reference != "" && leadsTo(reference, target) {
				return keyword, reference, place, true
			}
		}
	}
	return "", "", "", false
}

// leadsTo compares ends, because what a relative reference is relative to depends
// on the identifiers around it.
func leadsTo(reference, target string) bool {
	target = unescaped(target)
	if withoutFragment, _, _ := strings.Cut(reference, "#"); withoutFragment != "" && !strings.Contains(target, "#") {
		reference = withoutFragment
	}
	reference = strings.TrimLeft(unescaped(reference), "./")
	return reference != "" && strings.HasSuffix(target, reference)
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
