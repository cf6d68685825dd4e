package problem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"kir/fault"
)

// A node is a piece of a YAML file with its place: a mapping, a sequence or a
// scalar. Its methods read it as what is wanted or return a [fault.Error].
type node struct {
	file         string
	line, column int
	kind         kind
	text         string         // of a scalar, as it stands for
	number       float64        // of a number
	entries      []entry        // of a mapping, in the file's order
	lines        map[string]int // of a mapping: where each key stands
	items        []*node        // of a sequence
}

type entry struct {
	key   *node
	value *node
}

type kind int

const (
	null kind = iota
	text
	number
	boolean
	mapping
	sequence
)

func (k kind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a mapping", "a list"}[k]
}

// What is read of a problem file is bounded, in bytes and in tokens: the YAML
// parser's time and memory grow with the square of the latter on some files.
const (
	largestProblem = 2 << 20
	mostTokens     = 1 << 17
)

// parse reads a YAML document.
func parse(file string, data []byte) (n *node, err error) {
	whole := &node{file: file}
	if len(data) > largestProblem {
		return nil, hint(whole.errorf("a problem file of %d bytes is too large: the most is %d", len(data), largestProblem), "put long lists in CSV files")
	}
	// The parser is somebody else's and the file anybody's.
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, whole.errorf("this is not YAML that can be read (%v)", r)
		}
	}()
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	if err := checkTokens(file, tokens); err != nil {
		return nil, err
	}
	doc, err := parser.Parse(tokens, 0)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil {
			p := at.GetToken().Position
			return nil, &fault.Error{File: file, Line: p.Line, Column: p.Column, Message: "this is not YAML: " + at.GetMessage(), Err: err}
		}
		return nil, &fault.Error{File: file, Message: "this is not YAML", Hint: err.Error(), Err: err}
	}
	var body ast.Node
	for _, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			second, err := build(file, d.Body, 0)
			if err != nil {
				return nil, err
			}
			return nil, hint(second.errorf("a second document begins here"), "a problem file holds one")
		}
		body = d.Body
	}
	if body == nil {
		return nil, whole.errorf("the file is empty: a problem needs at least the total and the recipes or the ingredients")
	}
	return build(file, body, 0)
}

// deepest is how far a problem may nest.
const deepest = 32

// checkTokens refuses what the parser would take long over, or lose its stack
// to, and what build would refuse anyway. Nesting by indentation is left to
// build: it takes a file with the square of its depth.
func checkTokens(file string, tokens token.Tokens) error {
	depth, line, dashes := 0, 0, 0
	for k, t := range tokens {
		n := &node{file: file}
		n.place(t)
		if k == mostTokens {
			return hint(n.errorf("the file is too long: it has more than %d words and signs", mostTokens), "put long lists in CSV files")
		}
		if n.line != line {
			line, dashes = n.line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		case token.AnchorType, token.AliasType:
			return n.errorf("anchors and aliases are not read: write it out")
		case token.TagType:
			return n.errorf("tags such as %s are not read: leave it out", fault.Quote(t.Value))
		case token.MappingKeyType:
			return n.errorf("%s is no key that is read here", fault.Quote(t.Value))
		}
		if depth > deepest || dashes > deepest {
			return n.errorf("this nests more than %d deep", deepest)
		}
	}
	return nil
}

func build(file string, a ast.Node, depth int) (*node, error) {
	n := &node{file: file}
	n.place(a.GetToken())
	if depth > deepest {
		return nil, n.errorf("this nests more than %d deep", deepest)
	}
	switch a := a.(type) {
	case *ast.NullNode:
		n.kind = null
	case *ast.StringNode:
		n.kind, n.text = text, a.Value
		// The parser takes 1e12 for text.
		if v, err := strconv.ParseFloat(a.Value, 64); err == nil && a.Token.Type == token.StringType && strings.Trim(a.Value, "0123456789+-.eE") == "" {
			n.kind, n.number = number, v
		}
	case *ast.LiteralNode:
		n.kind, n.text = text, a.Value.Value
	case *ast.BoolNode:
		n.kind, n.text = boolean, a.Token.Value
	case *ast.IntegerNode:
		n.kind, n.text = number, a.Token.Value
		switch v := a.Value.(type) {
		case int64:
			n.number = float64(v)
		case uint64:
			n.number = float64(v)
		}
	case *ast.FloatNode:
		n.kind, n.text, n.number = number, a.Token.Value, a.Value
	case *ast.InfinityNode:
		n.kind, n.text, n.number = number, a.Token.Value, a.Value
	case *ast.NanNode:
		n.kind, n.text, n.number = number, a.Token.Value, math.NaN()
	case *ast.SequenceNode:
		n.kind = sequence
		for _, v := range a.Values {
			item, err := build(file, v, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case *ast.MappingNode:
		n.kind = mapping
		if len(a.Values) > 0 && !a.IsFlowStyle {
			n.place(a.Values[0].Key.GetToken())
		}
		for _, v := range a.Values {
			if err := n.add(v, depth); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		n.kind = mapping
		n.place(a.Key.GetToken())
		if err := n.add(a, depth); err != nil {
			return nil, err
		}
	default:
		return nil, n.errorf("this is not expected here")
	}
	return n, nil
}

// add appends an entry to a mapping.
func (n *node) add(v *ast.MappingValueNode, depth int) error {
	key := &node{file: n.file}
	key.place(v.Key.GetToken())
	switch v.Key.(type) {
	case *ast.MergeKeyNode:
		return key.errorf("%s is no key that is read here", fault.Quote(v.Key.String()))
	case *ast.StringNode:
		key.text = v.Key.(*ast.StringNode).Value
	default:
		key.text = v.Key.GetToken().Value
	}
	if first, ok := n.lines[key.text]; ok {
		return key.errorf("%s stands here twice: first on line %d", fault.Quote(key.text), first)
	}
	if n.lines == nil {
		n.lines = make(map[string]int)
	}
	n.lines[key.text] = key.line
	value, err := build(n.file, v.Value, depth+1)
	if err != nil {
		return err
	}
	n.entries = append(n.entries, entry{key, value})
	return nil
}

func (n *node) place(t *token.Token) {
	if t != nil && t.Position != nil {
		n.line, n.column = t.Position.Line, t.Position.Column
	}
}

// errorf returns an error at the node's place.
func (n *node) errorf(format string, args ...any) *fault.Error {
	return &fault.Error{File: n.file, Line: n.line, Column: n.column, Message: fmt.Sprintf(format, args...)}
}

// hint adds what would be right.
func hint(e *fault.Error, format string, args ...any) *fault.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// shown is the node as a message quotes it.
func (n *node) shown() string {
	switch n.kind {
	case text, number, boolean:
		return fault.Quote(n.text)
	}
	return n.kind.String()
}

// fields reads a mapping whose keys are all among those given.
func (n *node) fields(what string, known ...string) (map[string]*node, error) {
	if n.kind != mapping {
		return nil, hint(n.errorf("%s is %s", what, n.shown()), "write a mapping of %s", strings.Join(known, ", "))
	}
	found := make(map[string]*node, len(n.entries))
	for _, e := range n.entries {
		if !slices.Contains(known, e.key.text) {
			err := e.key.errorf("%s has no key %s", what, fault.Quote(e.key.text))
			if near := fault.DidYouMean(e.key.text, known); near != "" {
				return nil, hint(err, "%s", near)
			}
			return nil, hint(err, "it has %s", strings.Join(known, ", "))
		}
		found[e.key.text] = e.value
	}
	return found, nil
}

// str reads text that is not empty.
func (n *node) str(what string) (string, error) {
	if n.kind != text && n.kind != number && n.kind != boolean {
		return "", hint(n.errorf("%s is %s", what, n.shown()), "write text")
	}
	if strings.TrimSpace(n.text) == "" {
		return "", hint(n.errorf("%s is empty", what), "write text")
	}
	return n.text, nil
}

// float reads a finite number.
func (n *node) float(what string) (float64, error) {
	if n.kind != number {
		return 0, hint(n.errorf("%s is %s", what, n.shown()), "write a number")
	}
	if err := n.octal(what); err != nil {
		return 0, err
	}
	if math.IsNaN(n.number) || math.IsInf(n.number, 0) {
		return 0, hint(n.errorf("%s is %s", what, n.shown()), "write a finite number")
	}
	return n.number, nil
}

// weight reads a number of at least 0.
func (n *node) weight(what string) (float64, error) {
	w, err := n.float(what)
	if err == nil && w < 0 {
		err = hint(n.errorf("%s is %v", what, w), "it must be 0 or more")
	}
	if err != nil {
		return 0, err
	}
	return w, nil
}

// whole reads a whole number of at least least and at most most.
func (n *node) whole(what string, least, most int) (int, error) {
	v, err := n.float(what)
	if err != nil {
		return 0, err
	}
	if v != math.Trunc(v) {
		return 0, hint(n.errorf("%s is %s", what, n.shown()), "write a whole number")
	}
	if v < float64(least) {
		return 0, hint(n.errorf("%s is %s", what, n.text), "it must be at least %d", least)
	}
	if v > float64(most) {
		return 0, hint(n.errorf("%s is %s", what, n.text), "it must be at most %d", most)
	}
	return int(v), nil
}

// octal refuses 010, which is 8 to some readers of YAML and 10 to others.
func (n *node) octal(what string) error {
	digits := strings.TrimLeft(n.text, "+-")
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return hint(n.errorf("%s is %s, which may mean two numbers", what, n.text), "write it without the leading 0")
	}
	return nil
}

// uint64 reads a whole number from 0 to 2⁶⁴−1.
func (n *node) uint64(what string) (uint64, error) {
	if n.kind == number {
		if err := n.octal(what); err != nil {
			return 0, err
		}
		if v, err := strconv.ParseUint(n.text, 0, 64); err == nil {
			return v, nil
		}
	}
	return 0, hint(n.errorf("%s is %s", what, n.shown()), "write a whole number from 0 to %d", uint64(math.MaxUint64))
}

// list reads a sequence.
func (n *node) list(what string) ([]*node, error) {
	if n.kind != sequence {
		return nil, hint(n.errorf("%s is %s", what, n.shown()), "write a list, such as [a, b]")
	}
	return n.items, nil
}

// blame turns an error that has no place in a file into one at the node.
func (n *node) blame(err error) error {
	var bad *fault.Error
	if errors.As(err, &bad) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := n.errorf("%v", err)
	e.Err = err
	return e
}

// plain returns what the node holds as maps, slices, strings and numbers.
func (n *node) plain() any {
	switch n.kind {
	case text:
		return n.text
	case number:
		if n.number == math.Trunc(n.number) && math.Abs(n.number) < 1<<53 {
			return int64(n.number)
		}
		return n.number
	case boolean:
		return strings.EqualFold(n.text, "true")
	case sequence:
		items := make([]any, len(n.items))
		for k, item := range n.items {
			items[k] = item.plain()
		}
		return items
	case mapping:
		m := make(yaml.MapSlice, len(n.entries))
		for k, e := range n.entries {
			m[k] = yaml.MapItem{Key: e.key.text, Value: e.value.plain()}
		}
		return m
	}
	return nil
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}
