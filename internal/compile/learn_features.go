package compile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// FeatureSets returns sets of features for a forest, from simple to complex: amounts, amounts with descriptors,
// and descriptors alone. Descriptors are the totals and means of all attributes. In the second set they also
// include the totals of ingredients whose names share a word. The result is nil if there are no descriptors.
func FeatureSets(in *dataset.Ingredients, total int) (sets []model.FeatureSet) {
	known, _ := AllDescriptors(in)
	d := &featureBuilder{ingredientNames: in.Names, total: total}
	for _, name := range known.Totals {
		a, _ := in.Attribute(name)
		d.addTotals(a)
	}
	for _, name := range known.Means {
		a, _ := in.Attribute(name)
		// No mean is made if the total is too fine for one.
		if values, err := a.Numbers(); err == nil && math.MaxInt32/total >= minMeanSteps {
			_ = d.addMean(a.Name, values)
		}
	}
	alone := *d
	d.addWordTotals(sharedWords(in.Names))
	if d.features == nil {
		return nil
	}
	add := func(d *featureBuilder, only bool) {
		// Sets that cannot be made, for example because of duplicate names, are skipped.
		if features, err := d.allFeatures(false, only); err == nil {
			sets = append(sets, model.FeatureSet{Name: d.describe(), Features: features})
		}
	}
	sets = append(sets, model.FeatureSet{Name: "amounts"})
	add(d, false)
	if alone.features != nil {
		add(&alone, true)
	}
	return sets
}

// addWordTotals adds one feature for each group of ingredients that share a word in their names: their total
// amount. It skips a group if there already is a total of the same ingredients.
func (d *featureBuilder) addWordTotals(words []ingredientGroup) {
	added := 0
	there := make(map[string]bool)
	for _, f := range d.features {
		there[fmt.Sprint(f.Ingredients)] = f.Weights == nil && f.Over == nil
	}
	for _, w := range words {
		if key := fmt.Sprint(w.members); !there[key] {
			there[key] = true
			d.features = append(d.features, model.Feature{Name: "total named " + w.value, Ingredients: w.members})
			added++
		}
	}
	if added > 0 {
		d.descriptions = append(d.descriptions, inputerr.Count(added, "total")+" of ingredients that share a word in their names")
	}
}

// minWordLetters is the least number of letters of a word in a name. Shorter words are ignored, because they
// are articles, units and numbers.
const minWordLetters = 3

// sharedWords returns a group for each word that occurs in several names but not in all. The group has the word
// and the indices of the names. If several words occur in exactly the same names, only the first word has a
// group.
func sharedWords(names []string) []ingredientGroup {
	of := make(map[string][]int32)
	for i, name := range names {
		seen := make(map[string]bool)
		for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len([]rune(word)) >= minWordLetters && !seen[word] {
				seen[word] = true
				of[word] = append(of[word], int32(i))
			}
		}
	}
	var words []ingredientGroup
	there := make(map[string]bool)
	for _, word := range slices.Sorted(maps.Keys(of)) {
		key := fmt.Sprint(of[word])
		if n := len(of[word]); n >= 2 && n < len(names) && !there[key] {
			there[key] = true
			words = append(words, ingredientGroup{word, of[word]})
		}
	}
	return words
}
