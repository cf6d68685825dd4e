package yaml

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"kir/internal/inputerr"
)

// Limits of a problem file. They bound the time and the memory of the YAML parser, which can grow with the
// square of the number of tokens.
const (
	MaxBytes  = 2 << 20 // maximum size of a problem file, in bytes
	maxTokens = 1 << 17 // maximum number of YAML tokens in a problem file
)

// maxDepth is the maximum depth of nesting in a problem file.
const maxDepth = 32

// A document is a YAML file that is being parsed into nodes.
type document struct {
	fileName string // name of the file in errors
	data     []byte // contents without a byte order mark, with \n as line ending
}

// normalizeLineEndings replaces each line ending \r\n by \n. The YAML library would count \r\n after a comment
// as two lines.
func normalizeLineEndings(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Parse parses a YAML document and returns its root node. The parameter file is the name of the file in
// errors.
func Parse(file string, data []byte) (n *Node, err error) {
	d := &document{file, normalizeLineEndings(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))}
	whole := d.newNode(nil)
	if len(data) > MaxBytes {
		return nil, Hint(whole.Errorf("a problem file of %d bytes is too large: the most is %d", len(data), MaxBytes), "put long lists in CSV files")
	}
	// The parser is a third party's and the file is untrusted, so a panic becomes an error.
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, whole.Errorf("this is not YAML that can be read (%v)", r)
		}
	}()
	tokens := lexer.Tokenize(string(d.data))
	if err := d.checkTokens(tokens); err != nil {
		return nil, err
	}
	doc, err := parser.Parse(tokens, 0)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil {
			p := at.GetToken().Position
			if e := d.tabError(p.Line); e != nil {
				e.Err = err
				return nil, e
			}
			return nil, &inputerr.Error{File: file, Line: p.Line, Column: p.Column, Message: "this is not YAML: " + at.GetMessage(), Hint: parserHint(at.GetMessage()), Err: err}
		}
		return nil, &inputerr.Error{File: file, Message: "this is not YAML", Hint: err.Error(), Err: err}
	}
	var body ast.Node
	for _, part := range doc.Docs {
		if part.Body == nil {
			continue
		}
		if body != nil {
			second, err := d.buildNode(part.Body, 0)
			if err != nil {
				return nil, err
			}
			return nil, Hint(second.Errorf("a second document begins here"), "a problem file holds one")
		}
		body = part.Body
	}
	if body == nil {
		return nil, whole.Errorf("the file is empty: a problem needs at least the total and the recipes or the ingredients")
	}
	return d.buildNode(body, 0)
}

// parserHint returns a hint for an error message of the YAML parser, or "" if none is known.
func parserHint(message string) string {
	for _, known := range []struct{ part, way string }{
		{"mapping value is not allowed", "keys of one level begin in one column, and text with a colon in it stands in quotes"},
		{"non-map value is specified", "keys and dashes of one level begin in one column"},
		{"end character of", "close the quote"},
		{"flow map", "close what { opens"},
		{"sequence end token", "close what [ opens"},
	} {
		if strings.Contains(message, known.part) {
			return known.way
		}
	}
	return ""
}

// tabError returns an error if the line with the given number is indented by a tab. Otherwise it returns nil.
func (d *document) tabError(line int) *inputerr.Error {
	lines := bytes.Split(d.data, []byte{'\n'})
	if line < 1 || line > len(lines) {
		return nil
	}
	text := lines[line-1]
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	at := bytes.IndexByte(indent, '\t')
	if at < 0 {
		return nil
	}
	return &inputerr.Error{File: d.fileName, Line: line, Column: at + 1, Message: "a tab stands here, and YAML is indented by spaces alone", Hint: "write spaces instead"}
}

// checkTokens returns an error for a file that would take the YAML parser too long or overflow its stack. The
// method buildNode would also return an error for such a file, but only after parsing. checkTokens does not
// check nesting by indentation: the size of such a file grows with the square of the depth, so MaxBytes bounds
// the depth.
func (d *document) checkTokens(tokens token.Tokens) error {
	depth, line, dashes := 0, 0, 0
	for k, t := range tokens {
		n := d.newNode(t)
		if k == maxTokens {
			return Hint(n.Errorf("the file is too long: it has more than %d words and signs", maxTokens), "put long lists in CSV files")
		}
		if n.Line != line {
			line, dashes = n.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		case token.AnchorType, token.AliasType:
			return Hint(n.Errorf("anchors and aliases are not read"), `write it out; a name with a star or & before it stands in quotes, such as "*vermouth"`)
		case token.TagType:
			return n.Errorf("tags such as %s are not read: leave it out", inputerr.Quote(t.Value))
		case token.MappingKeyType:
			return n.Errorf("%s is no key that is read here", inputerr.Quote(t.Value))
		}
		if depth > maxDepth || dashes > maxDepth {
			return n.Errorf("this nests more than %d deep", maxDepth)
		}
	}
	return nil
}

// newNode returns a node at the position of a token. If the token is nil, the node has no position.
func (d *document) newNode(t *token.Token) *Node {
	n := &Node{File: d.fileName, fileContents: d.data}
	if t != nil && t.Position != nil {
		n.Line, n.Column = t.Position.Line, t.Position.Column
	}
	return n
}

// buildNode converts a node of the YAML parser to a [Node].
func (d *document) buildNode(a ast.Node, depth int) (*Node, error) {
	n := d.newNode(a.GetToken())
	if depth > maxDepth {
		return nil, n.Errorf("this nests more than %d deep", maxDepth)
	}
	switch a := a.(type) {
	case *ast.NullNode:
		n.Kind = Null
	case *ast.StringNode:
		n.Kind, n.Text = Text, a.Value
		// The parser reads 1e12 as text.
		if v, err := strconv.ParseFloat(a.Value, 64); err == nil && a.Token.Type == token.StringType && strings.Trim(a.Value, "0123456789+-.eE") == "" {
			n.Kind, n.number = Number, v
		}
	case *ast.LiteralNode:
		n.Kind, n.Text = Text, a.Value.Value
	case *ast.BoolNode:
		n.Kind, n.Text = Boolean, a.Token.Value
	case *ast.IntegerNode:
		n.Kind, n.Text = Number, a.Token.Value
		switch v := a.Value.(type) {
		case int64:
			n.number = float64(v)
		case uint64:
			n.number = float64(v)
		}
	case *ast.FloatNode:
		n.Kind, n.Text, n.number = Number, a.Token.Value, a.Value
	case *ast.InfinityNode:
		n.Kind, n.Text, n.number = Number, a.Token.Value, a.Value
	case *ast.NanNode:
		n.Kind, n.Text, n.number = Number, a.Token.Value, math.NaN()
	case *ast.SequenceNode:
		n.Kind = Sequence
		for _, v := range a.Values {
			item, err := d.buildNode(v, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case *ast.MappingNode:
		if len(a.Values) > 0 && !a.IsFlowStyle {
			n = d.newNode(a.Values[0].Key.GetToken())
		}
		return n, d.buildMapping(n, a.Values, depth)
	case *ast.MappingValueNode:
		n = d.newNode(a.Key.GetToken())
		return n, d.buildMapping(n, []*ast.MappingValueNode{a}, depth)
	default:
		return nil, n.Errorf("this is not expected here")
	}
	return n, nil
}

// buildMapping makes n a mapping and adds its entries.
func (d *document) buildMapping(n *Node, entries []*ast.MappingValueNode, depth int) error {
	n.Kind = Mapping
	lines := make(map[string]int, len(entries)) // line of each key
	for _, e := range entries {
		key := d.newNode(e.Key.GetToken())
		switch k := e.Key.(type) {
		case *ast.MergeKeyNode:
			return key.Errorf("%s is no key that is read here", inputerr.Quote(k.String()))
		case *ast.StringNode:
			key.Text = k.Value
		default:
			key.Text = k.GetToken().Value
		}
		if first, ok := lines[key.Text]; ok {
			return key.Errorf("%s stands here twice: first on line %d", inputerr.Quote(key.Text), first)
		}
		lines[key.Text] = key.Line
		value, err := d.buildNode(e.Value, depth+1)
		if err != nil {
			return err
		}
		n.Entries = append(n.Entries, Entry{key, value})
	}
	return nil
}
