package compile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// Descriptors are features that splits of a forest test in addition to the amounts of ingredients, or
// instead of them if Only is true. The names are those of attributes of the ingredients.
type Descriptors struct {
	Totals   []string // the total of the ingredients with each value
	Means    []string // the mean of a numeric attribute, weighted by amounts
	Ratios   []string // the log-ratio of the totals of each pair of values
	Presence bool     // whether an ingredient, or any with a value, is used
	Only     bool
}

// isEmpty reports whether splits test only amounts.
func (d *Descriptors) isEmpty() bool {
	return d.Totals == nil && d.Means == nil && d.Ratios == nil && !d.Presence && !d.Only
}

// Features returns the features that splits test, or nil for amounts alone, and describes them in words. It
// returns a [inputerr.Error] if an attribute does not exist, or if a mean needs a value that an ingredient
// lacks.
func (d *Descriptors) Features(in *dataset.Ingredients, total int) (features []model.Feature, words string, err error) {
	if d.isEmpty() {
		return nil, "amounts", nil
	}
	w := describer{names: in.Names, total: total}
	for _, name := range slices.Concat(d.Totals, d.Means, d.Ratios) {
		if _, ok := in.Attribute(name); !ok {
			var names []string
			for k := range in.Attributes {
				names = append(names, in.Attributes[k].Name)
			}
			e := &inputerr.Error{File: in.File, Message: "the ingredients have no attribute " + inputerr.Quote(name), Hint: inputerr.DidYouMean(name, names)}
			if e.Hint == "" && len(names) > 0 {
				e.Hint = "they have " + inputerr.List(names, 12)
			}
			return nil, "", e
		}
	}
	for _, name := range d.Totals {
		a, _ := in.Attribute(name)
		w.addTotals(a)
	}
	for _, name := range d.Means {
		a, _ := in.Attribute(name)
		values, err := config.KnownNumbers(in, a, "its mean needs")
		if err == nil {
			err = w.addMean(a.Name, values)
		}
		if err != nil {
			return nil, "", err
		}
	}
	for _, name := range d.Ratios {
		a, _ := in.Attribute(name)
		if err := w.addRatios(a); err != nil {
			return nil, "", err
		}
	}
	if features, err = w.allFeatures(d.Presence, d.Only); err != nil {
		return nil, "", err
	}
	return features, w.words(), nil
}

// AllDescriptors returns the totals of each attribute that groups the ingredients, and the means of each
// numeric attribute. left explains why other attributes are left out.
func AllDescriptors(in *dataset.Ingredients) (d Descriptors, left []string) {
	for k := range in.Attributes {
		a := &in.Attributes[k]
		values, notNumbers := a.Numbers()
		least, greatest := finiteRange(values)
		switch {
		case notNumbers != nil && 3*len(groups(a)) <= 2*len(a.Values):
			d.Totals = append(d.Totals, a.Name)
		case notNumbers != nil:
			left = append(left, inputerr.Quote(a.Name)+": most ingredients have a value of their own")
		case slices.ContainsFunc(values, math.IsNaN):
			left = append(left, inputerr.Quote(a.Name)+": it is not known of all ingredients")
		case least == greatest:
			left = append(left, inputerr.Quote(a.Name)+": it is the same for all ingredients")
		default:
			d.Means = append(d.Means, a.Name)
		}
	}
	return d, left
}

// Candidates returns settings for growing a forest, the simplest first: with amounts, with amounts and
// descriptors, and with descriptors alone. Each is combined with leaves of 1 and of 5, and with √F and F/3
// of the F features tried at a split, unless the options fix these. The candidates have at most 100 trees.
func (d Descriptors) Candidates(in *dataset.Ingredients, total int, numeric bool, o model.Options) (candidates []model.Candidate, err error) {
	sets, names := []Descriptors{{}}, []string{"amounts", "amounts and descriptors", "descriptors alone"}
	if d.Only = false; !d.isEmpty() {
		sets = append(sets, d)
		if d.Only = true; d.Totals != nil || d.Means != nil || d.Ratios != nil {
			sets = append(sets, d)
		}
	}
	for k, set := range sets {
		features, _, err := set.Features(in, total)
		if err != nil {
			return nil, err
		}
		all := cmp.Or(len(features), in.Len())
		leaves, tried := []int{1, 5}, []int{max(1, int(math.Sqrt(float64(all)))), max(1, all/3)}
		if numeric { // the defaults come first
			slices.Reverse(leaves)
			slices.Reverse(tried)
		}
		if all < fewFeatures {
			tried = tried[:1]
		}
		if o.SmallestLeaf > 0 {
			leaves = []int{o.SmallestLeaf}
		}
		if o.FeaturesPerSplit > 0 {
			tried = []int{min(o.FeaturesPerSplit, all)}
		}
		for _, leaf := range leaves {
			for _, of := range tried {
				way := o
				way.SmallestLeaf, way.FeaturesPerSplit = leaf, of
				candidates = append(candidates, model.Candidate{
					Name:     fmt.Sprintf("%s; leaves of %d, %d of %d features a split", names[k], leaf, of, all),
					Features: features, Options: way,
				})
			}
		}
	}
	return candidates, nil
}

// fewFeatures is the number of features from which √F and F/3 differ by a factor of 2.
const fewFeatures = 36

// A describer makes features from attributes.
type describer struct {
	names    []string // names of the ingredients
	total    int
	features []model.Feature
	phrases  []string // descriptions of the features
}

func (d *describer) addTotals(a *dataset.Attribute) {
	all := groups(a)
	for _, g := range all {
		d.features = append(d.features, model.Feature{Name: "total of " + a.Name + " " + g.value, Ingredients: g.members})
	}
	d.phrases = append(d.phrases, inputerr.Count(len(all), "total")+" by "+a.Name)
}

// addMean adds the feature Σ w·x. The weights w map the least value of the attribute to 0, and the greatest
// to the largest weight that a feature can have.
func (d *describer) addMean(name string, values []float64) error {
	largest := math.MaxInt32 / d.total
	if largest < minMeanScale {
		return &inputerr.Error{Message: fmt.Sprintf("a total of %d units is too fine for the mean of %s", d.total, name), Hint: fmt.Sprintf("take a total of at most %d", math.MaxInt32/minMeanScale)}
	}
	least, greatest := finiteRange(values)
	if least == greatest {
		return &inputerr.Error{Message: fmt.Sprintf("%s is %v for all ingredients: its mean tells nothing", inputerr.Quote(name), least), Hint: "leave it out"}
	}
	f := model.Feature{Name: "mean of " + name}
	for i, v := range values {
		part := (float64(v/2) - float64(least/2)) / (float64(greatest/2) - float64(least/2)) // halves prevent overflow
		f.Ingredients = append(f.Ingredients, int32(i))
		f.Weights = append(f.Weights, int32(math.Round(part*float64(largest))))
	}
	d.features = append(d.features, f)
	d.phrases = append(d.phrases, "the mean of "+name)
	return nil
}

// minMeanScale is the least number of steps in the scale of a mean.
const minMeanScale = 1000

func (d *describer) addRatios(a *dataset.Attribute) error {
	all := groups(a)
	if len(all) < 2 || len(all) > maxRatioGroups {
		return &inputerr.Error{Message: fmt.Sprintf("%s has %s, and ratios are of 2 to %d", inputerr.Quote(a.Name), inputerr.Count(len(all), "value"), maxRatioGroups), Hint: "take totals, or an attribute of fewer values"}
	}
	for k, g := range all {
		for _, over := range all[k+1:] {
			d.features = append(d.features, model.Feature{Name: "ratio of " + a.Name + " " + g.value + " to " + over.value, Ingredients: g.members, Over: over.members})
		}
	}
	d.phrases = append(d.phrases, inputerr.Count(len(all)*(len(all)-1)/2, "ratio")+" by "+a.Name)
	return nil
}

// maxRatioGroups bounds the number of groups for ratios. The number of ratios is about half its square.
const maxRatioGroups = 32

// allFeatures returns the features made so far, after the amounts of the ingredients unless only is true.
// With presence it adds, for each ingredient and each total, whether it is used.
func (d *describer) allFeatures(presence, only bool) (features []model.Feature, err error) {
	for i, name := range d.names {
		features = append(features, model.Feature{Name: name, Ingredients: []int32{int32(i)}})
	}
	features = append(features, d.features...)
	if presence {
		flags := 0
		for _, p := range slices.Clone(features) {
			if p.Weights == nil && p.Over == nil {
				features = append(features, model.Feature{Name: "presence of " + strings.TrimPrefix(p.Name, "total of "), Ingredients: p.Ingredients, Presence: true})
				flags++
			}
		}
		d.phrases = append(d.phrases, inputerr.Count(flags, "presence flag"))
	}
	if only {
		features = features[len(d.names):]
	} else {
		d.phrases = slices.Insert(d.phrases, 0, "amounts")
	}
	if len(features) == 0 {
		return nil, &inputerr.Error{Message: "without amounts there is nothing that the forest could look at", Hint: "add totals, means, ratios or presence"}
	}
	seen := make(map[string]bool, len(features))
	for _, p := range features {
		if seen[p.Name] {
			return nil, &inputerr.Error{Message: "the forest would have two features named " + inputerr.Quote(p.Name), Hint: "name each attribute once, or rename an ingredient or an attribute"}
		}
		seen[p.Name] = true
	}
	return features, nil
}

// words describes the features.
func (d *describer) words() string { return strings.Join(d.phrases, " and ") }

// GrowForest grows a forest that predicts a label of a book's recipes from their amounts, closed to total
// units. The label has classes or numbers; recipes without it are left out. Of several candidates, repeated
// cross-validation chooses one; see [model.GrowBest].
func GrowForest(ctx context.Context, book *dataset.Book, label *dataset.Label, total int, numeric bool, candidates []model.Candidate, repeats int) (*model.Forest, error) {
	data, err := forestData(nil, book, label, total, numeric, candidates[0].Features)
	if err != nil {
		return nil, err
	}
	if len(candidates) == 1 {
		return model.Grow(ctx, data, candidates[0].Options)
	}
	return model.GrowBest(ctx, data, candidates, repeats)
}

// forestData returns the training data for a label: the recipes that have it, closed to total units, in the
// book's order. s has the conditions; nil without conditions.
func forestData(s *readContext, book *dataset.Book, label *dataset.Label, total int, numeric bool, features []model.Feature) (*model.Data, error) {
	data := &model.Data{Label: label.Name, Ingredients: book.Ingredients.Names, Total: total, Features: features}
	var numbers []float64
	var err error
	if numeric {
		if numbers, err = label.Numbers(); err != nil {
			return nil, err
		}
	}
	for r := range book.Recipes {
		if label.ClassOf[r] < 0 {
			continue
		}
		row, err := recipeRow(book, r, total)
		if err != nil {
			return nil, err
		}
		data.Rows = append(data.Rows, row)
		if numeric {
			data.Numbers = append(data.Numbers, numbers[r])
		} else {
			data.Classes = append(data.Classes, label.Value(r))
		}
	}
	if len(data.Rows) == 0 {
		return nil, &inputerr.Error{File: book.File, Message: fmt.Sprintf("no recipe has a value of the label %s", inputerr.Quote(label.Name)), Hint: "fill in the column"}
	}
	if s != nil {
		s.conditionTable.addConditions(data, recipesWith(label), nil, nil)
	}
	return data, nil
}
