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

// Descriptors select the features that a forest tests in addition to the amounts of ingredients, or instead of
// the amounts if WithoutAmounts is true. They are computed from attributes of the ingredients.
type Descriptors struct {
	Totals         []string // names of attributes; one feature for each value of the attribute: the total of the ingredients with that value
	Means          []string // names of numeric attributes; one feature each: the mean of the attribute, weighted by amounts
	Ratios         []string // names of attributes; one feature for each pair of values: the log-ratio of the totals of the ingredients with these values
	Presence       bool     // whether there is a feature that tells if an ingredient is used, for each ingredient, and one for each total
	WithoutAmounts bool     // whether the amounts of ingredients are left out of the features
}

// isEmpty reports whether the amounts of ingredients are the only features.
func (d *Descriptors) isEmpty() bool {
	return d.Totals == nil && d.Means == nil && d.Ratios == nil && !d.Presence && !d.WithoutAmounts
}

// Features returns the features that a forest tests, and a description of the features. If the amounts are the
// only features, it returns nil, which stands for all amounts. It returns an [inputerr.Error] if an attribute
// does not exist, or if an ingredient lacks a number that a mean needs.
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

// AllDescriptors returns descriptors for all suitable attributes: totals for each attribute that groups the
// ingredients, and the mean of each numeric attribute. The result left has one sentence for each other
// attribute, with the reason why it is left out.
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

// Candidates returns settings for growing a forest, from simple to complex. There are up to three sets of
// features: amounts, amounts with descriptors, and descriptors alone. Each set of F features is combined with a
// minimum of 1 and of 5 rows in a leaf, and with √F and F/3 features tried at each split. If o sets the size of
// leaves or the number of features tried, only that value is used.
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

// minFeaturesForThird is the least number F of features for which F/3 is at least twice √F. From this number
// on, both F/3 and √F are tried as the number of features at a split.
const minFeaturesForThird = 36

// A featureBuilder makes features of the amounts and the attributes of the ingredients.
type featureBuilder struct {
	ingredientNames []string        // names of the ingredients
	total           int             // total of a composition, in units
	features        []model.Feature // features made until now, except the amounts of single ingredients
	descriptions    []string        // descriptions of groups of features, in words
}

// addTotals adds one feature for each value of the attribute a: the total amount of the ingredients with that
// value.
func (d *featureBuilder) addTotals(a *dataset.Attribute) {
	all := groupByValue(a)
	for _, g := range all {
		d.features = append(d.features, model.Feature{Name: "total of " + a.Name + " " + g.value, Ingredients: g.members})
	}
	d.descriptions = append(d.descriptions, inputerr.Count(len(all), "total")+" by "+a.Name)
}

// addMean adds the mean of an attribute, as the feature Σ w_i·x_i of the amounts x_i. The weight w_i grows
// linearly with the value of the attribute for ingredient i. It is 0 for the least value, and the largest
// weight that a feature can have for the greatest value.
func (d *featureBuilder) addMean(name string, values []float64) error {
	largest := math.MaxInt32 / d.total
	if largest < minMeanSteps {
		return &inputerr.Error{Message: fmt.Sprintf("a total of %d units is too fine for the mean of %s", d.total, name), Hint: fmt.Sprintf("take a total of at most %d", math.MaxInt32/minMeanSteps)}
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
	d.descriptions = append(d.descriptions, "the mean of "+name)
	return nil
}

// minMeanSteps is the least number of steps in which a mean is measured, from the least to the greatest value
// of the attribute. A total of more than math.MaxInt32/minMeanSteps units is therefore an error.
const minMeanSteps = 1000

// addRatios adds one feature for each pair of values of the attribute a: the log-ratio of the total of the
// ingredients with one value to the total of the ingredients with the other value.
func (d *featureBuilder) addRatios(a *dataset.Attribute) error {
	all := groupByValue(a)
	if len(all) < 2 || len(all) > maxRatioValues {
		return &inputerr.Error{Message: fmt.Sprintf("%s has %s, and ratios are of 2 to %d", inputerr.Quote(a.Name), inputerr.Count(len(all), "value"), maxRatioValues), Hint: "take totals, or an attribute of fewer values"}
	}
	for k, g := range all {
		for _, over := range all[k+1:] {
			d.features = append(d.features, model.Feature{Name: "ratio of " + a.Name + " " + g.value + " to " + over.value, Ingredients: g.members, Over: over.members})
		}
	}
	d.descriptions = append(d.descriptions, inputerr.Count(len(all)*(len(all)-1)/2, "ratio")+" by "+a.Name)
	return nil
}

// maxRatioValues is the maximum number of values of an attribute for which ratios are made. An attribute with n
// values has n·(n−1)/2 ratios.
const maxRatioValues = 32

// allFeatures returns the amounts of the ingredients, and then the features that were added. If withoutAmounts
// is true, it leaves out the amounts. If presence is true, it adds for each amount and each total a feature
// that tells whether the amount or total is above 0.
func (d *featureBuilder) allFeatures(presence, withoutAmounts bool) (features []model.Feature, err error) {
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
		d.descriptions = append(d.descriptions, inputerr.Count(flags, "presence flag"))
	}
	if withoutAmounts {
		features = features[len(d.ingredientNames):]
	} else {
		d.descriptions = slices.Insert(d.descriptions, 0, "amounts")
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

// describe returns a description of all features.
func (d *featureBuilder) describe() string { return strings.Join(d.descriptions, " and ") }

// GrowForest grows a forest that predicts a label of recipes from the amounts of their ingredients, scaled to
// total units. If numeric is true, the label has numbers, otherwise classes. Recipes without a value of the
// label are left out. If there are several candidates, repeated cross-validation chooses the best; see
// [model.GrowBest].
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

// forestData returns the training data for a label: the recipes that have a value of the label, scaled to total
// units, in the order of the book. If s is not nil, the data include the conditions of the recipes.
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
