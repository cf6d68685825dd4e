// Package yaml reads the YAML of problem files and the files that they name. All nodes have file, line and
// column, so every error has a place. The package does not know the meaning of problems.
package yaml

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kir/internal/inputerr"
)

// A Node is a mapping, a sequence or a scalar of a YAML file, with its place. Its methods return values of
// the requested type, or a [inputerr.Error].
type Node struct {
	File         string
	Line, Column int // from 1; columns count characters
	Kind         Kind
	Text         string  // value of a scalar, as text
	Entries      []Entry // entries of a mapping, in the file's order
	Items        []*Node // items of a sequence

	number float64 // value of a number
	source []byte  // the file, without a byte order mark
}

// An Entry is a key of a mapping with its value.
type Entry struct {
	Key   *Node
	Value *Node
}

// A Kind is the type of a node.
type Kind int

// The kinds of nodes.
const (
	Null Kind = iota
	Text
	Number
	Boolean
	Mapping
	Sequence
)

// String returns the kind as messages name it.
func (k Kind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a mapping", "a list"}[k]
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// ItemsOrSelf returns the items of a sequence, or a list with the node itself. It is for values that may be
// one or a list.
func (n *Node) ItemsOrSelf() []*Node {
	if n.Kind == Sequence {
		return n.Items
	}
	return []*Node{n}
}

// Scalar returns a text node at the node's place.
func (n *Node) Scalar(text string) *Node {
	return &Node{File: n.File, Line: n.Line, Column: n.Column, Kind: Text, Text: text, source: n.source}
}

// Errorf returns an error at the node's place.
func (n *Node) Errorf(format string, args ...any) *inputerr.Error {
	return &inputerr.Error{File: n.File, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// Hint sets the hint of an error, which states the right form.
func Hint(e *inputerr.Error, format string, args ...any) *inputerr.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// SuggestName sets the hint of an error about an unknown name: a similar name, or else words followed by at
// most most of the known names.
func SuggestName(e *inputerr.Error, name, words string, names []string, most int) *inputerr.Error {
	if e.Hint = inputerr.DidYouMean(name, names); e.Hint == "" {
		e.Hint = words + " " + inputerr.List(names, most)
	}
	return e
}

// PlaceError places an error at the node, unless it has a place or is a context's error.
func (n *Node) PlaceError(err error) error {
	var bad *inputerr.Error
	if errors.As(err, &bad) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := n.Errorf("%v", err)
	e.Err = err
	return e
}

// Describe returns the node as messages quote it.
func (n *Node) Describe() string {
	switch n.Kind {
	case Text, Number, Boolean:
		return inputerr.Quote(n.Text)
	}
	return n.Kind.String()
}

// CharacterPlace returns the place in the file of a character of a scalar, counted from 0. ok is false if
// the place is unknown, because the file has the text folded or with escapes.
func (n *Node) CharacterPlace(character int) (line, column int, ok bool) {
	lines := bytes.Split(n.source, []byte{'\n'})
	if n.Line < 1 || n.Line > len(lines) {
		return 0, 0, false
	}
	first := []rune(string(lines[n.Line-1]))
	if n.Column < 1 || n.Column > len(first) {
		return 0, 0, false
	}
	at := string(first[n.Column-1:])
	if strings.HasPrefix(at, "|") {
		return n.blockCharacterPlace(lines[n.Line:], character)
	}
	quote := 0
	if strings.HasPrefix(at, "'") || strings.HasPrefix(at, `"`) {
		quote = 1
	}
	if !strings.HasPrefix(at[quote:], n.Text) {
		return 0, 0, false
	}
	return n.Line, n.Column + quote + character, true
}

// blockCharacterPlace is CharacterPlace for a block scalar. lines are its lines, with the same indentation.
func (n *Node) blockCharacterPlace(lines [][]byte, character int) (line, column int, ok bool) {
	begin := 0
	for k, part := range strings.Split(n.Text, "\n") {
		if length := utf8.RuneCountInString(part); character > begin+length {
			begin += length + 1
			continue
		}
		if k >= len(lines) {
			break
		}
		raw := strings.TrimRight(string(lines[k]), "\r")
		indent := len(raw) - len(part)
		if !strings.HasSuffix(raw, part) || strings.TrimSpace(raw[:indent]) != "" {
			break
		}
		return n.Line + 1 + k, indent + character - begin + 1, true
	}
	return 0, 0, false
}

// WithText returns a copy of the node with another text for the text node at a place. It returns nil if
// there is none, or if its text is the same.
func (n *Node) WithText(line, column int, text string) *Node {
	if n.Kind == Text && n.Line == line && n.Column == column && n.Text != text {
		copied := *n
		copied.Text = text
		return &copied
	}
	copied := *n
	copied.Entries, copied.Items = slices.Clone(n.Entries), slices.Clone(n.Items)
	for k, e := range n.Entries {
		if other := e.Value.WithText(line, column, text); other != nil {
			copied.Entries[k].Value = other
			return &copied
		}
	}
	for k, item := range n.Items {
		if other := item.WithText(line, column, text); other != nil {
			copied.Items[k] = other
			return &copied
		}
	}
	return nil
}

// Without returns a copy of the node without the innermost entry or item at a place. The place of an entry
// is that of its key or its value. from are the mappings and lists that contained it, the innermost last.
// key is the entry's key. It returns nil if there is nothing at that place.
func (n *Node) Without(line, column int) (without *Node, from []*Node, key string) {
	is := func(m *Node) bool { return m.Line == line && m.Column == column }
	copied := *n
	copied.Entries, copied.Items = slices.Clone(n.Entries), slices.Clone(n.Items)
	for k, e := range n.Entries {
		inner, within, key := e.Value.Without(line, column)
		switch {
		case inner != nil:
			copied.Entries[k].Value = inner
		case is(e.Key) || is(e.Value):
			copied.Entries, key = slices.Delete(copied.Entries, k, k+1), e.Key.Text
		default:
			continue
		}
		return &copied, append([]*Node{n}, within...), key
	}
	for k, item := range n.Items {
		inner, within, key := item.Without(line, column)
		switch {
		case inner != nil:
			copied.Items[k] = inner
		case is(item):
			copied.Items = slices.Delete(copied.Items, k, k+1)
		default:
			continue
		}
		return &copied, append([]*Node{n}, within...), key
	}
	return nil, nil, ""
}
