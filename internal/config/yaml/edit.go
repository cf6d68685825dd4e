package yaml

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Editor changes values of a YAML text. It keeps everything else unchanged: comments, order and spelling. If
// any line ends in \r\n, all lines do afterwards. After each change the Editor parses the text again and checks
// that the text has the intended meaning. If not, it restores the text and returns an error with the position.
//
// A path leads from the root to a value. It is a list of steps. A step is the key of a mapping (a string) or
// the index of an item in a list (an int).
type Editor struct {
	// Order lists the top-level keys in their usual order. A new key is inserted before the first key in the
	// file that comes later in Order. If there is no such key, the new key is inserted at the end.
	Order []string

	fileName      string // name of the file in errors
	byteOrderMark []byte // byte order mark of the file; empty if it has none
	text          []byte // the text after the byte order mark, with \n as line ending
	lineEnding    []byte // line ending of the file: \n or \r\n
	root          *Node
}

// NewEditor returns an editor of a text. The parameter file is the name of the file in errors.
func NewEditor(file string, text []byte) (*Editor, error) {
	root, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	behind := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	e := &Editor{fileName: file, byteOrderMark: text[:len(text)-len(behind)], text: normalizeLineEndings(behind), lineEnding: []byte("\n"), root: root}
	if len(e.text) < len(behind) {
		e.lineEnding = []byte("\r\n")
	}
	return e, nil
}

// Root returns the root node of the parsed text. The node must not be used after the next change of the text.
func (e *Editor) Root() *Node { return e.root }

// Text returns the current text, with the byte order mark and the line endings of the file.
func (e *Editor) Text() []byte {
	return slices.Concat(e.byteOrderMark, bytes.ReplaceAll(e.text, []byte("\n"), e.lineEnding))
}

// Set sets the value at a path. The value is a text, a number, a [Map] or []any. Set adds keys of the path that
// the file does not have.
func (e *Editor) Set(value any, path ...any) error {
	parent := e.root
	for len(path) > 1 {
		slot, _ := parent.childSlot(path[0])
		if slot == nil || (*slot).Kind == Null {
			break
		}
		parent, path = *slot, path[1:]
	}
	for ; len(path) > 1; path = path[:len(path)-1] {
		var m Map
		m.Set(fmt.Sprint(path[len(path)-1]), value)
		value = m
	}
	text := flowText(value)
	added, err := Parse(e.fileName, []byte(text))
	if err != nil {
		return err
	}
	if slot, key := parent.childSlot(path[0]); slot != nil {
		from, to, err := e.valueRange(*slot, key)
		if err != nil {
			return err
		}
		if (*slot).Kind == Null {
			text = " " + text
		}
		*slot = added
		return e.spliceAndCheck(from, to, text)
	}
	key, ok := path[0].(string)
	if !ok || parent.Kind != Mapping {
		return parent.Errorf("%s has no place %v", parent.Describe(), path[0])
	}
	return e.insertChild(parent, flowText(key)+": "+text, func() {
		parent.Entries = append(parent.Entries, Entry{parent.Scalar(key), added})
	})
}

// Append appends an item to the list at a path. It creates the list if it is missing.
func (e *Editor) Append(value any, path ...any) error {
	text := listItemText(value)
	added, err := Parse(e.fileName, []byte(text))
	if err != nil {
		return err
	}
	parent, whole := e.root, path
	for ; len(path) > 1; path = path[1:] {
		slot, _ := parent.childSlot(path[0])
		if slot == nil {
			return e.Set([]any{value}, whole...)
		}
		parent = *slot
	}
	slot, key := parent.childSlot(path[0])
	switch {
	case slot != nil && (*slot).Kind == Sequence:
		list := *slot
		if e.isFlowStyle(list) {
			text = flowText(value)
		} else {
			text = "- " + text
		}
		return e.insertChild(list, text, func() { list.Items = append(list.Items, added) })
	case slot != nil && (*slot).Kind != Null:
		return (*slot).Errorf("%s is no list", (*slot).Describe())
	case e.isFlowStyle(parent):
		return e.Set([]any{value}, whole...)
	}
	list := &Node{Kind: Sequence, Items: []*Node{added}}
	indent := strings.Repeat(" ", parent.Column-1+2)
	if slot != nil {
		from, to, err := e.valueRange(*slot, key)
		if err != nil {
			return err
		}
		line := e.lineEndOffset(to)
		*slot = list
		return e.spliceAndCheck(from, line, string(e.text[to:line])+"\n"+indent+"- "+text)
	}
	name := fmt.Sprint(path[0])
	add := func() { parent.Entries = append(parent.Entries, Entry{parent.Scalar(name), list}) }
	if from, to, rest := e.commentedOutRange(name); parent == e.root && to > 0 {
		add()
		return e.spliceAndCheck(from, to, name+":"+"\n"+rest+"- "+text)
	}
	return e.insertChild(parent, flowText(name)+":"+"\n"+indent+"- "+text, add)
}

// Remove removes the item or the entry at a path.
func (e *Editor) Remove(path ...any) error {
	parent := e.root
	for ; len(path) > 1; path = path[1:] {
		slot, _ := parent.childSlot(path[0])
		if slot == nil {
			return parent.Errorf("%s has no place %v", parent.Describe(), path[0])
		}
		parent = *slot
	}
	type child struct{ from, to int }
	var all []child
	at := -1
	for k := range max(len(parent.Items), len(parent.Entries)) {
		step := any(k)
		if parent.Kind == Mapping {
			step = parent.Entries[k].Key.Text
		}
		slot, key := parent.childSlot(step)
		from, to, err := e.valueRange(*slot, key)
		if err != nil {
			return err
		}
		if key != nil {
			from = e.offsetOf(key)
		}
		if step == path[0] {
			at = k
		}
		all = append(all, child{from, to})
	}
	if at < 0 {
		return parent.Errorf("%s has no place %v", parent.Describe(), path[0])
	}
	from, to := all[at].from, all[at].to
	switch {
	case !e.isFlowStyle(parent):
		if parent.Kind == Sequence {
			from = bytes.LastIndexByte(e.text[:from], '-')
		}
		from = bytes.LastIndexByte(e.text[:from], '\n') + 1
		to = min(e.lineEndOffset(to)+1, len(e.text))
	case at > 0:
		from = all[at-1].to
	case len(all) > 1:
		to = all[1].from
	}
	if parent.Kind == Sequence {
		parent.Items = slices.Delete(parent.Items, at, at+1)
	} else {
		parent.Entries = slices.Delete(parent.Entries, at, at+1)
	}
	return e.spliceAndCheck(from, to, "")
}

// childSlot returns the child of a node at one step of a path: a pointer to the value, and the node of the key.
// The step is the key of a mapping or the index of an item in a list. If there is no such child, both results
// are nil. For an item of a list, key is nil.
func (n *Node) childSlot(step any) (value **Node, key *Node) {
	if k, ok := step.(int); ok {
		if k >= 0 && k < len(n.Items) {
			return &n.Items[k], nil
		}
		return nil, nil
	}
	for k := range n.Entries {
		if n.Entries[k].Key.Text == step {
			return &n.Entries[k].Value, n.Entries[k].Key
		}
	}
	return nil, nil
}

// insertChild adds the text of an item to a list, or of an entry to a mapping. The function changeNodes makes
// the same change to the parsed nodes.
func (e *Editor) insertChild(parent *Node, text string, changeNodes func()) error {
	from, to, err := e.valueRange(parent, nil)
	if err != nil {
		return err
	}
	if e.isFlowStyle(parent) {
		to = from + 1
		if n := len(parent.Items); n > 0 {
			_, to, err = e.valueRange(parent.Items[n-1], nil)
		} else if n := len(parent.Entries); n > 0 {
			_, to, err = e.valueRange(parent.Entries[n-1].Value, parent.Entries[n-1].Key)
		}
		if err != nil {
			return err
		}
		if to > from+1 {
			text = ", " + text
		}
		changeNodes()
		return e.spliceAndCheck(to, to, text)
	}
	if at, ok := e.insertionPoint(parent, text); ok {
		changeNodes()
		return e.spliceAndCheck(at, at, text+"\n")
	}
	at := e.lineEndOffset(to)
	changeNodes()
	return e.spliceAndCheck(at, at, "\n"+strings.Repeat(" ", parent.Column-1)+text)
}

// insertionPoint returns the offset at which the text of a new top-level entry belongs in the usual order. The
// result ok is false if there is no such offset. It is also false if a comment stands directly above the
// offset, because the comment belongs to the key below.
func (e *Editor) insertionPoint(parent *Node, text string) (at int, ok bool) {
	key, _, _ := strings.Cut(text, ":")
	place := slices.Index(e.Order, key)
	if parent != e.root || place < 0 {
		return 0, false
	}
	for _, entry := range parent.Entries {
		if slices.Index(e.Order, entry.Key.Text) <= place {
			continue
		}
		at := bytes.LastIndexByte(e.text[:e.offsetOf(entry.Key)], '\n') + 1
		above := bytes.TrimSpace(e.text[:at])
		above = above[bytes.LastIndexByte(above, '\n')+1:]
		return at, at > 0 && !bytes.HasPrefix(above, []byte("#"))
	}
	return 0, false
}

// commentedOutRange finds a top-level line in which the key stands in a comment, such as "# trade:". It returns
// the offsets of the beginning and the end of the line. The result indent is the indentation of list items in
// the comment lines below, without the sign #. If there is no such line, from and to are 0 and indent is "".
func (e *Editor) commentedOutRange(key string) (from, to int, indent string) {
	line := regexp.MustCompile(`(?m)^# *` + regexp.QuoteMeta(key) + `:[ \t]*(\n#( +)- )?`)
	m := line.FindSubmatchIndex(e.text)
	if m == nil {
		return 0, 0, ""
	}
	if m[2] < 0 {
		return m[0], e.lineEndOffset(m[0]), "  "
	}
	return m[0], m[2], string(e.text[m[4]:m[5]])
}

// spliceAndCheck replaces the text between two offsets. If the new text does not parse to the changed nodes,
// spliceAndCheck restores the old text and returns an error.
func (e *Editor) spliceAndCheck(from, to int, with string) error {
	text := slices.Concat(e.text[:from], []byte(with), e.text[to:])
	root, err := Parse(e.fileName, text)
	if err == nil && sameValue(root, e.root) {
		e.text, e.root = text, root
		return nil
	}
	place := &Node{File: e.fileName, Line: 1 + bytes.Count(e.text[:from], []byte("\n")), Column: 1}
	if e.root, err = Parse(e.fileName, e.text); err != nil {
		return err
	}
	return Hint(place.Errorf("what stands here is written in a way that cannot be changed alone"), "write it by hand: %s", strings.TrimSpace(with))
}

// sameValue reports whether two nodes have the same value. Null and an empty list are the same.
func sameValue(a, b *Node) bool {
	empty := func(n *Node) bool { return n.Kind == Null || n.Kind == Sequence && len(n.Items) == 0 }
	if empty(a) || empty(b) {
		return empty(a) && empty(b)
	}
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Entries) != len(b.Entries) {
		return false
	}
	of := make(map[string]*Node, len(b.Entries))
	for _, entry := range b.Entries {
		of[entry.Key.Text] = entry.Value
	}
	for _, entry := range a.Entries {
		if other := of[entry.Key.Text]; other == nil || !sameValue(entry.Value, other) {
			return false
		}
	}
	return slices.EqualFunc(a.Items, b.Items, sameValue)
}
