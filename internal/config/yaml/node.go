// Package yaml reads the YAML of problem files, and opens the files that problem files name. Every node has a
// file, a line and a column, so every error has a position. The package does not know the meaning of problems.
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

// A Node is a mapping, a sequence or a scalar of a YAML file, with its position. Its methods return values of
// the requested type, or an [inputerr.Error].
type Node struct {
	File         string
	Line, Column int // position in the file; both count from 1, and a column is one character wide
	Kind         Kind
	Text         string  // text of a scalar
	Entries      []Entry // entries of a mapping, in the order of the file
	Items        []*Node // items of a sequence

	number       float64 // value of a number
	fileContents []byte  // contents of the complete file, without a byte order mark
}

// An Entry is a key of a mapping with its value.
type Entry struct {
	Key   *Node
	Value *Node
}

// A Kind is the kind of a node.
type Kind int

// Kinds of nodes.
const (
	Null Kind = iota
	Text
	Number
	Boolean
	Mapping
	Sequence
)

// String returns the kind in words, such as "a mapping".
func (k Kind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a mapping", "a list"}[k]
}

// Get returns the value of a key in a mapping. It returns nil if the mapping does not have the key.
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// ItemsOrSelf returns the items of a sequence. For any other node it returns a list that has only the node
// itself. It serves keys whose value may be one value or a list.
func (n *Node) ItemsOrSelf() []*Node {
	if n.Kind == Sequence {
		return n.Items
	}
	return []*Node{n}
}

// Scalar returns a new text node at the position of n. The new node has the given text.
func (n *Node) Scalar(text string) *Node {
	return &Node{File: n.File, Line: n.Line, Column: n.Column, Kind: Text, Text: text, fileContents: n.fileContents}
}

// Errorf returns an error at the position of the node.
func (n *Node) Errorf(format string, args ...any) *inputerr.Error {
	return &inputerr.Error{File: n.File, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// Hint sets the hint of an error and returns the error. The hint states the right form.
func Hint(e *inputerr.Error, format string, args ...any) *inputerr.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// SuggestName sets the hint of an error about an unknown name. The hint is a similar name. If names has no similar
// name, the hint is the text intro, followed by at most limit of the names.
func SuggestName(e *inputerr.Error, name, intro string, names []string, limit int) *inputerr.Error {
	if e.Hint = inputerr.DidYouMean(name, names); e.Hint == "" {
		e.Hint = intro + " " + inputerr.List(names, limit)
	}
	return e
}

// PlaceError returns an error with the position of the node. If the error already has a position, or says that
// the context ended, PlaceError returns the error unchanged.
func (n *Node) PlaceError(err error) error {
	var bad *inputerr.Error
	if errors.As(err, &bad) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := n.Errorf("%v", err)
	e.Err = err
	return e
}

// Describe returns the text by which messages quote the node: the text of a scalar, or the kind of the node.
func (n *Node) Describe() string {
	switch n.Kind {
	case Text, Number, Boolean:
		return inputerr.Quote(n.Text)
	}
	return n.Kind.String()
}

// CharacterPlace returns the position in the file of one character of a scalar. The parameter character is the
// index of the character in the text of the scalar. The result ok is false if the file folds or escapes the
// text, because the position is then unknown.
func (n *Node) CharacterPlace(character int) (line, column int, ok bool) {
	lines := bytes.Split(n.fileContents, []byte{'\n'})
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

// blockCharacterPlace is [Node.CharacterPlace] for a YAML block scalar. The parameter lines has all lines of
// the file after the line with the sign | or >.
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

// WithText returns a copy of the node in which the text at a position is replaced. It returns nil if there is
// no text at the position, or if the text is already the same.
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

// WithoutEntryAt returns a copy of the node from which one entry or item is removed: the innermost that stands at the
// position. The position of an entry is that of its key or of its value. The result ancestors lists the
// mappings and lists that contained the entry or item, the innermost last. The result key is the key of a
// removed entry. The result without is nil if there is nothing at the position.
func (n *Node) WithoutEntryAt(line, column int) (without *Node, ancestors []*Node, key string) {
	is := func(m *Node) bool { return m.Line == line && m.Column == column }
	copied := *n
	copied.Entries, copied.Items = slices.Clone(n.Entries), slices.Clone(n.Items)
	for k, e := range n.Entries {
		inner, within, key := e.Value.WithoutEntryAt(line, column)
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
		inner, within, key := item.WithoutEntryAt(line, column)
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
