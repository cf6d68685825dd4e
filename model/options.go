package model

import (
	"fmt"
	"math"
	"runtime"
)

// Splits selects how a node chooses among thresholds.
type Splits int

const (
	// RandomSplits draws one threshold for each tried feature, uniformly between the least and the
	// greatest value in the node, and takes the best of these. This is extremely randomised trees
	// (Geurts, Ernst and Wehenkel 2006), but on bootstrap rows, so that each row has trees that
	// have not seen it.
	RandomSplits Splits = iota
	// BestSplits takes the best of all thresholds (Breiman 2001).
	BestSplits
)

// String returns the name of the splits in files and flags.
func (s Splits) String() string {
	if s == BestSplits {
		return "best"
	}
	return "random"
}

// ParseSplits parses that name.
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
	// Trees is the number of trees; 100 by default.
	Trees int
	// Splits is RandomSplits by default.
	Splits Splits
	// FeaturesPerSplit is the number of features that are drawn, without replacement, and tried at
	// a node. If all of them are constant there, more are drawn until one is not. The default with
	// random splits is all F features for numbers. For classes it is ⌊√F⌋, but at least ten if
	// there are as many. With best splits it is max(1, ⌊F/3⌋) for numbers and max(1, ⌊√F⌋) for
	// classes.
	FeaturesPerSplit int
	// SmallestLeaf is the least number of distinct rows in a leaf; 1 by default,
	// and 5 for numbers with best splits.
	SmallestLeaf int
	// Seed is the key of all random numbers.
	Seed uint64
	// Importances enables the permutation importance of each feature.
	Importances bool
	// Workers is the number of trees that are grown at once, by default one for each processor. It
	// does not change the result.
	Workers int

	shrink float64 // λ of [tree.shrink] for class shares in leaves; 0: no shrinkage
}

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
