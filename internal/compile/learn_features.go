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

// FeatureSets returns feature sets for the splits of a forest, the simplest first: amounts, amounts with
// descriptors, and descriptors alone. The descriptors are the totals and means of all attributes, and the
// totals of ingredients whose names share a word. FeatureSets returns nil if the ingredients have no
// descriptors.
func FeatureSets(in *dataset.Ingredients, total int) (sets []model.FeatureSet) {
	known, _ := AllDescriptors(in)
	d := &describer{names: in.Names, total: total}
	for _, name := range known.Totals {
		a, _ := in.Attribute(name)
		d.addTotals(a)
	}
	for _, name := range known.Means {
		a, _ := in.Attribute(name)
		// No mean is made if the total is too fine for one.
		if values, err := a.Numbers(); err == nil && math.MaxInt32/total >= minMeanScale {
			_ = d.addMean(a.Name, values)
		}
	}
	alone := *d
	d.addWordTotals(sharedWords(in.Names))
	if d.features == nil {
		return nil
	}
	add := func(d *describer, only bool) {
		// Sets that cannot be made, for example because of duplicate names, are skipped.
		if features, err := d.allFeatures(false, only); err == nil {
			sets = append(sets, model.FeatureSet{Name: d.words(), Features: features})
		}
	}
	sets = append(sets, model.FeatureSet{Name: "amounts"})
	add(d, false)
	if alone.features != nil {
		add(&alone, true)
	}
	return sets
}

// addWordTotals adds the totals of the ingredients whose names share a word, unless such a total exists.
func (d *describer) addWordTotals(words []group) {
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
		d.phrases = append(d.phrases, inputerr.Count(added, "total")+" by words in the names")
	}
}

// shortestWord is the least number of letters in a word. Shorter words are articles, units and numbers.
const shortestWord = 3

// sharedWords returns the words that occur in the names of several ingredients, but not of all, with these
// ingredients. Words of the same ingredients are merged.
func sharedWords(names []string) []group {
	of := make(map[string][]int32)
	for i, name := range names {
		seen := make(map[string]bool)
		for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len([]rune(word)) >= shortestWord && !seen[word] {
				seen[word] = true
				of[word] = append(of[word], int32(i))
			}
		}
	}
	var words []group
	there := make(map[string]bool)
	for _, word := range slices.Sorted(maps.Keys(of)) {
		key := fmt.Sprint(of[word])
		if n := len(of[word]); n >= 2 && n < len(names) && !there[key] {
			there[key] = true
			words = append(words, group{word, of[word]})
		}
	}
	return words
}
