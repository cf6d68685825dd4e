package dataset

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// An Aside is a row or a column of a table of recipes that describes the ingredients, such as
// their prices. It is no recipe. In the long form it is a column that is left out and has the same text
// in all rows of an ingredient.
type Aside struct {
	Name   string   // name of the row or column, such as EUR/kg
	Values []string // by ingredient of the book: text of the cell, with the point as the decimal mark
}

// An asideCells is a row or a column of a table in the wide form that may become an [Aside].
type asideCells struct {
	name  string
	texts map[int]string // by index of the ingredient's column: text of the cell
}

// A longAside is a column of the long form that is left out and may become an [Aside].
type longAside struct {
	column      int
	texts       map[int32]string // by ingredient: text of the first row that has one
	contradicts bool             // whether an ingredient has several texts
}

// maxAsides is the maximum number of asides of a table.
const maxAsides = 32

// asideReason returns why a column of a turned table, or the row of the same name of another, says something of the
// ingredients and is no recipe, or an empty text if it says something of the recipes.
func asideReason(name string) string {
	switch what, _ := summaryOf(name); what {
	case ofPrices:
		return "prices of the ingredients"
	case ofLimits:
		return "what limits or explains the ingredients"
	}
	return ""
}

// addAside keeps a row or a column that describes the ingredients, with the texts of its cells by index of the
// ingredient's column.
func (s *source) addAside(name string, texts map[int]string) {
	if name = NormalizeName(name); name == "" || len(texts) == 0 || len(s.asides) >= maxAsides {
		return
	}
	if slices.ContainsFunc(s.asides, func(a asideCells) bool { return strings.EqualFold(a.name, name) }) || isNameColumn(name) {
		return
	}
	s.asides = append(s.asides, asideCells{strings.Clone(name), texts})
}

// asideText returns the text of a cell of an aside in the current row: a number with the point as the decimal mark, and
// nothing for a dash or a mark of an unknown value.
func (t *table) asideText(field int, text string) string {
	text = NormalizeName(text)
	if isDash(text) || isUnknownMark(text) {
		return ""
	}
	n, affix := parseAffixedNumber(text)
	if plain := n.PlainForm(t.decimalOf(field)); plain != "" {
		return strings.TrimSpace(plain + " " + affix)
	}
	return strings.Clone(text)
}

// collectAsides returns what the table says of the ingredients of the book.
func (b *bookBuilder) collectAsides() (all []Aside) {
	for _, a := range b.longAsides {
		if a.contradicts || len(a.texts) == 0 {
			continue
		}
		aside := Aside{Name: b.table.header[a.column], Values: make([]string, b.book.Ingredients.Len())}
		for ingredient, text := range a.texts {
			aside.Values[ingredient] = text
		}
		all = append(all, aside)
	}
	for _, a := range b.table.asides {
		aside := Aside{Name: a.name, Values: make([]string, b.book.Ingredients.Len())}
		known := 0
		for _, c := range b.wideColumns {
			if text := a.texts[c.column]; text != "" {
				aside.Values[c.ingredient] = strings.Clone(text)
				known++
			}
		}
		if known > 0 {
			all = append(all, aside)
		}
	}
	return all
}

// collectLongAsides keeps what the current row of the long form says of an ingredient beside its amount.
func (b *bookBuilder) collectLongAsides(ingredient int32) {
	for k := range b.longAsides {
		a := &b.longAsides[k]
		if a.contradicts {
			continue
		}
		text := b.table.asideText(a.column, b.table.row[a.column])
		if first, known := a.texts[ingredient]; known {
			a.contradicts = text != "" && text != first
		} else if text != "" {
			a.texts[ingredient] = text
		}
	}
}

// WriteAsides returns a table of the ingredients of the book, as CSV, with a column for each of its asides. A cell is
// empty where the table says nothing.
func (b *Book) WriteAsides() ([]byte, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	header := []string{"name"}
	for _, a := range b.Asides {
		header = append(header, a.Name)
	}
	rows := [][]string{header}
	for i, name := range b.Ingredients.Names {
		row := []string{name}
		for _, a := range b.Asides {
			row = append(row, a.Values[i])
		}
		rows = append(rows, row)
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// AsideNames returns the names of the asides of the book.
func (b *Book) AsideNames() (names []string) {
	for _, a := range b.Asides {
		names = append(names, a.Name)
	}
	return names
}

// NearName returns the ingredient of the list that a name most likely means, and which is not one of the names that are
// taken: one that differs in a few letters, or the only one that has all words of the name, or that has no other words.
// ok is false if there is none.
func (in *Ingredients) NearName(name string, isTaken func(name string) bool) (near string, ok bool) {
	const longest = 1000 // bounds the work on long lists
	var free []string
	for _, other := range in.Names[:min(len(in.Names), longest)] {
		if !isTaken(other) {
			free = append(free, other)
		}
	}
	words := wordsOf(name)
	var within []string
	for _, other := range free {
		others := wordsOf(other)
		lacks := func(of, in []string) bool {
			return len(of) == 0 || slices.ContainsFunc(of, func(word string) bool { return !slices.Contains(in, word) })
		}
		if !lacks(words, others) || !lacks(others, words) {
			within = append(within, other)
		}
	}
	if len(within) == 1 {
		return within[0], true
	}
	if len(within) > 1 {
		return "", false
	}
	return inputerr.Nearest(name, free)
}
