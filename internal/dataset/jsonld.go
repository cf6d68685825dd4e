package dataset

import (
	"context"
	"fmt"
	"html"
	"io"
	"path"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// readRecipes reads the recipes in a JSON-LD text, https://schema.org/Recipe, at any depth, and
// returns them in the long form.
//
// It reads of each recipe: name; recipeIngredient (or ingredients), a text for each, see splitLine;
// and as labels recipeCategory, recipeCuisine and the ratingValue of its aggregateRating.
func readRecipes(ctx context.Context, r io.Reader, file string, units *Units) (list func() rows, notes []Note, err error) {
	j, root, err := readJSON(ctx, r, file)
	if err != nil {
		return nil, nil, err
	}
	var found []*jsonValue
	collectRecipes(root, &found)
	if len(found) == 0 {
		return nil, nil, j.errorAt(0, "there is no recipe in the file", "it needs an object with \"@type\": \"Recipe\", as schema.org has it")
	}
	labels := []struct {
		name string
		path []string
		used bool
	}{
		{name: "category", path: []string{"recipeCategory"}},
		{name: "cuisine", path: []string{"recipeCuisine"}},
		{name: "rating", path: []string{"aggregateRating", "ratingValue"}},
	}
	header := []string{"recipe", "ingredient", "amount", "unit"}
	for i := range labels {
		for _, r := range found {
			labels[i].used = labels[i].used || textAt(r, labels[i].path) != ""
		}
		if labels[i].used {
			header = append(header, labels[i].name)
		}
	}
	cells := [][]string{header}
	offsets := [][2]int{{found[0].offset, found[0].offset}} // of the recipe's name and the line
	var bad []*Error
	var spoken lineNotes
	seen := make(map[string]bool)
	for _, r := range found {
		if err := browsersched.Err(ctx); err != nil {
			return nil, nil, err
		}
		at := r.offset
		if n := r.get("name"); n != nil {
			at = n.offset
		}
		name := NormalizeName(html.UnescapeString(textAt(r, []string{"name"})))
		switch {
		case name == "":
			bad = append(bad, j.errorAt(at, "a recipe without a name", "give it a name"))
			continue
		case seen[name]:
			bad = append(bad, j.errorAt(at, "recipe "+inputerr.Quote(name)+" is there twice", "remove one, or rename one"))
			continue
		}
		seen[name] = true
		lines := r.get("recipeIngredient")
		if lines == nil {
			lines = r.get("ingredients")
		}
		if len(lines.values()) == 0 {
			bad = append(bad, j.errorAt(at, "recipe "+inputerr.Quote(name)+" has no recipeIngredient", "add the list of its ingredients, a text for each"))
		}
		var values []string // of the labels
		for i := range labels {
			if labels[i].used {
				values = append(values, html.UnescapeString(textAt(r, labels[i].path)))
			}
		}
		for _, line := range lines.values() {
			if len(bad) >= mostErrors {
				break
			}
			if line.kind != 's' {
				bad = append(bad, j.errorAt(line.offset, "an ingredient is no text", "write each as one text, such as \"2 cl lime juice\""))
				continue
			}
			l, message := splitLine(html.UnescapeString(line.text), units)
			if message != "" {
				bad = append(bad, j.errorAt(line.offset, message, "write one amount, one unit and a name, such as \"2 cl lime juice\""))
				continue
			}
			spoken.add(l, line.text, func() place { return j.place(line.offset) })
			cells = append(cells, append([]string{name, l.name, l.amount, l.unit}, values...))
			offsets = append(offsets, [2]int{at, line.offset})
		}
		if len(bad) >= mostErrors {
			break
		}
	}
	if len(bad) > 0 {
		return nil, nil, inputerr.Join(bad[:min(len(bad), mostErrors)], len(bad) >= mostErrors)
	}
	places := j.places(offsets)
	where := func(row, field int) place {
		if field == 0 || field > 3 {
			return places[row][0]
		}
		return places[row][1]
	}
	return func() rows { return &memoryRows{cells: cells, placeOf: where} }, spoken.notes(file), nil
}

// collectRecipes finds the recipes in a value.
func collectRecipes(v *jsonValue, found *[]*jsonValue) {
	for _, t := range v.get("@type").values() {
		if name := path.Base(t.text); t.kind == 's' && name == "Recipe" {
			*found = append(*found, v)
			return
		}
	}
	for i := range v.items {
		collectRecipes(&v.items[i], found)
	}
}

// textAt returns the text or the number under the keys; the elements of a list are joined with
// commas.
func textAt(v *jsonValue, keys []string) string {
	for _, key := range keys {
		if v.kind == '[' && len(v.items) > 0 {
			v = &v.items[0]
		}
		if v = v.get(key); v == nil {
			return ""
		}
	}
	var texts []string
	for _, item := range v.values() {
		if item.kind == 's' || item.kind == 'n' {
			texts = append(texts, strings.TrimSpace(item.text))
		}
	}
	return strings.Join(texts, ", ")
}

// lineNotes counts the interpretations of lines of ingredients.
type lineNotes struct {
	cut, bare, count    int // numbers of names that were cut, of lines without an amount, of pieces
	cutAs, bareAs       string
	countAs             string
	cutAt, bareAt, pcAt place
}

func (n *lineNotes) add(l ingredientLine, text string, at func() place) {
	if l.isCut {
		if n.cut++; n.cut == 1 {
			n.cutAs, n.cutAt = fmt.Sprintf("%s is %s", inputerr.Quote(text), inputerr.Quote(l.name)), at()
		}
	}
	if l.hasNoAmount {
		if n.bare++; n.bare == 1 {
			n.bareAs, n.bareAt = inputerr.Quote(text), at()
		}
	}
	if l.unit == "piece" {
		if n.count++; n.count == 1 {
			n.countAs, n.pcAt = inputerr.Quote(text), at()
		}
	}
}

func (n *lineNotes) notes(file string) (notes []Note) {
	add := func(count int, at place, message string) {
		if count > 0 {
			notes = append(notes, Note{File: file, Line: at.line, Column: at.column, Message: message})
		}
	}
	add(n.cut, n.cutAt, fmt.Sprintf("what is in brackets or behind a comma is left out of names (%s): %s", inputerr.Count(n.cut, "time"), n.cutAs))
	add(n.bare, n.bareAt, fmt.Sprintf("an ingredient without an amount is taken to be one \"to taste\" (%s): %s", inputerr.Count(n.bare, "time"), n.bareAs))
	add(n.count, n.pcAt, fmt.Sprintf("an amount without a unit is taken to be in pieces (%s): %s", inputerr.Count(n.count, "time"), n.countAs))
	return notes
}
