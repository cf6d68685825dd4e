package compile

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A marketHistory is a table of prices or returns of the ingredients over time.
type marketHistory struct {
	*dataset.Series
	file              *yaml.Node  // YAML node that names the file
	ingredientColumns []int       // item i is the index of the column of ingredient i
	otherColumns      []string    // names of the columns that do not belong to an ingredient
	rowOrder          []int       // indices of the rows in order of time
	dates             []time.Time // date of each row, in the order of the file; nil if the rows have no dates

	completeValues [][]float64 // item [t][i] is the value of ingredient i in the complete row t, in order of time; a complete row has no missing value
	completeRows   []int       // indices in the file of the complete rows, in order of time
}

// readHistory reads a history. An error about a missing covariance is placed at n, the node of the property.
func readHistory(ctx context.Context, s *readContext, r *config.Returns, n *yaml.Node) (*marketHistory, error) {
	h := &marketHistory{file: r.File}
	err := s.Files.Read(ctx, r.File, "the file of prices or returns", func(content io.Reader, path string) (err error) {
		h.Series, err = dataset.ReadSeries(content, path, r.Layout, s.IngredientNames)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.WarnGuesses("returns", r.File.Text, r.Layout, h.GuessedLayout, h.Notes)
	isIngredient := func(name string) bool { return slices.Contains(s.IngredientNames, name) }
	if len(h.Columns) == 1 && !isIngredient(h.Columns[0]) && slices.ContainsFunc(h.Times, isIngredient) {
		return nil, yaml.Hint(n.Errorf("markowitz has no covariance, and %s has one %s for each ingredient", inputerr.Quote(r.File.Text), h.Columns[0]), "add covariance: covariance.csv, or name a table of prices or returns over time")
	}
	if h.ingredientColumns, h.otherColumns, err = findIngredientColumns(h.Series, s.IngredientNames); err != nil {
		return nil, err
	}
	if dates, dated := assetstats.ParseDates(h.Times); dated {
		h.dates = dates
	}
	if h.rowOrder, err = sortRowsByTime(h.Series, h.dates); err != nil {
		return nil, err
	}
	for _, r := range h.rowOrder {
		row := make([]float64, len(h.ingredientColumns))
		for i, c := range h.ingredientColumns {
			row[i] = h.Values[r][c]
		}
		if !slices.ContainsFunc(row, math.IsNaN) {
			h.completeValues, h.completeRows = append(h.completeValues, row), append(h.completeRows, r)
		}
	}
	return h, nil
}

// guessKind guesses from the numbers of the history whether they are prices, returns or percentages.
func (h *marketHistory) guessKind() assetstats.Kind {
	if h.Percent {
		return assetstats.Returns
	}
	return assetstats.KindOf(h.completeValues)
}

// rowFrequency returns how many rows of the history a year has. The second result is false if the dates do not
// tell.
func (h *marketHistory) rowFrequency() (assetstats.Frequency, bool) {
	if h.dates == nil {
		return assetstats.Frequency{}, false
	}
	dates := make([]time.Time, len(h.rowOrder))
	for k, r := range h.rowOrder {
		dates[k] = h.dates[r]
	}
	return assetstats.FrequencyOf(dates)
}

// gapsText returns a sentence that tells how many rows of the history were left out because an ingredient has
// no value there. If one ingredient alone causes many of the gaps, the sentence names that ingredient and tells
// how many rows there would be without it.
func (h *marketHistory) gapsText(names []string) string {
	left := 0
	alone := make([]int, len(h.ingredientColumns)) // rows in which only this ingredient has no value
	first := make([]int, len(h.ingredientColumns)) // index in order of its first value
	for i := range first {
		first[i] = -1
	}
	for k, r := range h.rowOrder {
		missing, last := 0, 0
		for i, c := range h.ingredientColumns {
			switch {
			case math.IsNaN(h.Values[r][c]):
				missing, last = missing+1, i
			case first[i] < 0:
				first[i] = k
			}
		}
		if missing > 0 {
			left++
		}
		if missing == 1 {
			alone[last]++
		}
	}
	if left == 0 {
		return ""
	}
	text := fmt.Sprintf(" Left out: %s with gaps.", inputerr.Count(left, "row"))
	worst := 0
	for i, rows := range alone {
		if rows > alone[worst] {
			worst = i
		}
	}
	if 10*alone[worst] <= len(h.rowOrder) {
		return text
	}
	text = fmt.Sprintf(" Left out: %s of %d with gaps, %d of them for gaps of %s alone", inputerr.Count(left, "row"), len(h.rowOrder), alone[worst], inputerr.Quote(names[worst]))
	if first[worst] > 0 {
		text += fmt.Sprintf(", whose first value is that of %s", inputerr.Quote(h.Times[h.rowOrder[first[worst]]]))
	}
	return text + fmt.Sprintf(": without this ingredient there are %d rows instead of %d.", len(h.rowOrder)-left+alone[worst], len(h.rowOrder)-left)
}

// findIngredientColumns returns the index of the column of each ingredient. The result left has the names of
// the other columns.
func findIngredientColumns(t *dataset.Series, names []string) (columns []int, left []string, err error) {
	for _, name := range names {
		at := slices.Index(t.Columns, name)
		if at < 0 {
			near := inputerr.DidYouMean(name, t.Columns)
			if near == "" {
				near = "there are " + inputerr.List(t.Columns, 8) + "; add a column, or leave the ingredient out"
			}
			return nil, nil, t.ErrorAt(-1, -1, "no column is called "+inputerr.Quote(name)+", as an ingredient is", near)
		}
		columns = append(columns, at)
	}
	for k, name := range t.Columns {
		if !slices.Contains(columns, k) {
			left = append(left, name)
		}
	}
	return columns, left, nil
}

// sortRowsByTime returns the indices of the rows of a history in order of time. If the rows have no dates, the
// rows keep the order of the file.
func sortRowsByTime(t *dataset.Series, dates []time.Time) ([]int, error) {
	order := make([]int, len(t.Times))
	for r := range order {
		order[r] = r
	}
	if dates == nil {
		return order, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return dates[a].Compare(dates[b]) })
	for k := range order[1:] {
		if a, b := order[k], order[k+1]; dates[a].Equal(dates[b]) {
			return nil, t.ErrorAt(b, -1, fmt.Sprintf("%s is there twice", inputerr.Quote(t.Times[b])), "remove one of the rows")
		}
	}
	return order, nil
}

// checkValues returns an error for prices that are not above 0, for losses of more than 100 %, and for
// percent signs that contradict the kind.
func (h *marketHistory) checkValues(kind assetstats.Kind) error {
	for k, row := range h.completeValues {
		for i, v := range row {
			switch {
			case kind == assetstats.Prices && h.Percent:
				return h.ErrorAt(h.completeRows[k], h.ingredientColumns[i], "the numbers have percent signs, and prices have none", "write as: returns")
			case kind == assetstats.Percent && h.Percent:
				return h.ErrorAt(h.completeRows[k], h.ingredientColumns[i], "the numbers have percent signs", "write as: returns, or remove as")
			case kind == assetstats.Prices && v <= 0:
				return h.ErrorAt(h.completeRows[k], h.ingredientColumns[i], fmt.Sprintf("a price is %v", v), "a price is above 0: leave the cell empty where it is not known, or write as: returns")
			case kind == assetstats.Returns && v < -1:
				return h.ErrorAt(h.completeRows[k], h.ingredientColumns[i], fmt.Sprintf("a return is %v, a loss of more than all", v), "write as: percent if 1 stands for one percent, or as: prices")
			}
		}
	}
	return nil
}
