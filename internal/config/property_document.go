package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// DocumentKind is the kind of property that scores the likelihood of a document under a topic model. The topics
// are the ingredients, and a composition is a mixture of topics.
var DocumentKind = PropertyKind{
	Key: schema.NewKey("document", schema.Link("document"), "", "scores how well a mixture of topics explains words", "{document: {topics: topics.csv, words: words.csv}}"),
	New: func() Value { return new(Document) },
}

// A Document is the value of a property that scores the words of a document. It has one of these forms:
//
//	document: {topics: topics.csv, words: words.csv}
//	document: {topics: topics.csv, words: {river: 3, bank: 1}}
type Document struct {
	Topics *yaml.Node // name of a file with the probability of each word in each topic
	Words  Written[Words]
}

// Words tell how often a document has each word. The counts are in a file or in the problem file.
type Words struct {
	File   *yaml.Node // name of a file with the counts; nil if the problem file has the counts
	Counts []WordCount
}

// A WordCount is a word with the number of its occurrences in a document. The count is not yet checked, so it
// may be any number.
type WordCount struct {
	Word  string
	Count float64
	At    *yaml.Node // node of the word in the file
}

// Sections implements [Value].
func (d *Document) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a document", ID: "document", About: "`document` scores the likelihood of a document whose words come from a mixture of topics.",
		Keys: []schema.Key{
			newKey("topics", schema.Text("file"), "", "a CSV file of probabilities with a row per topic and a column per word", "{topics: topics.csv, words: words.csv}", nodeReader(&d.Topics)),
			newKey("words", schema.Either(schema.Text("file"), schema.MapOf("words", schema.Integer(0, 1e9), schema.Object{"minProperties": 1})), "", "count of each word in the document", "{topics: topics.csv, words: {river: 3, bank: 1}}", decodingReader(&d.Words, decodeWords)),
		},
		Required: []string{"topics", "words"},
	}}
}

// Decode implements [Value].
func (d *Document) Decode(n *yaml.Node) error {
	if err := n.Require("the document", "write {topics: topics.csv, words: words.csv}", "topics", "words"); err != nil {
		return err
	}
	return d.Sections()[0].Decode(n)
}

func decodeWords(n *yaml.Node) (w Words, err error) {
	if n.Kind != yaml.Mapping {
		w.File = n
		return w, nil
	}
	seen := make(map[string]bool, len(n.Entries))
	for _, e := range n.Entries {
		count, err := e.Value.Float("the count of " + inputerr.Quote(e.Key.Text))
		if err != nil {
			return w, err
		}
		word := dataset.NormalizeName(e.Key.Text)
		if seen[word] {
			return w, e.Key.Errorf("%s stands here twice", inputerr.Quote(word))
		}
		seen[word] = true
		w.Counts = append(w.Counts, WordCount{word, count, e.Key})
	}
	return w, nil
}
