package model

import (
	"fmt"
	"math"
	"slices"
)

// Limits on forests that can be grown or loaded.
const (
	// MaxTotal is the largest total of a composition.
	MaxTotal = 1 << 30
	// MaxBesideAmount is the largest amount of an ingredient that stands beside a composition, such
	// as a temperature: see [Data.Beside].
	MaxBesideAmount = 1 << 20
	// MaxTrees is the largest number of trees of a forest.
	MaxTrees = 1 << 16
	// maxAbsLabel is the largest absolute value of a numeric label. With this limit, sums of
	// squares of labels are finite.
	maxAbsLabel = 1e150
)

// A Part is the amount of one ingredient in a composition.
type Part struct {
	Ingredient int32
	Amount     int32
}

// PositiveParts returns the ingredients of the dense composition x that have positive amounts, with
// these amounts.
func PositiveParts(x []int32) []Part {
	var parts []Part
	for i, amount := range x {
		if amount > 0 {
			parts = append(parts, Part{int32(i), amount})
		}
	}
	return parts
}

// Data are the labelled compositions from which a model is learnt. Each row has a label, either in
// Classes or in Numbers.
type Data struct {
	// Label is the name of the quantity that the model predicts.
	Label string
	// Ingredients are the names of the ingredients. Every composition for the model lists its
	// amounts in this order.
	Ingredients []string
	// Total is the sum of the amounts of a composition. The amounts of a row may sum to less, but
	// not to more.
	Total int
	// Beside is the number of ingredients that stand beside the composition, such as a temperature.
	// These ingredients are the last elements of Ingredients. Their amounts, from 0 to
	// [MaxBesideAmount], do not count towards the total. A Gaussian process takes the square root
	// of amount/BesideTotal as their coordinate. Rows that differ only in the amounts of these
	// ingredients are held out together.
	Beside int
	// Features are the quantities that the tests of a tree may use. If Features is nil, they are
	// the amounts of the ingredients.
	Features []Feature
	// Rows are the compositions. A row lists each ingredient at most once.
	Rows [][]Part
	// Classes holds the name of the class of each row. It is nil if the labels are numbers.
	Classes []string
	// Numbers holds the numeric label of each row. It is nil if the labels are classes.
	Numbers []float64
	// SD holds the standard deviation of the measurement of each number, in the unit of the
	// numbers. SD is nil if no standard deviation is known, and an element is NaN if that of its
	// row is unknown. A row with a larger SD has less influence on a Gaussian process, and the
	// trees of a forest draw it less often.
	SD []float64
}

// SplitIntoHalves divides the rows at random into two halves. If the number of rows is odd, the
// first half has one row more. A forest of one half can check the predictions of a forest of the
// other half. The rows of a half keep their order and share memory with d.
func (d *Data) SplitIntoHalves(seed uint64) (a, b *Data) {
	random := newRandomStream(seed, streamForHalving, 0)
	a, b = new(Data), new(Data)
	*a, *b = *d, *d
	a.Rows, a.Classes, a.Numbers, a.SD = nil, nil, nil, nil
	b.Rows, b.Classes, b.Numbers, b.SD = nil, nil, nil, nil
	rest := len(d.Rows)
	want := (rest + 1) / 2 // how many of the remaining rows go to the first half
	for r := range d.Rows {
		half := b
		if random.drawBelow(rest) < want {
			half = a
			want--
		}
		rest--
		half.Rows = append(half.Rows, d.Rows[r])
		if d.Classes != nil {
			half.Classes = append(half.Classes, d.Classes[r])
		}
		if d.Numbers != nil {
			half.Numbers = append(half.Numbers, d.Numbers[r])
		}
		if d.SD != nil {
			half.SD = append(half.SD, d.SD[r])
		}
	}
	return a, b
}

// A RowError describes what is wrong with one row of [Data].
type RowError struct {
	Row    int    // index of the row in [Data.Rows]
	Reason string // what is wrong with the row
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Reason) }

// check returns an error if no model can be learnt from the data. For a fault in one row, the error
// is a [*RowError].
func (d *Data) check() error {
	if err := checkNames("ingredient", d.Ingredients); err != nil {
		return err
	}
	if d.Total < 1 || d.Total > MaxTotal {
		return fmt.Errorf("the total is %d and must be in 1..%d", d.Total, MaxTotal)
	}
	if d.Features != nil {
		if len(d.Features) == 0 {
			return fmt.Errorf("there are no features")
		}
		if err := checkFeatures(d.Features, len(d.Ingredients), d.Total); err != nil {
			return err
		}
	}
	if len(d.Rows) == 0 {
		return fmt.Errorf("there are no rows to grow a forest from")
	}
	switch {
	case d.Classes != nil && d.Numbers != nil:
		return fmt.Errorf("labels are given both as classes and as numbers; give one kind")
	case d.Classes == nil && d.Numbers == nil:
		return fmt.Errorf("there are no labels; give a class or a number for each row")
	case d.Classes != nil && len(d.Classes) != len(d.Rows):
		return fmt.Errorf("there are %d rows and %d classes; each row needs one", len(d.Rows), len(d.Classes))
	case d.Numbers != nil && len(d.Numbers) != len(d.Rows):
		return fmt.Errorf("there are %d rows and %d numbers; each row needs one", len(d.Rows), len(d.Numbers))
	case d.SD != nil && d.Numbers == nil:
		return fmt.Errorf("there are standard deviations of classes; only numbers have them")
	case d.SD != nil && len(d.SD) != len(d.Rows):
		return fmt.Errorf("there are %d rows and %d standard deviations; each row needs one, which may be NaN", len(d.Rows), len(d.SD))
	}
	if d.Beside < 0 || d.Beside >= len(d.Ingredients) {
		return fmt.Errorf("%d of %d ingredients stand beside the composition; at least one must not", d.Beside, len(d.Ingredients))
	}
	inside := len(d.Ingredients) - d.Beside
	seen := make([]int32, len(d.Ingredients)) // 1 + the last row with the ingredient
	for r, row := range d.Rows {
		sum := 0
		for _, p := range row {
			switch {
			case p.Ingredient < 0 || int(p.Ingredient) >= len(d.Ingredients):
				return &RowError{r, fmt.Sprintf("ingredient %d is out of range, there are %d", p.Ingredient, len(d.Ingredients))}
			case seen[p.Ingredient] == int32(r)+1:
				return &RowError{r, fmt.Sprintf("ingredient %q is given twice", d.Ingredients[p.Ingredient])}
			case p.Amount < 0:
				return &RowError{r, fmt.Sprintf("the amount of %q is %d and must not be negative", d.Ingredients[p.Ingredient], p.Amount)}
			}
			seen[p.Ingredient] = int32(r) + 1
			if int(p.Ingredient) < inside {
				sum += int(p.Amount)
			} else if p.Amount > MaxBesideAmount {
				return &RowError{r, fmt.Sprintf("the amount of %q is %d, more than %d", d.Ingredients[p.Ingredient], p.Amount, MaxBesideAmount)}
			}
		}
		if sum > d.Total {
			return &RowError{r, fmt.Sprintf("the amounts sum to %d, more than the total of %d", sum, d.Total)}
		}
		if d.Numbers != nil && !(math.Abs(d.Numbers[r]) <= maxAbsLabel) {
			return &RowError{r, fmt.Sprintf("the label %v is not a number in ±%g", d.Numbers[r], maxAbsLabel)}
		}
		if d.SD != nil && (d.SD[r] < 0 || d.SD[r] > maxAbsLabel) {
			return &RowError{r, fmt.Sprintf("the standard deviation %v is not in 0..%g", d.SD[r], maxAbsLabel)}
		}
		if d.Classes != nil && d.Classes[r] == "" {
			return &RowError{r, "the class has no name"}
		}
	}
	return nil
}

// groupRows returns the index of the group of each row, and the number of groups. A group holds all
// rows that differ only in the ingredients beside the composition (see [Data.Beside]). If there are
// no such ingredients, groupRows returns nil.
func (d *Data) groupRows() (of []int32, count int) {
	return groupRowsByComposition(d.Rows, len(d.Ingredients)-d.Beside, d.Beside)
}

// groupRowsByComposition returns the index of the group of each row and the number of groups, as
// [Data.groupRows] does. The parameter inside is the number of ingredients in the composition. The
// parameter beside is the number of ingredients beside the composition.
func groupRowsByComposition(rows [][]Part, inside, beside int) (of []int32, count int) {
	if beside == 0 {
		return nil, 0
	}
	index := make(map[string]int32)
	for _, row := range rows {
		parts := slices.DeleteFunc(slices.Clone(row), func(p Part) bool { return p.Amount == 0 || int(p.Ingredient) >= inside })
		slices.SortFunc(parts, func(a, b Part) int { return int(a.Ingredient) - int(b.Ingredient) })
		key := fmt.Sprint(parts)
		g, known := index[key]
		if !known {
			g = int32(len(index))
			index[key] = g
		}
		of = append(of, g)
	}
	return of, len(index)
}

// checkNames returns an error if there are no names, if a name is empty, or if two names are equal.
// The parameter what says what the names are of, such as "ingredient", for error messages.
func checkNames(what string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("there is no %s", what)
	}
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("%s %d has no name", what, i)
		}
		if first, doubled := seen[name]; doubled {
			return fmt.Errorf("%ss %d and %d are both named %q", what, first, i, name)
		}
		seen[name] = i
	}
	return nil
}

// A labelling lists the distinct labels of some rows in ascending order, and gives the index of
// each row's label in that list.
type labelling struct {
	classes      []string  // the distinct classes in ascending order; nil if the labels are numbers
	numbers      []float64 // the distinct numbers in ascending order; nil if the labels are classes
	labelIndices []int32   // index of the label of each row in classes or numbers
}

// labelCount returns the number of distinct labels.
func (l *labelling) labelCount() int { return max(len(l.classes), len(l.numbers)) }

// labelling returns the distinct labels of the rows and the index of each row's label.
func (d *Data) labelling() labelling {
	if d.Classes != nil {
		classes, of := rankDistinct(d.Classes)
		return labelling{classes: classes, labelIndices: of}
	}
	positive := slices.Clone(d.Numbers)
	for i := range positive {
		positive[i] += 0 // turns a negative zero into the label zero
	}
	numbers, of := rankDistinct(positive)
	return labelling{numbers: numbers, labelIndices: of}
}

// rankDistinct returns the distinct values in ascending order. The result ranks[r] is the index of
// values[r] in that list.
func rankDistinct[T string | float64](values []T) (distinct []T, ranks []int32) {
	distinct = slices.Compact(slices.Sorted(slices.Values(values)))
	ranks = make([]int32, len(values))
	for r, v := range values {
		k, _ := slices.BinarySearch(distinct, v)
		ranks[r] = int32(k)
	}
	return distinct, ranks
}

// A featureTable holds the features of all rows in sparse form: only nonzero values have entries.
// Each value has an entry in a list sorted by row, and another in a list sorted by feature. A
// column is the list of the entries of one feature.
type featureTable struct {
	rowCount, featureCount int

	// rowStarts[r] is the index of the first entry of row r in rowFeatures and rowValues. An entry
	// is a nonzero value of a feature in a row. One more element holds the end.
	rowStarts   []int
	rowFeatures []int32 // feature of each entry; the entries are sorted by row
	rowValues   []int32 // value of the feature of each entry; the entries are sorted by row

	// columnStarts[f] is the index of the first entry of feature f in columnRows and columnValues.
	// An entry is a nonzero value of a feature in a row. One more element holds the end.
	columnStarts []int
	columnRows   []int32 // row of each entry; the entries are sorted by feature, then by value
	// columnValues holds the value of the feature of each entry. The entries are sorted by feature,
	// then by value.
	columnValues []int32
}

// newFeatureTable returns a table of the features of all rows.
func newFeatureTable(d *Data, features []Feature) *featureTable {
	t := &featureTable{rowCount: len(d.Rows), featureCount: len(features)}
	t.fillRows(d, features)
	t.fillColumns()
	return t
}

// A featureUse says that an ingredient contributes to a feature, and with which weight. The weight
// 0 means that the ingredient is in the denominator of a log-ratio: see [Feature.Over].
type featureUse struct{ feature, weight int32 }

// featureUses returns two lists. The element using[i] lists the features to which ingredient i
// contributes. The list always holds the features that may be nonzero even if all of their
// ingredients have the amount 0.
func featureUses(features []Feature, ingredients int) (using [][]featureUse, always []int32) {
	using = make([][]featureUse, ingredients)
	for f := range features {
		feature := &features[f]
		weight := int32(1)
		for k, i := range feature.Ingredients {
			if feature.Weights != nil {
				weight = feature.Weights[k]
			}
			if weight > 0 {
				using[i] = append(using[i], featureUse{int32(f), weight})
			}
		}
		for _, i := range feature.Over {
			using[i] = append(using[i], featureUse{int32(f), 0})
		}
		if feature.Over != nil {
			always = append(always, int32(f))
		}
	}
	return using, always
}

// fillRows computes the features of all rows, and sets the list of entries that is sorted by row.
func (t *featureTable) fillRows(d *Data, features []Feature) {
	using, always := featureUses(features, len(d.Ingredients))
	t.rowStarts = make([]int, 1, t.rowCount+1)
	value, below := make([]int32, t.featureCount), make([]int32, t.featureCount)
	var touched []int32
	for _, row := range d.Rows {
		touched = append(touched[:0], always...)
		for _, p := range row {
			if p.Amount == 0 {
				continue
			}
			for _, u := range using[p.Ingredient] {
				if value[u.feature] == 0 && features[u.feature].Over == nil {
					touched = append(touched, u.feature)
				}
				value[u.feature] += u.weight * p.Amount
				if u.weight == 0 {
					below[u.feature] += p.Amount
				}
			}
		}
		slices.Sort(touched)
		for _, f := range touched {
			v := features[f].valueFromSums(value[f], below[f])
			value[f], below[f] = 0, 0
			if v == 0 {
				continue
			}
			t.rowFeatures = append(t.rowFeatures, f)
			t.rowValues = append(t.rowValues, v)
		}
		t.rowStarts = append(t.rowStarts, len(t.rowFeatures))
	}
}

// fillColumns sets the columns, that is, the entries sorted by feature. It computes them from the
// entries sorted by row.
func (t *featureTable) fillColumns() {
	t.columnStarts = make([]int, t.featureCount+1)
	for _, f := range t.rowFeatures {
		t.columnStarts[f+1]++
	}
	for f := range t.featureCount {
		t.columnStarts[f+1] += t.columnStarts[f]
	}
	keys := make([]uint64, len(t.rowFeatures)) // value, then row
	next := slices.Clone(t.columnStarts)
	for r := range t.rowCount {
		for k := t.rowStarts[r]; k < t.rowStarts[r+1]; k++ {
			f := t.rowFeatures[k]
			keys[next[f]] = uint64(t.rowValues[k])<<32 | uint64(r)
			next[f]++
		}
	}
	for f := range t.featureCount {
		slices.Sort(keys[t.columnStarts[f]:t.columnStarts[f+1]])
	}
	t.columnRows = make([]int32, len(keys))
	t.columnValues = make([]int32, len(keys))
	for k, key := range keys {
		t.columnRows[k] = int32(uint32(key))
		t.columnValues[k] = int32(key >> 32)
	}
}

// writeRow writes the nonzero features of row r into the dense vector x. All elements of x must be
// zero before.
func (t *featureTable) writeRow(r int, x []int32) {
	for k := t.rowStarts[r]; k < t.rowStarts[r+1]; k++ {
		x[t.rowFeatures[k]] = t.rowValues[k]
	}
}

// clearRow sets to zero the elements of x that [featureTable.writeRow] wrote for row r.
func (t *featureTable) clearRow(r int, x []int32) {
	for k := t.rowStarts[r]; k < t.rowStarts[r+1]; k++ {
		x[t.rowFeatures[k]] = 0
	}
}

// value returns the value of feature f in row r.
func (t *featureTable) value(r, f int32) int32 {
	from, to := t.rowStarts[r], t.rowStarts[r+1]
	k, found := slices.BinarySearch(t.rowFeatures[from:to], f)
	if !found {
		return 0
	}
	return t.rowValues[from+k]
}
