package yaml

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"kir/internal/dataset"
)

// isFlowStyle reports whether a mapping or a list is written in brackets, as in {a: 1} or [1, 2].
func (e *Editor) isFlowStyle(n *Node) bool {
	at := e.offsetOf(n)
	return at < len(e.text) && (e.text[at] == '[' || e.text[at] == '{')
}

// offsetOf returns the offset in the text at which a node begins.
func (e *Editor) offsetOf(n *Node) int {
	at := 0
	for range n.Line - 1 {
		at += bytes.IndexByte(e.text[at:], '\n') + 1
	}
	left := n.Column - 1
	for k := range string(e.text[at:]) {
		if left == 0 {
			return at + k
		}
		left--
	}
	return len(e.text)
}

// valueRange returns the offsets of the beginning and the end of a value in the text, without comments. If the
// value n belongs to an entry of a mapping, key is the key of the entry; otherwise key is nil.
func (e *Editor) valueRange(n, key *Node) (from, to int, err error) {
	if n.Kind == Null && key != nil {
		_, to, err := e.valueRange(key, nil)
		if err != nil {
			return 0, 0, err
		}
		from = to + bytes.IndexByte(e.text[to:], ':') + 1
		rest := strings.TrimLeft(string(e.text[from:e.lineEndOffset(from)]), " ")
		for _, word := range []string{"null", "Null", "NULL", "~"} {
			if strings.HasPrefix(rest, word) {
				return from, e.lineEndOffset(from) - len(rest) + len(word), nil
			}
		}
		return from, from, nil
	}
	from = e.offsetOf(n)
	if from >= len(e.text) {
		return from, from, nil
	}
	strange := func() (int, int, error) {
		return 0, 0, Hint(n.Errorf("where this ends cannot be told"), "write it in one line")
	}
	switch c := e.text[from]; {
	case c == '[' || c == '{':
		if to = e.closingBracketEnd(from); to < 0 {
			return strange()
		}
	case n.Kind == Sequence && len(n.Items) > 0:
		_, to, err = e.valueRange(n.Items[len(n.Items)-1], nil)
	case n.Kind == Mapping && len(n.Entries) > 0:
		last := n.Entries[len(n.Entries)-1]
		_, to, err = e.valueRange(last.Value, last.Key)
	case c == '\'' || c == '"':
		if to = e.quoteEnd(from); to < 0 {
			return strange()
		}
	case c == '|' || c == '>':
		to = e.blockEnd(from)
	case bytes.HasPrefix(e.text[from:], []byte(n.Text)):
		to = from + len(n.Text)
	default:
		return strange()
	}
	return from, to, err
}

// closingBracketEnd returns the offset after the closing bracket that matches the opening bracket at the offset
// at. It returns −1 if there is no closing bracket.
func (e *Editor) closingBracketEnd(at int) int {
	depth := 0
	for ; at < len(e.text); at++ {
		switch c := e.text[at]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case (c == '\'' || c == '"') && bytes.ContainsRune([]byte(" \n\t,:[{"), rune(e.text[at-1])):
			end := e.quoteEnd(at)
			if end < 0 {
				return -1
			}
			at = end - 1
		case c == '#' && (e.text[at-1] == ' ' || e.text[at-1] == '\n' || e.text[at-1] == '\t'):
			at = e.lineEndOffset(at)
		}
	}
	return -1
}

// quoteEnd returns the offset after the quoted text that begins at the offset from. It returns −1 if the quote
// is not closed.
func (e *Editor) quoteEnd(from int) int {
	quote := e.text[from]
	for at := from + 1; at < len(e.text); at++ {
		switch {
		case quote == '"' && e.text[at] == '\\':
			at++
		case e.text[at] == quote && quote == '\'' && at+1 < len(e.text) && e.text[at+1] == quote:
			at++
		case e.text[at] == quote:
			return at + 1
		}
	}
	return -1
}

// blockEnd returns the offset after the YAML block scalar that begins at the offset from.
func (e *Editor) blockEnd(from int) int {
	end := e.lineEndOffset(from)
	indent := -1
	for at := end; at < len(e.text); {
		at += bytes.IndexByte(e.text[at:], '\n') + 1
		line := string(e.text[at:e.lineEndOffset(at)])
		if text := strings.TrimLeft(line, " "); text != "" {
			if indent < 0 {
				indent = len(line) - len(text)
			}
			if indent == 0 || len(line)-len(text) < indent {
				break
			}
			end = at + len(line)
		}
		at += len(line)
		if bytes.IndexByte(e.text[at:], '\n') < 0 {
			break
		}
	}
	return end
}

// lineEndOffset returns the offset of the end of the line that contains the offset at.
func (e *Editor) lineEndOffset(at int) int {
	end := bytes.IndexByte(e.text[at:], '\n')
	if end < 0 {
		return len(e.text)
	}
	return at + end
}

// listItemText returns the YAML text of a value as an item of a list in block style, that is, without brackets.
func listItemText(value any) string {
	if m, ok := value.(Map); ok && len(m) == 1 {
		return strings.TrimSuffix(strings.TrimPrefix(flowText(m), "{"), "}")
	}
	return flowText(value)
}

// flowText returns the YAML text of a value in flow style, that is, with brackets and on one line.
func flowText(value any) string {
	var parts []string
	switch v := value.(type) {
	case Map:
		for _, item := range v {
			parts = append(parts, flowText(item.Key)+": "+flowText(item.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return dataset.YAMLText(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}
