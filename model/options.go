package model

import (
	"fmt"
	"math"
	"runtime"
)

// Options say how a forest is grown. The zero value of a field asks for its
// default.
type Options struct {
	// Trees is the number of trees; 100 by default.
	Trees int
	// FeaturesPerSplit is how many features are drawn, without replacement, to
	// be tried at a node. If all of them are constant there, more are drawn
	// until one is not. By default max(1, ⌊√F⌋) of F features for classes and
	// max(1, ⌊F/3⌋) for numbers.
	FeaturesPerSplit int
	// SmallestLeaf is the least number of distinct rows in a leaf; 1 by default
	// for classes and 5 for numbers.
	SmallestLeaf int
	// Seed is the key of all random numbers.
	Seed uint64
	// Importances asks for the permutation importance of each feature.
	Importances bool
	// Workers is how many trees are grown at a time, by default one for each
	// processor. It does not change the result.
	Workers int
}

func (o Options) withDefaults(features int, numeric bool) (Options, error) {
	switch {
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
		if numeric {
			o.FeaturesPerSplit = max(1, features/3)
		} else {
			o.FeaturesPerSplit = max(1, int(math.Sqrt(float64(features))))
		}
	}
	if o.SmallestLeaf == 0 {
		o.SmallestLeaf = 1
		if numeric {
			o.SmallestLeaf = 5
		}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, nil
}
