package yaml

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// Fields returns a map from the name of each key to its value. The parameter known lists the valid keys;
// another key is an error. The parameter what names the mapping in errors.
func (n *Node) Fields(what string, known ...string) (map[string]*Node, error) {
	if n.Kind != Mapping {
		return nil, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a mapping of %s", strings.Join(known, ", "))
	}
	found := make(map[string]*Node, len(n.Entries))
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) {
			err := e.Key.Errorf("%s has no key %s", what, inputerr.Quote(e.Key.Text))
			if near := inputerr.DidYouMean(e.Key.Text, known); near != "" {
				return nil, Hint(err, "%s", near)
			}
			return nil, Hint(err, "it has %s", strings.Join(known, ", "))
		}
		found[e.Key.Text] = e.Value
	}
	return found, nil
}

// Require returns an error if the mapping lacks one of the keys. The parameter what names the mapping in the
// error, and hint is the hint of the error.
func (n *Node) Require(what, hint string, keys ...string) error {
	for _, key := range keys {
		if n.Get(key) == nil {
			return Hint(n.Errorf("%s has no %s", what, key), "%s", hint)
		}
	}
	return nil
}

// Str returns the value of the node as text. An empty text is an error. The parameter what names the value in
// errors.
func (n *Node) Str(what string) (string, error) {
	if n.Kind != Text && n.Kind != Number && n.Kind != Boolean {
		return "", Hint(n.Errorf("%s is %s", what, n.Describe()), "write text")
	}
	if strings.TrimSpace(n.Text) == "" {
		return "", Hint(n.Errorf("%s is empty", what), "write text")
	}
	return n.Text, nil
}

// Float returns the value of the node as a finite number. The parameter what names the value in errors.
func (n *Node) Float(what string) (float64, error) {
	if n.Kind != Number {
		way := "write a number"
		if plain := strings.ReplaceAll(strings.TrimSpace(n.Text), ",", ""); n.Kind == Text && plain != "" && strings.Trim(plain, "0123456789.") == "" {
			way = "write a number without quotes and without marks between thousands, such as " + plain
		}
		return 0, Hint(n.Errorf("%s is %s", what, n.Describe()), "%s", way)
	}
	if err := n.refuseOctal(what); err != nil {
		return 0, err
	}
	if math.IsNaN(n.number) || math.IsInf(n.number, 0) {
		return 0, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a finite number")
	}
	return n.number, nil
}

// Weight returns the value of the node as a number of at least 0. The parameter what names the value in
// errors.
func (n *Node) Weight(what string) (float64, error) {
	w, err := n.Float(what)
	if err == nil && w < 0 {
		err = Hint(n.Errorf("%s is %v", what, w), "it must be 0 or more")
	}
	if err != nil {
		return 0, err
	}
	return w, nil
}

// Whole returns the value of the node as a whole number. A number outside the range from least to most is an
// error. The parameter what names the value in errors.
func (n *Node) Whole(what string, least, most int) (int, error) {
	v, err := n.Float(what)
	if err != nil {
		return 0, err
	}
	if v != math.Trunc(v) {
		return 0, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a whole number")
	}
	if v < float64(least) {
		return 0, Hint(n.Errorf("%s is %s", what, n.Text), "it must be at least %d", least)
	}
	if v > float64(most) {
		return 0, Hint(n.Errorf("%s is %s", what, n.Text), "it must be at most %d", most)
	}
	return int(v), nil
}

// refuseOctal returns an error for a whole number with a leading 0, such as 010. Some YAML readers read such a
// number as octal, here as 8, and others as decimal.
func (n *Node) refuseOctal(what string) error {
	digits := strings.TrimLeft(n.Text, "+-")
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return Hint(n.Errorf("%s is %s, which may mean two numbers", what, n.Text), "write it without the leading 0")
	}
	return nil
}

// Uint64 returns the value of the node as a whole number from 0 to 2⁶⁴−1. The parameter what names the value
// in errors.
func (n *Node) Uint64(what string) (uint64, error) {
	if n.Kind == Number {
		if err := n.refuseOctal(what); err != nil {
			return 0, err
		}
		if v, err := strconv.ParseUint(n.Text, 0, 64); err == nil {
			return v, nil
		}
	}
	return 0, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a whole number from 0 to %d", uint64(math.MaxUint64))
}

// List returns the items of a sequence. The parameter what names the list in errors.
func (n *Node) List(what string) ([]*Node, error) {
	switch {
	case n.Kind == Sequence:
	case n.Kind == Mapping && len(n.Entries) > 0:
		return nil, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a list: a dash and a space before each, such as - %s: ...", n.Entries[0].Key.Text)
	case n.Kind == Text || n.Kind == Number || n.Kind == Boolean:
		return nil, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a list: [%s]", n.Text)
	default:
		return nil, Hint(n.Errorf("%s is %s", what, n.Describe()), "write a list, such as [a, b]")
	}
	return n.Items, nil
}
