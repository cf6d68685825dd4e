package dataset

import (
	"io"
	"maps"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

const (
	minRecipeSections = 2   // fewest headings that name recipes
	minMaterialShare  = 0.3 // least share of names of materials, if the name of the column does not tell
	maxDistinctShare  = 0.8 // greatest share of different names below them, as recipes have ingredients in common
)

// namesRecipesInHeadings reports whether the table has no column of recipes and names each in a row of its own above its
// ingredients: the first row is one, and the names below the headings recur.
func (t *table) namesRecipesInHeadings(o Options) bool {
	if len(o.Columns) > 0 || len(t.header) < 2 || slices.ContainsFunc(t.header[1:], func(name string) bool { return matchesRole(name, RecipeColumn) }) || matchesRole(t.header[0], RecipeColumn) {
		return false
	}
	head := t.firstRows()
	headings, rows := make(map[string]bool), 0
	names := make(map[string]bool)
	started, last := false, ""
	for row := range readableRows(head, maxProfileRows) {
		if !started {
			started = len(row) > 0 && head.Place(0).Line == t.headerPlaces[0].Line
			continue
		}
		if tablefile.IsBlank(row) {
			continue
		}
		name := firstText(row)
		switch {
		case len(row) > 0 && strings.TrimSpace(row[0]) == "":
			return false
		case countFilled(tablefile.WithoutFilled(head, row)) == 1:
			if headings[name] || last != "" && len(headings) > 0 && rows == 0 {
				return false
			}
			headings[name], last = true, name
		case len(headings) == 0:
			return false
		case !hasSumWord(name):
			rows++
			names[name] = true
		}
	}
	if !matchesRole(t.header[0], IngredientColumn) && shareOfMaterials(slices.Collect(maps.Keys(names))) < minMaterialShare {
		return false
	}
	return len(headings) >= minRecipeSections && rows >= 2*len(headings) && float64(len(names)) <= float64(maxDistinctShare*float64(rows))
}

// expandHeadings returns the table with a first column of recipes, whose names stand in rows of their own.
func (t *table) expandHeadings(l Layout, units *measure.Units) (*table, error) {
	cells := [][]string{append([]string{string(RecipeColumn)}, t.header...)}
	places := [][]tablefile.Place{append([]tablefile.Place{t.headerPlaces[0]}, t.headerPlaces...)}
	exacts := make(map[[2]int]bool)
	recipe, first := "", ""
	for {
		row, err := t.nextFilledRow(0)
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if row = tablefile.WithoutFilled(t.rows, row); countFilled(row) == 1 {
			if recipe = strings.Clone(firstText(row)); first == "" {
				first = recipe
			}
			continue
		}
		if (len(cells)+1)*(len(t.header)+1) > tablefile.MaxCells {
			return nil, t.errorAtPlace(t.rows.Place(0), "the table has too many cells", "write the recipe in each row")
		}
		texts, at := []string{recipe}, []tablefile.Place{t.rows.Place(0)}
		for i := range len(t.header) {
			text := ""
			if i < len(row) {
				text = strings.Clone(row[i])
			}
			if texts = append(texts, text); t.rows.IsNumber(i) {
				exacts[[2]int{len(cells), i + 1}] = true
			}
			at = append(at, t.rows.Place(i))
		}
		cells, places = append(cells, texts), append(places, at)
	}
	t.addNote(t.headerPlaces[0], "rows with one text name the recipes below them, such as "+inputerr.Quote(first), "")
	return t.withGrid(&grid{cells: cells, places: places, exact: exacts}, l, units)
}
