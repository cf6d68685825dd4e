package problem

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml"

	"kir/fault"
	"kir/property"
	"kir/recipe"
)

// sumTolerance is by how much the probabilities of a topic may miss 1, so that
// they may be rounded.
const sumTolerance = 1e-3

// document reads a property of the words of a document under a mixture of
// topics, the ingredients.
func (l *loader) document(n *node) (Property, error) {
	f, err := n.fields("a document", "topics", "words")
	if err != nil {
		return Property{}, err
	}
	for _, key := range []string{"topics", "words"} {
		if f[key] == nil {
			return Property{}, hint(n.errorf("the document has no %s", key), "write {topics: topics.csv, words: words.csv}")
		}
	}
	t, err := l.readSheet(f["topics"], "the file of topics")
	if err != nil {
		return Property{}, err
	}
	rows, err := match(t.file, l.problem.Ingredients, t.rows, "ingredients", func(k int, format string, args ...any) *fault.Error {
		return t.errorIn(k, -1, format, args...)
	})
	if err != nil {
		return Property{}, err
	}
	words, err := l.words(f["words"])
	if err != nil {
		return Property{}, err
	}
	columns := make(map[string]int, len(t.columns))
	for k, name := range t.columns {
		columns[name] = k
	}
	counts, length := make([]int, len(words)), 0
	topics := make([][]float64, len(rows))
	for i, row := range rows {
		sum := 0.0
		for k, v := range t.values[row] {
			if v < 0 {
				return Property{}, hint(t.errorIn(row, k, "a probability of %v is negative", v), "write one from 0 to 1")
			}
			sum += v
		}
		if math.Abs(sum-1) > sumTolerance {
			return Property{}, hint(t.errorIn(row, -1, "the probabilities of topic %s sum to %v", fault.Quote(t.rows[row]), sum), "they must sum to 1: divide each by the sum")
		}
		for k, w := range words {
			column, ok := columns[w.word]
			if !ok {
				e := w.errorf("no topic has the word %s", fault.Quote(w.word))
				if near := fault.DidYouMean(w.word, t.columns); near != "" {
					return Property{}, hint(e, "%s", near)
				}
				return Property{}, hint(e, "leave it out, or add a column for it to the topics")
			}
			counts[k] = w.count
			topics[i] = append(topics[i], min(t.values[row][column]/sum, 1))
		}
	}
	for _, w := range words {
		length += w.count
	}
	p, err := property.NewDocument(topics, counts, l.problem.Total)
	if err != nil {
		return Property{}, n.blame(err)
	}
	var s settings
	s.keep(f, "topics", "words")
	return Property{About: fmt.Sprintf("likelihood of %s, %d different ones, under the mixture", fault.Count(length, "word"), len(words)), property: p, settings: yaml.MapSlice(s)}, nil
}

// docWord is how often a document has a word, and how to say what is wrong with
// it.
type docWord struct {
	word   string
	count  int
	errorf func(format string, args ...any) *fault.Error
}

// words reads a bag of words: a CSV file of words and their counts, in a column
// count, or a mapping such as {river: 3, bank: 1}. A count of 0 is left out.
func (l *loader) words(n *node) ([]docWord, error) {
	var all []docWord
	add := func(word string, count float64, errorf func(format string, args ...any) *fault.Error) error {
		if count != math.Trunc(count) || count < 0 || count > 1e9 {
			return hint(errorf("the count of %s is %v", fault.Quote(word), count), "write how often the document has the word, a whole number from 0 to 1000000000")
		}
		if count > 0 {
			all = append(all, docWord{word, int(count), errorf})
		}
		return nil
	}
	if n.kind == mapping {
		seen := make(map[string]bool, len(n.entries))
		for _, e := range n.entries {
			count, err := e.value.float("the count of " + fault.Quote(e.key.text))
			if err != nil {
				return nil, err
			}
			word := recipe.Name(e.key.text)
			if seen[word] {
				return nil, e.key.errorf("%s stands here twice", fault.Quote(word))
			}
			seen[word] = true
			if err := add(word, count, e.key.errorf); err != nil {
				return nil, err
			}
		}
	} else {
		t, err := l.readSheet(n, "the file of words")
		if err != nil {
			return nil, err
		}
		column, err := t.column("count")
		if err != nil {
			return nil, err
		}
		for row, word := range t.rows {
			place := func(format string, args ...any) *fault.Error { return t.errorIn(row, -1, format, args...) }
			if err := add(word, t.values[row][column], place); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, hint(n.errorf("the document has no words"), "give at least one a count above 0")
	}
	return all, nil
}
