package yaml

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Editor changes values of a YAML text and keeps everything else unchanged: comments, order, spelling
// and line endings, which are all of one kind. After each change it parses the text again and checks that
// it has the intended meaning. If not, it restores the text and returns an error with the place.
//
// A path consists of keys of mappings (string) and indexes in lists (int), from the top.
type Editor struct {
	// Order is the usual order of the top-level keys. A new key is inserted before the first present key
	// that follows it in this order, or else at the end.
	Order []string

	file string
	mark []byte // byte order mark, if there is one
	text []byte // text after the mark, with lines that end in \n
	ends []byte // line ending of the file
	root *Node
}

// NewEditor returns an editor of a text. file is its name in errors.
func NewEditor(file string, text []byte) (*Editor, error) {
	root, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	behind := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	e := &Editor{file: file, mark: text[:len(text)-len(behind)], text: toLines(behind), ends: []byte("\n"), root: root}
	if len(e.text) < len(behind) {
		e.ends = []byte("\r\n")
	}
	return e, nil
}

// Root returns the parsed text. It is valid until the next change.
func (e *Editor) Root() *Node { return e.root }

// Text returns the text.
func (e *Editor) Text() []byte {
	return slices.Concat(e.mark, bytes.ReplaceAll(e.text, []byte("\n"), e.ends))
}

// Set sets the value at a path: text, a number, a [Map] or []any. It adds missing keys.
func (e *Editor) Set(value any, path ...any) error {
	parent := e.root
	for len(path) > 1 {
		slot, _ := parent.slot(path[0])
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
	added, err := Parse(e.file, []byte(text))
	if err != nil {
		return err
	}
	if slot, key := parent.slot(path[0]); slot != nil {
		from, to, err := e.span(*slot, key)
		if err != nil {
			return err
		}
		if (*slot).Kind == Null {
			text = " " + text
		}
		*slot = added
		return e.splice(from, to, text)
	}
	key, ok := path[0].(string)
	if !ok || parent.Kind != Mapping {
		return parent.Errorf("%s has no place %v", parent.Describe(), path[0])
	}
	return e.insert(parent, flowText(key)+": "+text, func() {
		parent.Entries = append(parent.Entries, Entry{parent.Scalar(key), added})
	})
}

// Append appends an item to the list at a path, and creates a missing list.
func (e *Editor) Append(value any, path ...any) error {
	text := itemText(value)
	added, err := Parse(e.file, []byte(text))
	if err != nil {
		return err
	}
	parent, whole := e.root, path
	for ; len(path) > 1; path = path[1:] {
		slot, _ := parent.slot(path[0])
		if slot == nil {
			return e.Set([]any{value}, whole...)
		}
		parent = *slot
	}
	slot, key := parent.slot(path[0])
	switch {
	case slot != nil && (*slot).Kind == Sequence:
		list := *slot
		if e.isFlow(list) {
			text = flowText(value)
		} else {
			text = "- " + text
		}
		return e.insert(list, text, func() { list.Items = append(list.Items, added) })
	case slot != nil && (*slot).Kind != Null:
		return (*slot).Errorf("%s is no list", (*slot).Describe())
	case e.isFlow(parent):
		return e.Set([]any{value}, whole...)
	}
	list := &Node{Kind: Sequence, Items: []*Node{added}}
	indent := strings.Repeat(" ", parent.Column-1+2)
	if slot != nil {
		from, to, err := e.span(*slot, key)
		if err != nil {
			return err
		}
		line := e.lineEnd(to)
		*slot = list
		return e.splice(from, line, string(e.text[to:line])+"\n"+indent+"- "+text)
	}
	name := fmt.Sprint(path[0])
	add := func() { parent.Entries = append(parent.Entries, Entry{parent.Scalar(name), list}) }
	if from, to, rest := e.commentedOut(name); parent == e.root && to > 0 {
		add()
		return e.splice(from, to, name+":"+"\n"+rest+"- "+text)
	}
	return e.insert(parent, flowText(name)+":"+"\n"+indent+"- "+text, add)
}

// Remove removes an item or an entry.
func (e *Editor) Remove(path ...any) error {
	parent := e.root
	for ; len(path) > 1; path = path[1:] {
		slot, _ := parent.slot(path[0])
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
		slot, key := parent.slot(step)
		from, to, err := e.span(*slot, key)
		if err != nil {
			return err
		}
		if key != nil {
			from = e.offset(key)
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
	case !e.isFlow(parent):
		if parent.Kind == Sequence {
			from = bytes.LastIndexByte(e.text[:from], '-')
		}
		from = bytes.LastIndexByte(e.text[:from], '\n') + 1
		to = min(e.lineEnd(to)+1, len(e.text))
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
	return e.splice(from, to, "")
}

// slot returns the value that one step of a path leads to, and its key, or nil.
func (n *Node) slot(step any) (value **Node, key *Node) {
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

// insert adds the text of an item or entry to a mapping or a list. mean makes the same change to the nodes.
func (e *Editor) insert(parent *Node, text string, mean func()) error {
	from, to, err := e.span(parent, nil)
	if err != nil {
		return err
	}
	if e.isFlow(parent) {
		to = from + 1
		if n := len(parent.Items); n > 0 {
			_, to, err = e.span(parent.Items[n-1], nil)
		} else if n := len(parent.Entries); n > 0 {
			_, to, err = e.span(parent.Entries[n-1].Value, parent.Entries[n-1].Key)
		}
		if err != nil {
			return err
		}
		if to > from+1 {
			text = ", " + text
		}
		mean()
		return e.splice(to, to, text)
	}
	if at, ok := e.insertionPoint(parent, text); ok {
		mean()
		return e.splice(at, at, text+"\n")
	}
	at := e.lineEnd(to)
	mean()
	return e.splice(at, at, "\n"+strings.Repeat(" ", parent.Column-1)+text)
}

// insertionPoint returns the offset at which a top-level entry belongs in the usual order. ok is false if
// the text above that offset ends with a comment, because that belongs to the key below it.
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
		at := bytes.LastIndexByte(e.text[:e.offset(entry.Key)], '\n') + 1
		above := bytes.TrimSpace(e.text[:at])
		above = above[bytes.LastIndexByte(above, '\n')+1:]
		return at, at > 0 && !bytes.HasPrefix(above, []byte("#"))
	}
	return 0, false
}

// commentedOut returns the range of a top-level line in which the key is commented out, if there is one.
// indent is the indentation of items in the commented lines below, without their #.
func (e *Editor) commentedOut(key string) (from, to int, indent string) {
	line := regexp.MustCompile(`(?m)^# *` + regexp.QuoteMeta(key) + `:[ \t]*(\n#( +)- )?`)
	m := line.FindSubmatchIndex(e.text)
	if m == nil {
		return 0, 0, ""
	}
	if m[2] < 0 {
		return m[0], e.lineEnd(m[0]), "  "
	}
	return m[0], m[2], string(e.text[m[4]:m[5]])
}

// splice replaces the text between two offsets, and checks that the new text has the meaning of the changed
// nodes.
func (e *Editor) splice(from, to int, with string) error {
	text := slices.Concat(e.text[:from], []byte(with), e.text[to:])
	root, err := Parse(e.file, text)
	if err == nil && sameValue(root, e.root) {
		e.text, e.root = text, root
		return nil
	}
	place := &Node{File: e.file, Line: 1 + bytes.Count(e.text[:from], []byte("\n")), Column: 1}
	if e.root, err = Parse(e.file, e.text); err != nil {
		return err
	}
	return Hint(place.Errorf("what stands here is written in a way that cannot be changed alone"), "write it by hand: %s", strings.TrimSpace(with))
}

// sameValue reports whether two nodes have the same value.
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
