package model

import (
	"fmt"
	"math"
	"runtime"
)

// Splits selects how a node of a tree chooses the threshold of a feature.
type Splits int

const (
	// RandomSplits draws one threshold for each tried feature, uniformly between the feature's
	// least and greatest value in the node. The best of these splits is taken. The result is a
	// forest of extremely randomised trees (Geurts, Ernst and Wehenkel 2006), but grown from
	// bootstrap samples. Every row therefore has trees that have not seen the row.
	RandomSplits Splits = iota
	// BestSplits takes the best of all thresholds of all tried features (Breiman 2001).
	BestSplits
)

// String returns the name of the selection in files and flags: "random" or "best".
func (s Splits) String() string {
	if s == BestSplits {
		return "best"
	}
	return "random"
}

// ParseSplits returns the selection with the given name, "random" or "best".
func ParseSplits(text string) (Splits, error) {
	for _, s := range []Splits{RandomSplits, BestSplits} {
		if text == s.String() {
			return s, nil
		}
	}
	return 0, fmt.Errorf("splits are %q and must be random or best", text)
}

// Options set how a forest is grown. The zero value of a field selects its default.
type Options struct {
	// Trees is the number of trees. The default is 100.
	Trees int
	// Splits selects how thresholds are chosen. The default is [RandomSplits].
	Splits Splits
	// FeaturesPerSplit is the number of features that are tried at a node. They are drawn without
	// replacement. If all of them are constant in the node, further features are drawn until one
	// varies. Let F be the number of features. With random splits, the default is F for numbers,
	// and the greater of ⌊√F⌋ and min(F, 10) for classes. With best splits, it is max(1, ⌊F/3⌋) for
	// numbers and max(1, ⌊√F⌋) for classes.
	FeaturesPerSplit int
	// SmallestLeaf is the least number of distinct rows in a leaf. The default is 1, and 5 for
	// numbers with best splits.
	SmallestLeaf int
	// Seed determines all random numbers.
	Seed uint64
	// Importances makes [Grow] compute the permutation importance of each feature.
	Importances bool
	// Workers is the number of trees that are grown at the same time. The default is one for each
	// processor. The number does not affect the forest.
	Workers int

	shrink float64 // λ of [tree.shrinkShares], which shrinks class shares in leaves; 0 means no shrinkage
}

// withDefaults returns the options with defaults filled in, or an error if an option is invalid.
// The parameter features is the number of features, and numeric tells whether the labels are
// numbers.
func (o Options) withDefaults(features int, numeric bool) (Options, error) {
	switch {
	case o.Splits != RandomSplits && o.Splits != BestSplits:
		return o, fmt.Errorf("the splits are %d and must be RandomSplits or BestSplits", int(o.Splits))
	case o.Trees < 0 || o.Trees > MaxTrees:
		return o, fmt.Errorf("the number of trees is %d and must be in 1..%d", o.Trees, MaxTrees)
	case o.FeaturesPerSplit < 0 || o.FeaturesPerSplit > features:
		return o, fmt.Errorf("the number of features a split is %d and must be in 1..%d", o.FeaturesPerSplit, features)
	case o.SmallestLeaf < 0:
		return o, fmt.Errorf("the smallest leaf is %d and must be at least 1", o.SmallestLeaf)
	}
	if o.Trees == 0 {
		o.Trees = 100
	}
	if o.FeaturesPerSplit == 0 {
		switch {
		case o.Splits == RandomSplits && numeric:
			o.FeaturesPerSplit = features
		case o.Splits == RandomSplits:
			o.FeaturesPerSplit = max(min(features, 10), int(math.Sqrt(float64(features))))
		case numeric:
			o.FeaturesPerSplit = max(1, features/3)
		default:
			o.FeaturesPerSplit = max(1, int(math.Sqrt(float64(features))))
		}
	}
	if o.SmallestLeaf == 0 {
		o.SmallestLeaf = 1
		if numeric && o.Splits == BestSplits {
			o.SmallestLeaf = 5
		}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, nil
}
