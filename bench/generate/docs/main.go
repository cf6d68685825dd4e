// Command docs writes the documents as pages of a site: README.md, what stands in docs, and
// what these lead to.
//
//	go run ./generate/docs -root .. -o DIR
//
// A page stands where its document does, but that a README.md becomes the index.html of its
// directory, and the project's own that of docs: the site has a page of its own in its root.
// So docs/README.md becomes docs/README.html.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"kir/internal/report/pagestyle"
)

func main() {
	root := flag.String("root", "..", "directory of the project")
	dir := flag.String("o", ".", "directory to write to")
	flag.Parse()
	if err := write(*root, *dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start is the document that others are found from.
const start = "README.md"

// style is where the pages' style sheet stands.
const style = "docs/docs.css"

// write writes the documents of the project in root as pages into dir.
func write(root, dir string) error {
	s := &site{root: root, dir: dir, seen: make(map[string]bool)}
	s.add(start)
	list, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	for _, name := range list {
		s.add("docs/" + filepath.Base(name))
	}
	for len(s.left) > 0 {
		name := s.left[0]
		s.left = s.left[1:]
		if err := s.write(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.put(style, []byte(pagestyle.Text()+more))
}

// more is what the pages need beside the style sheet of reports.
const more = `
main { max-width: 46rem; margin: 0 auto; }
main img { max-width: 100%; height: auto; }
main table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; }
main th, main td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--hair); }
pre, code { font: .875rem/1.45 "Liberation Mono", ui-monospace, monospace; }
pre { overflow-x: auto; overflow-wrap: normal; padding: .8rem 1rem; border: 1px solid var(--hair); border-radius: var(--round); background: var(--card); }
`

// A site is the pages that are written.
type site struct {
	root, dir string
	seen      map[string]bool
	left      []string // documents and files that are still to be written
}

// add has a file of the project written.
func (s *site) add(name string) {
	if !s.seen[name] {
		s.seen[name] = true
		s.left = append(s.left, name)
	}
}

// put writes a file of the site.
func (s *site) put(name string, data []byte) error {
	at := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o666)
}

// page returns where a file of the project stands on the site.
func page(name string) string {
	switch {
	case name == start:
		return "docs/index.html"
	case path.Base(name) == start && path.Dir(name) != "docs":
		return path.Join(path.Dir(name), "index.html")
	case path.Ext(name) == ".md":
		return strings.TrimSuffix(name, ".md") + ".html"
	case path.Ext(name) == "":
		return name + ".txt" // a host takes a file without an ending for a download
	}
	return name
}

// link returns how the page of one file leads to that of another. A directory's is named by
// the directory, as hosts lead its index.html there.
func link(from, to string) string {
	up := strings.Repeat("../", strings.Count(page(from), "/"))
	return up + strings.TrimSuffix(page(to), "index.html")
}

// onSite says whether the site has a file of the project: what makes and tests kir is not on it.
func onSite(name string) bool {
	return !strings.Contains(name, "/") || strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "examples/")
}

// find returns the file that a link in a document leads to, and the heading in it; none, if
// it leads to what the site does not have.
func (s *site) find(from, address string) (to, heading string, err error) {
	name, heading, _ := strings.Cut(address, "#")
	if name == "" {
		return from, heading, nil
	}
	to = path.Join(path.Dir(from), name)
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to)))
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		to = path.Join(to, start)
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to))); err != nil {
			return "", "", nil
		}
	}
	if !onSite(to) {
		return "", "", nil
	}
	return to, heading, nil
}

// tables are aligned by attributes, as the pages' policy keeps off styles within them.
var tables = extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))

// write writes a document as a page, and any other file as it is.
func (s *site) write(name string) error {
	data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if path.Ext(name) != ".md" {
		return s.put(page(name), data)
	}
	markdown := goldmark.New(goldmark.WithExtensions(tables), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	document := markdown.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(make(headings)))))
	if err := s.lead(name, document, data); err != nil {
		return err
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, data, document); err != nil {
		return err
	}
	// What is wider than the page is reached by keys, too.
	scrolled := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`).Replace(body.String())
	var out bytes.Buffer
	if err := frame.Execute(&out, map[string]any{
		"Title": title(document, data), "Body": template.HTML(scrolled), "Style": link(name, style),
		"Page": strings.Repeat("../", strings.Count(page(name), "/")), "Docs": link(name, start),
	}); err != nil {
		return err
	}
	return s.put(page(name), out.Bytes())
}

// lead has the links and pictures of a document lead to what the site has. A link to what it
// has not becomes its text, and comments go.
func (s *site) lead(name string, document ast.Node, source []byte) error {
	var outside []*ast.Link
	var comments []ast.Node
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var destination *[]byte
		switch n := n.(type) {
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("%s: HTML within a document is not shown", n.Segments.Value(source))
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 {
				return ast.WalkStop, fmt.Errorf("%s: HTML within a document is not shown", n.Lines().Value(source))
			}
			if entering {
				comments = append(comments, n)
			}
			return ast.WalkContinue, nil
		case *ast.Link:
			destination = &n.Destination
		case *ast.Image:
			destination = &n.Destination
		default:
			return ast.WalkContinue, nil
		}
		address, err := url.Parse(string(*destination))
		if !entering || err != nil || address.IsAbs() {
			return ast.WalkContinue, err
		}
		to, heading, err := s.find(name, string(*destination))
		if err != nil {
			return ast.WalkStop, err
		}
		if l, ok := n.(*ast.Link); to == "" {
			if !ok {
				return ast.WalkStop, fmt.Errorf("the picture %s is not on the site", *destination)
			}
			outside = append(outside, l)
			return ast.WalkContinue, nil
		}
		s.add(to)
		address.Fragment = ""
		*destination = []byte(link(name, to))
		if to == name {
			*destination = nil
		}
		if heading != "" {
			*destination = append(*destination, "#"+heading...)
		}
		return ast.WalkContinue, nil
	})
	for _, l := range outside {
		for child := l.FirstChild(); child != nil; child = l.FirstChild() {
			l.Parent().InsertBefore(l.Parent(), l, child)
		}
		l.Parent().RemoveChild(l.Parent(), l)
	}
	for _, c := range comments {
		c.Parent().RemoveChild(c.Parent(), c)
	}
	return err
}

// title returns the first heading of a document.
func title(document ast.Node, source []byte) string {
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			return string(h.Lines().Value(source))
		}
	}
	return "kir"
}

// headings names headings as the hosts of the project's repository do, as its links are
// written for these.
type headings map[string]bool

var notNamed = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate names a heading.
func (h headings) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.ReplaceAll(strings.ToLower(notNamed.ReplaceAllString(string(value), "")), " ", "-")
	for k, first := 1, name; h[name]; k++ {
		name = fmt.Sprintf("%s-%d", first, k)
	}
	h[name] = true
	return []byte(name)
}

// Put notes a name that a document gives.
func (h headings) Put(value []byte) { h[string(value)] = true }

// frame is what stands around each document. Like the site's own page it connects to nothing,
// and it needs no script.
var frame = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{{.Title}} · kir</title>
<link rel="stylesheet" href="{{.Style}}">
</head>
<body>
<header><nav aria-label="This site"><ul><li><a href="{{.Page}}">kir in this browser</a></li><li><a href="{{.Docs}}">All documents</a></li></ul></nav></header>
<main>
{{.Body}}</main>
</body>
</html>
`))
