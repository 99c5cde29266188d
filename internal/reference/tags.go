package reference

import (
	"errors"
	"go/doc/comment"
	"go/parser"
	"go/token"
)

// tagsFile is the file whose package comment tells of tags.
const tagsFile = "internal/tags/doc.go"

const tagsHead = `# Tags

A server can describe its tools in comments above its functions, as users of argc and of llm-functions do, in the place of a tools.json.

`

// tagsPage is the package comment from its first heading on: what stands before is
// about the package.
func tagsPage(source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), tagsFile, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	doc := new(comment.Parser).Parse(file.Doc.Text())
	for i, block := range doc.Content {
		if _, ok := block.(*comment.Heading); ok {
			doc.Content = doc.Content[i:]
			return tagsHead + markdown(doc), nil
		}
	}
	return "", errors.New("the package comment has no heading")
}

// markdown is a comment as Markdown, its headings below that of the page.
func markdown(doc *comment.Doc) string {
	p := comment.Printer{HeadingLevel: 2, HeadingID: func(*comment.Heading) string { return "" }}
	return string(p.Markdown(doc))
}
