package compile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/property"
)

// probabilitySumTolerance is the largest allowed difference between 1 and the sum of a topic's probabilities.
// The difference arises if a table has rounded probabilities.
const probabilitySumTolerance = 1e-3

// documentKind is the kind of property that scores the words of a document.
var documentKind = propertyKind{
	PropertyKind:     config.DocumentKind,
	compile:          withValueType(compileDocument),
	scoresEverySplit: alwaysScoresEverySplit,
}

// compileDocument makes a property that scores the likelihood of the words of a document. The document is a
// mixture of topics, and the topics are the ingredients.
func compileDocument(ctx context.Context, s *readContext, d *config.Document, n *yaml.Node) (Property, error) {
	t, err := s.ReadSheet(ctx, d.Topics, "the file of topics")
	if err != nil {
		return Property{}, err
	}
	rows, err := t.RowsOf(s.IngredientNames)
	if err != nil {
		return Property{}, err
	}
	words, err := documentWords(ctx, s, d.Words)
	if err != nil {
		return Property{}, err
	}
	topics, err := wordProbabilities(t, rows, words)
	if err != nil {
		return Property{}, err
	}
	counts, length := make([]int, len(words)), 0
	for k, w := range words {
		counts[k] = w.count
		length += w.count
	}
	p, err := property.NewDocument(topics, counts, s.Total)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "topics", "words")
	return Property{About: fmt.Sprintf("likelihood of %s, %d different ones, under the mixture", inputerr.Count(length, "word"), len(words)), mcmcProperty: p, resolvedValue: resolved}, nil
}

// wordProbabilities returns the probability of each word in each topic. The probabilities of topic k are in the
// row of t with index rows[k].
func wordProbabilities(t *dataset.Sheet, rows []int, words []documentWord) ([][]float64, error) {
	columns := make(map[string]int, len(t.Columns))
	for k, name := range t.Columns {
		columns[name] = k
	}
	topics := make([][]float64, len(rows))
	for i, row := range rows {
		sum, err := probabilitySum(t, row)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			column, ok := columns[w.word]
			if !ok {
				e := w.newError("no topic has the word %s", inputerr.Quote(w.word))
				if near := inputerr.DidYouMean(w.word, t.Columns); near != "" {
					return nil, yaml.Hint(e, "%s", near)
				}
				return nil, yaml.Hint(e, "leave it out, or add a column for it to the topics")
			}
			topics[i] = append(topics[i], min(t.Values[row][column]/sum, 1))
		}
	}
	return topics, nil
}

// probabilitySum returns the sum of the probabilities of the topic in a row of t. It returns an error if the
// sum differs from 1 by more than rounding.
func probabilitySum(t *dataset.Sheet, row int) (float64, error) {
	sum := 0.0
	for k, v := range t.Values[row] {
		if v < 0 {
			return 0, yaml.Hint(t.ErrorAt(row, k, "a probability of %v is negative", v), "write one from 0 to 1")
		}
		sum += v
	}
	if math.Abs(sum-1) > probabilitySumTolerance {
		return 0, yaml.Hint(t.ErrorAt(row, -1, "the probabilities of topic %s sum to %v", inputerr.Quote(t.Rows[row]), sum), "they must sum to 1: divide each by the sum")
	}
	return sum, nil
}

// A documentWord is a word of a document with the number of its occurrences. The function newError makes an
// error at the position of the word.
type documentWord struct {
	word     string
	count    int
	newError func(format string, args ...any) *inputerr.Error
}

// newDocumentWord returns a documentWord. It returns an error if count is not a whole number. The function
// errorf makes errors at the position of the word.
func newDocumentWord(word string, count float64, errorf func(format string, args ...any) *inputerr.Error) (documentWord, error) {
	if count != math.Trunc(count) || count < 0 || count > 1e9 {
		return documentWord{}, yaml.Hint(errorf("the count of %s is %v", inputerr.Quote(word), count), "write how often the document has the word, a whole number from 0 to 1000000000")
	}
	return documentWord{word, int(count), errorf}, nil
}

// documentWords returns the words that occur in a document at least once. The counts are in the problem file,
// or in the column "count" of a table.
func documentWords(ctx context.Context, s *readContext, d config.Written[config.Words]) ([]documentWord, error) {
	var all []documentWord
	for _, c := range d.Value.Counts {
		w, err := newDocumentWord(c.Word, c.Count, c.At.Errorf)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	if d.Value.File != nil {
		t, err := s.ReadSheet(ctx, d.Value.File, "the file of words")
		if err != nil {
			return nil, err
		}
		column, err := t.Column("count")
		if err != nil {
			return nil, err
		}
		for row, word := range t.Rows {
			place := func(format string, args ...any) *inputerr.Error { return t.ErrorAt(row, -1, format, args...) }
			w, err := newDocumentWord(word, t.Values[row][column], place)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
	}
	all = slices.DeleteFunc(all, func(w documentWord) bool { return w.count == 0 })
	if len(all) == 0 {
		return nil, yaml.Hint(d.Node.Errorf("the document has no words"), "give at least one a count above 0")
	}
	return all, nil
}
