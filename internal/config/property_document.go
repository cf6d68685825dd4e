package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// DocumentKind is the likelihood of a document whose words come from a mixture of topics.
var DocumentKind = PropertyKind{
	Key: schema.NewKey("document", schema.Link("document"), "", "a mixture of topics that explains words", "{document: {topics: topics.csv, words: words.csv}}"),
	New: func() Value { return new(Document) },
}

// A Document is one of
//
//	document: {topics: topics.csv, words: words.csv}
//	document: {topics: topics.csv, words: {river: 3, bank: 1}}
type Document struct {
	Topics *yaml.Node // a file
	Words  Written[Words]
}

// Words are how often a document has each word: a file, or the counts themselves.
type Words struct {
	File   *yaml.Node // nil: Counts has them
	Counts []WordCount
}

// A WordCount is how often a document has a word. The count may be any number, as in a file.
type WordCount struct {
	Word  string
	Count float64
	At    *yaml.Node // the word
}

// Sections implements [Value].
func (d *Document) Sections() schema.Sections {
	return schema.Sections{{
		Name: "a document", ID: "document", About: "The likelihood of a document when its words come from a mixture of topics.",
		Keys: []schema.Key{
			key("topics", schema.Text("file"), "", "a CSV file: a row a topic, a column a word, probabilities", "{topics: topics.csv, words: words.csv}", asNode(&d.Topics)),
			key("words", schema.Either(schema.Text("file"), schema.MapOf("words", schema.Integer(0, 1e9), schema.Object{"minProperties": 1})), "", "how often the document has each word", "{topics: topics.csv, words: {river: 3, bank: 1}}", decodeWith(&d.Words, decodeWords)),
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
