package model

import (
	"context"
	"fmt"
	"slices"
)

// Grow grows a forest. Each tree is grown from a bootstrap sample: as many rows as the data has,
// drawn with replacement. Rows with a large measurement error are drawn less often: see [Data.SD].
//
// At each node, features are drawn at random, and the split with the lowest impurity is taken. If
// several splits are equally good, the first one drawn is taken. The impurity is Gini's index for
// classes and the variance for numbers.
//
// With [RandomSplits], one threshold is drawn for each feature, uniformly from the whole numbers
// from the feature's least value in the node to its greatest value minus 1. With [BestSplits], all
// thresholds are tried. A threshold is then half way between two neighbouring values, rounded down.
//
// A node becomes a leaf if all labels are equal, if no feature varies, or if every split tried
// would leave fewer distinct rows on one side than a leaf must have. With random splits and
// numbers, a node also becomes a leaf if it has fewer than a fortieth of all rows. The limit is
// four if a fortieth of all rows is less, and ten if a fortieth of all rows is more.
//
// The forest depends only on the data and the options, not on the number of workers. Grow returns
// the error of ctx if ctx ends first. If the data or the options are invalid, the error describes
// the fault. For a fault in one row the error wraps a [*RowError].
func Grow(ctx context.Context, d *Data, o Options) (*Forest, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	return growWithWeights(ctx, d, o, d.drawWeights())
}

// growWithWeights grows a forest whose bootstrap samples draw row r in proportion to
// drawWeights[r], or uniformly if the slice is nil.
func growWithWeights(ctx context.Context, d *Data, o Options, drawWeights []int64) (*Forest, error) {
	f := &Forest{
		label:       d.Label,
		ingredients: slices.Clone(d.Ingredients),
		totalAmount: d.Total,
		rowCount:    len(d.Rows),
		drawWeights: drawWeights,
		besideCount: d.Beside,
	}
	f.groupOfRow, f.groupCount = d.groupRows()
	f.features = amountFeatures(f.ingredients)
	if d.Features != nil {
		f.features = make([]Feature, len(d.Features))
		for i, feature := range d.Features {
			if feature.Weights == nil {
				feature.Ingredients = slices.Sorted(slices.Values(feature.Ingredients))
			}
			f.features[i] = feature
		}
	}
	var err error
	if f.options, err = o.withDefaults(len(f.features), d.Numbers != nil); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	if hasDescriptors(f.features) && f.options.Trees > maxDescriptorTrees {
		return nil, fmt.Errorf("growing a forest: with descriptors it can have %d trees, and not %d", maxDescriptorTrees, f.options.Trees)
	}

	t := newTable(d, f.features)
	labels := d.labelling()
	f.classes, f.numbers = labels.classes, labels.numbers
	f.trees = make([]tree, f.options.Trees)
	leftOut := make([]leftOutRows, f.options.Trees)
	err = inParallel(ctx, f.options.Workers, f.options.Trees, func() func(int) error {
		g := newGrower(t, &labels, f)
		return func(k int) (err error) {
			f.trees[k], leftOut[k], err = g.growTree(ctx, k)
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	if err := f.checkNodeCount(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	f.shrinkTrees()
	if f.quality, err = f.measureOutOfBag(ctx, t, &labels, leftOut); err != nil {
		return nil, err
	}
	if f.options.Importances {
		if f.importances, err = f.permutationImportances(ctx, t, &labels, leftOut); err != nil {
			return nil, err
		}
	}
	f.options.Workers = 0 // the number of workers does not affect the forest
	return f, nil
}
