package problem

import (
	"context"
	"fmt"
	"math"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/property"
)

// sumTolerance is how far the sum of a topic's probabilities may be from 1, because they may be rounded.
const sumTolerance = 1e-3

var documentKind = propertyKind{
	PropertyKind: config.PropertyKind{Key: newKey("document", schema.Link("document"), "", "a mixture of topics that explains words", "{document: {topics: topics.csv, words: words.csv}}")},
	Sections: schema.Sections{{
		Name: "a document", ID: "document", About: "The likelihood of a document when its words come from a mixture of topics.",
		Keys: []schema.Key{
			newKey("topics", schema.Text("file"), "", "a CSV file: a row a topic, a column a word, probabilities", "{topics: topics.csv, words: words.csv}"),
			newKey("words", schema.Either(schema.Text("file"), schema.MapOf("words", schema.Integer(0, 1e9), schema.Object{"minProperties": 1})), "", "how often the document has each word", "{topics: topics.csv, words: {river: 3, bank: 1}}"),
		},
		Required: []string{"topics", "words"},
	}},
	read:          readDocument,
	scoredBySplit: alwaysBySplit,
}

// readDocument reads a property of the likelihood of a document's words. The document is a mixture of
// topics, which are the ingredients.
func readDocument(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error) {
	if err := n.Require("the document", "write {topics: topics.csv, words: words.csv}", "topics", "words"); err != nil {
		return Property{}, err
	}
	t, err := s.ReadSheet(ctx, f["topics"], "the file of topics")
	if err != nil {
		return Property{}, err
	}
	rows, err := t.RowsOf(s.Names)
	if err != nil {
		return Property{}, err
	}
	words, err := readWords(ctx, s, f["words"])
	if err != nil {
		return Property{}, err
	}
	columns := make(map[string]int, len(t.Columns))
	for k, name := range t.Columns {
		columns[name] = k
	}
	counts, length := make([]int, len(words)), 0
	topics := make([][]float64, len(rows))
	for i, row := range rows {
		sum := 0.0
		for k, v := range t.Values[row] {
			if v < 0 {
				return Property{}, yaml.Hint(t.ErrorIn(row, k, "a probability of %v is negative", v), "write one from 0 to 1")
			}
			sum += v
		}
		if math.Abs(sum-1) > sumTolerance {
			return Property{}, yaml.Hint(t.ErrorIn(row, -1, "the probabilities of topic %s sum to %v", inputerr.Quote(t.Rows[row]), sum), "they must sum to 1: divide each by the sum")
		}
		for k, w := range words {
			column, ok := columns[w.word]
			if !ok {
				e := w.errorf("no topic has the word %s", inputerr.Quote(w.word))
				if near := inputerr.DidYouMean(w.word, t.Columns); near != "" {
					return Property{}, yaml.Hint(e, "%s", near)
				}
				return Property{}, yaml.Hint(e, "leave it out, or add a column for it to the topics")
			}
			counts[k] = w.count
			topics[i] = append(topics[i], min(t.Values[row][column]/sum, 1))
		}
	}
	for _, w := range words {
		length += w.count
	}
	p, err := property.NewDocument(topics, counts, s.Total)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "topics", "words")
	return Property{About: fmt.Sprintf("likelihood of %s, %d different ones, under the mixture", inputerr.Count(length, "word"), len(words)), property: p, resolved: resolved}, nil
}

// A docWord is how often a document has a word, with a function for errors about it.
type docWord struct {
	word   string
	count  int
	errorf func(format string, args ...any) *inputerr.Error
}

// readWords reads a bag of words: a CSV file of words and their counts, in a column
// count, or a mapping such as {river: 3, bank: 1}. A count of 0 is left out.
func readWords(ctx context.Context, s *readContext, n *yaml.Node) ([]docWord, error) {
	var all []docWord
	add := func(word string, count float64, errorf func(format string, args ...any) *inputerr.Error) error {
		if count != math.Trunc(count) || count < 0 || count > 1e9 {
			return yaml.Hint(errorf("the count of %s is %v", inputerr.Quote(word), count), "write how often the document has the word, a whole number from 0 to 1000000000")
		}
		if count > 0 {
			all = append(all, docWord{word, int(count), errorf})
		}
		return nil
	}
	if n.Kind == yaml.Mapping {
		seen := make(map[string]bool, len(n.Entries))
		for _, e := range n.Entries {
			count, err := e.Value.Float("the count of " + inputerr.Quote(e.Key.Text))
			if err != nil {
				return nil, err
			}
			word := dataset.NormalizeName(e.Key.Text)
			if seen[word] {
				return nil, e.Key.Errorf("%s stands here twice", inputerr.Quote(word))
			}
			seen[word] = true
			if err := add(word, count, e.Key.Errorf); err != nil {
				return nil, err
			}
		}
	} else {
		t, err := s.ReadSheet(ctx, n, "the file of words")
		if err != nil {
			return nil, err
		}
		column, err := t.Column("count")
		if err != nil {
			return nil, err
		}
		for row, word := range t.Rows {
			place := func(format string, args ...any) *inputerr.Error { return t.ErrorIn(row, -1, format, args...) }
			if err := add(word, t.Values[row][column], place); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, yaml.Hint(n.Errorf("the document has no words"), "give at least one a count above 0")
	}
	return all, nil
}
