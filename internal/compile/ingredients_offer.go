package compile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// An IngredientsOffer is a sheet of the workbook, beside that of the recipes, that lists the ingredients with numbers or
// texts, such as prices. It is used only if the user says so.
type IngredientsOffer struct {
	Sheet   string     // name of the sheet
	Columns []string   // names of the attributes that it has
	Listed  int        // number of ingredients of the recipes that it lists
	Lacking []string   // ingredients of the recipes that it does not list
	Near    []NearName // for some of Lacking, an ingredient of the sheet that it most likely is

	list *dataset.Ingredients
}

// A NearName is a name of the recipes and another one, of a sheet of ingredients, that most likely means the same.
type NearName struct{ InRecipes, InSheet string }

// Limits on the search for sheets of ingredients.
const (
	maxOtherSheets    = 20 // maximum number of sheets of a workbook that are searched for lists of the ingredients
	maxOffers         = 3  // maximum number of sheets that are offered
	maxLackingNames   = 12 // maximum number of lacking ingredients for which a near name is searched
	equalSumTolerance = 0.01
)

// FindIngredientsSheets stores in the draft the other sheets of the workbook that list the ingredients with attributes,
// those with most of the ingredients first. A sheet that lists less than half of them, nearly matching names included, is
// none, and neither is one whose columns add up to the same, as recipes do.
func (d *Draft) FindIngredientsSheets(t Table) {
	d.Offers = nil
	if t.ReadableOnce || d.Book == nil || d.Book.Shape == nil || d.Book.Shape.Sheet == "" {
		return
	}
	seen := 0
	in, err := t.Open()
	if err != nil {
		return // the reading of the recipes remains valid
	}
	err = dataset.VisitIngredients(in, t.Name, func(sheet string, read func() (*dataset.Ingredients, error)) (more bool) {
		if seen++; seen > maxOtherSheets {
			return false
		}
		if sheet == d.Book.Shape.Sheet {
			return true
		}
		if list, err := read(); err == nil {
			if offer, ok := d.offerSheet(sheet, list); ok {
				d.Offers = append(d.Offers, offer)
			}
		}
		return true
	})
	if err = errors.Join(err, in.Close()); err != nil {
		d.Offers = nil
		return
	}
	slices.SortStableFunc(d.Offers, func(a, b IngredientsOffer) int { return b.Listed - a.Listed })
	d.Offers = d.Offers[:min(len(d.Offers), maxOffers)]
}

// offerSheet returns the offer of a sheet that lists ingredients. ok is false if it does not list those of the recipes.
func (d *Draft) offerSheet(sheet string, list *dataset.Ingredients) (offer IngredientsOffer, ok bool) {
	offer = IngredientsOffer{Sheet: sheet, list: list}
	for i := range list.Attributes {
		if slices.ContainsFunc(list.Attributes[i].Values, func(v string) bool { return v != "" }) {
			offer.Columns = append(offer.Columns, list.Attributes[i].Name)
		}
	}
	if len(offer.Columns) == 0 || columnsAddUpEqual(list) {
		return offer, false
	}
	for _, name := range d.Book.Ingredients.Names {
		if _, listed := list.Index(name); listed {
			offer.Listed++
		} else {
			offer.Lacking = append(offer.Lacking, name)
		}
	}
	for _, name := range offer.Lacking[:min(len(offer.Lacking), maxLackingNames)] {
		near, found := list.NearName(name, func(other string) bool {
			_, used := d.Book.Ingredients.Index(other)
			return used || slices.ContainsFunc(offer.Near, func(n NearName) bool { return n.InSheet == other })
		})
		if found {
			offer.Near = append(offer.Near, NearName{name, near})
		}
	}
	n := d.Book.Ingredients.Len()
	return offer, 2*(offer.Listed+len(offer.Near)) >= n && offer.Listed >= min(2, n)
}

// columnsAddUpEqual reports whether a list has two columns of numbers or more that all add up to the same, as the columns
// of a table with a recipe in each do.
func columnsAddUpEqual(list *dataset.Ingredients) bool {
	var sums []float64
	for i := range list.Attributes {
		numbers, err := list.Attributes[i].Numbers()
		if err != nil {
			continue
		}
		sum := 0.0
		for _, v := range numbers {
			if !math.IsNaN(v) {
				sum += v
			}
		}
		sums = append(sums, sum)
	}
	return len(sums) > 1 && slices.Max(sums)-slices.Min(sums) <= float64(equalSumTolerance*slices.Max(sums))
}

// Text describes the offer in words.
func (o *IngredientsOffer) Text() string {
	of := fmt.Sprintf("%d of %d ingredients", o.Listed, o.Listed+len(o.Lacking))
	if len(o.Lacking) == 0 {
		of = "all " + inputerr.Count(o.Listed, "ingredient")
		if o.Listed == 1 {
			of = "the ingredient"
		}
	}
	text := fmt.Sprintf("sheet %s lists %s, with %s", inputerr.Quote(o.Sheet), of, inputerr.List(o.Columns, 6))
	if len(o.Lacking) > 0 {
		text += "; it lacks " + inputerr.List(o.Lacking, 6)
	}
	return text
}

// UseIngredientsSheet reads the recipes again with the ingredients of an offered sheet. The sheet must list all of them.
// If it lacks some, the error names them and what they most likely are.
func (d *Draft) UseIngredientsSheet(t Table, o dataset.Options, sheet string) error {
	at := slices.IndexFunc(d.Offers, func(offer IngredientsOffer) bool {
		return dataset.NormalizeName(offer.Sheet) == dataset.NormalizeName(sheet)
	})
	if at < 0 {
		var names []string
		for _, offer := range d.Offers {
			names = append(names, offer.Sheet)
		}
		hint := "give the sheet a column of the ingredients' names, spelt as in the recipes, and one of prices or the like"
		if len(names) > 0 {
			hint = "sheets that do are " + inputerr.List(names, maxOffers)
		}
		return &inputerr.Error{File: t.Name, Message: "sheet " + inputerr.Quote(sheet) + " does not list the ingredients of the recipes", Hint: hint}
	}
	offer := d.Offers[at]
	if len(offer.Lacking) > 0 {
		e := &inputerr.Error{File: t.Name, Message: "sheet " + inputerr.Quote(offer.Sheet) + " lacks " + inputerr.List(offer.Lacking, maxLackingNames) + ", which the recipes have", Hint: "add them there, or write their names as it does"}
		for _, n := range offer.Near {
			return dataset.AddFixes(e, dataset.Fix{Layout: dataset.Layout{Names: map[string]string{n.InRecipes: n.InSheet}}, Effect: "takes them as the same"})
		}
		return e
	}
	o.Sheet = d.Book.Shape.Sheet
	if err := d.readWithIngredients(t, o, offer.list); err != nil {
		return err
	}
	d.Ingredients, d.IngredientsLayout = d.Table, offer.list.GuessedLayout.Merge(dataset.Layout{Sheet: offer.Sheet})
	return nil
}

// readWithIngredients reads the recipes again with a list of their ingredients.
func (d *Draft) readWithIngredients(t Table, o dataset.Options, list *dataset.Ingredients) error {
	with := *d
	o.Ingredients = list
	if err := with.ReadTable(t, o); err != nil {
		return err
	}
	*d = with
	return nil
}

// AsidesText describes what the table says of the ingredients, such as their prices, and which is left out of the
// recipes. It is empty if there is nothing.
func (d *Draft) AsidesText() string {
	if d.Book == nil || len(d.Book.Asides) == 0 {
		return ""
	}
	what, has := "row", "describes"
	if d.Book.Transposed || d.Book.LongForm {
		what = "column"
	}
	if len(d.Book.Asides) > 1 {
		what, has = what+"s", "describe"
	}
	return fmt.Sprintf("the %s %s %s the ingredients", what, inputerr.List(d.Book.AsideNames(), 6), has)
}

// UseAsides reads the recipes again with a table of the ingredients of what the recipes' table says of them. It returns
// the text of this table, which the caller writes to the file at path, relative to the problem file.
func (d *Draft) UseAsides(t Table, o dataset.Options, path string) ([]byte, error) {
	if d.AsidesText() == "" {
		return nil, &inputerr.Error{File: t.Name, Message: "nothing in the table describes the ingredients", Hint: "give them a table of their own, and name it with --ingredients"}
	}
	text, err := d.Book.WriteAsides()
	if err != nil {
		return nil, err
	}
	list, err := dataset.ReadIngredients(bytes.NewReader(text), path, dataset.Layout{Decimal: measure.DecimalPoint})
	if err != nil {
		return nil, err
	}
	if t.ReadableOnce {
		return nil, &inputerr.Error{File: t.Name, Message: "the table can be read only once", Hint: "name a file"}
	}
	if d.Book.Shape != nil {
		o.Sheet = d.Book.Shape.Sheet
	}
	if err := d.readWithIngredients(t, o, list); err != nil {
		return nil, err
	}
	d.Ingredients, d.IngredientsLayout = path, dataset.Layout{Decimal: measure.DecimalPoint}
	return text, nil
}

// ReadIngredientsTable reads a table of the ingredients for the options, from a file of its own. sheet is the sheet of a
// workbook; if it is empty, it is guessed. path is the path of the file as the problem file names it.
func (d *Draft) ReadIngredientsTable(in io.Reader, file, sheet, path string) (*dataset.Ingredients, error) {
	list, err := dataset.ReadIngredients(in, file, dataset.Layout{Sheet: sheet})
	if err != nil {
		return nil, err
	}
	d.Ingredients, d.IngredientsLayout = path, list.GuessedLayout.Merge(dataset.Layout{Sheet: sheet})
	return list, nil
}
