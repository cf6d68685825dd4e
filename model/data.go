package model

import (
	"fmt"
	"math"
	"slices"
)

// Limits on what can be grown or loaded.
const (
	// MaxTotal is the largest total of a composition.
	MaxTotal = 1 << 30
	// BesideTotal is the largest amount of what stands beside a composition; see [Data.Beside].
	BesideTotal = 1 << 20
	// MaxTrees is the largest number of trees.
	MaxTrees = 1 << 16
	// maxNumber bounds numeric labels, so that sums of their squares are finite.
	maxNumber = 1e150
)

// A Part is the amount of one ingredient in a composition.
type Part struct {
	Ingredient int32
	Amount     int32
}

// Parts returns the positive amounts of the dense composition x.
func Parts(x []int32) []Part {
	var parts []Part
	for i, amount := range x {
		if amount > 0 {
			parts = append(parts, Part{int32(i), amount})
		}
	}
	return parts
}

// Data are the labelled compositions from which a model is learnt. Either Classes or Numbers holds
// a label for each row.
type Data struct {
	// Label names the quantity to predict.
	Label string
	// Ingredients are the names of the ingredients. Their order is that of the amounts in every
	// composition the model will see.
	Ingredients []string
	// Total is the sum of a composition's amounts. A row's sum may not exceed it.
	Total int
	// Beside is how many of Ingredients, the last ones, stand beside the composition, such as a
	// temperature. Their amounts, from 0 to [BesideTotal], do not count towards the total. A process
	// takes the root of amount/BesideTotal as their coordinate. Rows that differ in these amounts
	// alone are held out together.
	Beside int
	// Features are the quantities that splits may test; nil means the amount of each ingredient.
	Features []Feature
	// Rows are the compositions, each ingredient at most once.
	Rows [][]Part
	// Classes are the rows' classes by name.
	Classes []string
	// Numbers are the rows' numeric labels.
	Numbers []float64
	// SD are the standard deviations of the measurements in Numbers, in their unit. SD is nil if
	// none is known, and a row's is NaN if it is not known. The larger a row's SD, the less a
	// Gaussian process trusts it, and the less often the trees of a forest draw it.
	SD []float64
}

// Halves divides the rows at random into two halves; the first may have one row more. A forest of
// one half checks the predictions of the other's. The rows of each keep their order; they are
// shared with d.
func (d *Data) Halves(seed uint64) (a, b *Data) {
	random := newStream(seed, halving, 0)
	a, b = new(Data), new(Data)
	*a, *b = *d, *d
	a.Rows, a.Classes, a.Numbers, a.SD = nil, nil, nil, nil
	b.Rows, b.Classes, b.Numbers, b.SD = nil, nil, nil, nil
	rest := len(d.Rows)
	want := (rest + 1) / 2 // how many of the remaining rows go to the first half
	for r := range d.Rows {
		half := b
		if random.below(rest) < want {
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

// A RowError describes the fault in one row of [Data].
type RowError struct {
	Row    int // index in Data.Rows
	Reason string
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Reason) }

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
			} else if p.Amount > BesideTotal {
				return &RowError{r, fmt.Sprintf("the amount of %q is %d, more than %d", d.Ingredients[p.Ingredient], p.Amount, BesideTotal)}
			}
		}
		if sum > d.Total {
			return &RowError{r, fmt.Sprintf("the amounts sum to %d, more than the total of %d", sum, d.Total)}
		}
		if d.Numbers != nil && !(math.Abs(d.Numbers[r]) <= maxNumber) {
			return &RowError{r, fmt.Sprintf("the label %v is not a number in ±%g", d.Numbers[r], maxNumber)}
		}
		if d.SD != nil && (d.SD[r] < 0 || d.SD[r] > maxNumber) {
			return &RowError{r, fmt.Sprintf("the standard deviation %v is not in 0..%g", d.SD[r], maxNumber)}
		}
		if d.Classes != nil && d.Classes[r] == "" {
			return &RowError{r, "the class has no name"}
		}
	}
	return nil
}

// groups returns the number of the group of each row, from 0, and how many groups there are: rows that
// differ in what stands beside the composition alone are one group. It returns nil if nothing does.
func (d *Data) groups() (of []int32, count int) {
	return rowGroups(d.Rows, len(d.Ingredients)-d.Beside, d.Beside)
}

// rowGroups is [Data.groups] of rows whose first ingredients are inside the composition.
func rowGroups(rows [][]Part, inside, beside int) (of []int32, count int) {
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

// checkNames returns an error if there are no names, or if one is empty or occurs twice.
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

// A labelling gives each row the index of its label in a sorted list of the
// distinct ones.
type labelling struct {
	classes []string  // sorted, or nil
	numbers []float64 // sorted, or nil
	labelOf []int32   // by row: the index of the label
}

func (l *labelling) distinctLabels() int { return max(len(l.classes), len(l.numbers)) }

func (d *Data) labelling() labelling {
	if d.Classes != nil {
		classes, of := ranks(d.Classes)
		return labelling{classes: classes, labelOf: of}
	}
	positive := slices.Clone(d.Numbers)
	for i := range positive {
		positive[i] += 0 // turns a negative zero into the label zero
	}
	numbers, of := ranks(positive)
	return labelling{numbers: numbers, labelOf: of}
}

// ranks returns the distinct values in ascending order, and the index of each value in that list.
func ranks[T string | float64](values []T) (distinct []T, of []int32) {
	distinct = slices.Compact(slices.Sorted(slices.Values(values)))
	of = make([]int32, len(values))
	for r, v := range values {
		k, _ := slices.BinarySearch(distinct, v)
		of[r] = int32(k)
	}
	return distinct, of
}

// A table holds the features of the rows in sparse form, once by row and once by column. Zeros are not stored.
type table struct {
	rows, features int

	rowStart   []int // by row, then one more: where its features begin
	rowFeature []int32
	rowValue   []int32

	colStart []int // by feature, then one more: where its rows begin
	colRow   []int32
	colValue []int32 // ascending within a column; equal values by row
}

func newTable(d *Data, features []Feature) *table {
	t := &table{rows: len(d.Rows), features: len(features)}
	t.setRows(d, features)
	t.setColumns()
	return t
}

// A featureUse is a feature that an ingredient adds to. Weight 0 means in Over.
type featureUse struct{ feature, weight int32 }

// featureUses returns, by ingredient, the features that it adds to. always lists the features that
// may be nonzero even if none of their ingredients is.
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

// setRows computes the features of the rows.
func (t *table) setRows(d *Data, features []Feature) {
	using, always := featureUses(features, len(d.Ingredients))
	t.rowStart = make([]int, 1, t.rows+1)
	value, below := make([]int32, t.features), make([]int32, t.features)
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
			v := features[f].fromSums(value[f], below[f])
			value[f], below[f] = 0, 0
			if v == 0 {
				continue
			}
			t.rowFeature = append(t.rowFeature, f)
			t.rowValue = append(t.rowValue, v)
		}
		t.rowStart = append(t.rowStart, len(t.rowFeature))
	}
}

// setColumns computes the columns from the rows.
func (t *table) setColumns() {
	t.colStart = make([]int, t.features+1)
	for _, f := range t.rowFeature {
		t.colStart[f+1]++
	}
	for f := range t.features {
		t.colStart[f+1] += t.colStart[f]
	}
	keys := make([]uint64, len(t.rowFeature)) // value, then row
	next := slices.Clone(t.colStart)
	for r := range t.rows {
		for k := t.rowStart[r]; k < t.rowStart[r+1]; k++ {
			f := t.rowFeature[k]
			keys[next[f]] = uint64(t.rowValue[k])<<32 | uint64(r)
			next[f]++
		}
	}
	for f := range t.features {
		slices.Sort(keys[t.colStart[f]:t.colStart[f+1]])
	}
	t.colRow = make([]int32, len(keys))
	t.colValue = make([]int32, len(keys))
	for k, key := range keys {
		t.colRow[k] = int32(uint32(key))
		t.colValue[k] = int32(key >> 32)
	}
}

// writeRow writes row r into the dense feature vector x, which must be zero.
func (t *table) writeRow(r int, x []int32) {
	for k := t.rowStart[r]; k < t.rowStart[r+1]; k++ {
		x[t.rowFeature[k]] = t.rowValue[k]
	}
}

// clear resets the entries of x that writeRow set for row r to zero.
func (t *table) clear(r int, x []int32) {
	for k := t.rowStart[r]; k < t.rowStart[r+1]; k++ {
		x[t.rowFeature[k]] = 0
	}
}

// value returns feature f of row r.
func (t *table) value(r, f int32) int32 {
	from, to := t.rowStart[r], t.rowStart[r+1]
	k, found := slices.BinarySearch(t.rowFeature[from:to], f)
	if !found {
		return 0
	}
	return t.rowValue[from+k]
}
