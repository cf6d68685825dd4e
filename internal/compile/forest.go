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

// Descriptors select the features that a forest tests in addition to the amounts of ingredients, or instead
// of the amounts if Only is true. Totals, Means and Ratios list names of attributes of the ingredients.
type Descriptors struct {
	Totals         []string // names of attributes; for each value of an attribute, the total of the ingredients with that value is a feature
	Means          []string // names of numeric attributes; the mean of each, weighted by amounts, is a feature
	Ratios         []string // names of attributes; for each pair of values of an attribute, the log-ratio of their totals is a feature
	Presence       bool     // whether the use of each ingredient, and of any ingredient of a total, is a feature
	WithoutAmounts bool     // whether the amounts of ingredients are no features
}

// isEmpty reports whether amounts are the only features.
func (d *Descriptors) isEmpty() bool {
	return d.Totals == nil && d.Means == nil && d.Ratios == nil && !d.Presence && !d.WithoutAmounts
}

// Features returns the features that a forest tests, and a description of the features. Without descriptors
// the features are nil, which stands for all amounts. It returns an [inputerr.Error] if an attribute does not
// exist, or if an ingredient lacks a value that a mean needs.
func (d *Descriptors) Features(in *dataset.Ingredients, total int) (features []model.Feature, words string, err error) {
	if d.isEmpty() {
		return nil, "amounts", nil
	}
	w := featureBuilder{ingredientNames: in.Names, total: total}
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
	if features, err = w.allFeatures(d.Presence, d.WithoutAmounts); err != nil {
		return nil, "", err
	}
	return features, w.describe(), nil
}

// AllDescriptors returns the totals of each attribute that groups the ingredients, and the means of each
// numeric attribute. The result left has a text for each other attribute, which tells why it is left out.
func AllDescriptors(in *dataset.Ingredients) (d Descriptors, left []string) {
	for k := range in.Attributes {
		a := &in.Attributes[k]
		values, notNumbers := a.Numbers()
		least, greatest := finiteRange(values)
		switch {
		case notNumbers != nil && 3*len(groupByValue(a)) <= 2*len(a.Values):
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

// Candidates returns settings for growing a forest, the simplest first. There are up to three sets of
// features: amounts, amounts with descriptors, and descriptors alone. Each set is combined with leaves of 1
// and of 5 rows, and with √F and F/3 of its F features tried at a split. If o sets the leaf size or the
// number of features, only that value is used.
func (d Descriptors) Candidates(in *dataset.Ingredients, total int, numeric bool, o model.Options) (candidates []model.Candidate, err error) {
	sets, names := []Descriptors{{}}, []string{"amounts", "amounts and descriptors", "descriptors alone"}
	if d.WithoutAmounts = false; !d.isEmpty() {
		sets = append(sets, d)
		if d.WithoutAmounts = true; d.Totals != nil || d.Means != nil || d.Ratios != nil {
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
		if all < minFeaturesForThird {
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

// minFeaturesForThird is the number F of features from which F/3 is at least twice √F, so that both are
// tried.
const minFeaturesForThird = 36

// A featureBuilder makes features of amounts and of attributes of the ingredients.
type featureBuilder struct {
	ingredientNames []string        // names of the ingredients
	total           int             // total of a composition, in units
	features        []model.Feature // features made so far, without amounts
	phrases         []string        // descriptions of the features, in words
}

// addTotals adds, for each value of an attribute, the total of the ingredients with that value.
func (d *featureBuilder) addTotals(a *dataset.Attribute) {
	all := groupByValue(a)
	for _, g := range all {
		d.features = append(d.features, model.Feature{Name: "total of " + a.Name + " " + g.value, Ingredients: g.members})
	}
	d.phrases = append(d.phrases, inputerr.Count(len(all), "total")+" by "+a.Name)
}

// addMean adds the mean of an attribute as the feature Σ w·x. The weights w map the least value of the
// attribute to 0, and the greatest value to the largest weight that a feature can have.
func (d *featureBuilder) addMean(name string, values []float64) error {
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

// minMeanScale is the least number of steps in which a mean is measured, from the least to the greatest value
// of its attribute. A total of more than math.MaxInt32/minMeanScale units is therefore an error.
const minMeanScale = 1000

// addRatios adds, for each pair of values of an attribute, the log-ratio of their totals.
func (d *featureBuilder) addRatios(a *dataset.Attribute) error {
	all := groupByValue(a)
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

// maxRatioGroups is the maximum number of values of an attribute for which ratios are made. n values have
// n·(n−1)/2 ratios.
const maxRatioGroups = 32

// allFeatures returns the amounts of the ingredients, then the features made so far. If only is true, it
// leaves out the amounts. If presence is true, it adds for each amount and each total whether the amount or
// total is above 0.
func (d *featureBuilder) allFeatures(presence, only bool) (features []model.Feature, err error) {
	for i, name := range d.ingredientNames {
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
		features = features[len(d.ingredientNames):]
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

// describe returns a description of the features.
func (d *featureBuilder) describe() string { return strings.Join(d.phrases, " and ") }

// GrowForest grows a forest that predicts a label of recipes from the amounts of their ingredients, scaled to
// total units. numeric tells whether the label has numbers or classes. Recipes without the label are left
// out. Repeated cross-validation chooses the best of several candidates; see [model.GrowBest].
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

// forestData returns the training data for a label: the recipes that have the label, scaled to total units,
// in the order of the book. If s is not nil, the data include the conditions of the recipes.
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
		s.conditionTable.addConditions(data, recipesWithLabel(label), nil, nil)
	}
	return data, nil
}
