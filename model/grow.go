package model

import (
	"context"
	"fmt"
	"slices"
)

// Grow grows a forest from the rows of d. Each tree is grown from a bootstrap sample: as many rows
// as the data has, drawn with replacement. Rows with a large measurement error are drawn less
// often: see [Data.SD].
//
// A node of a tree is split in two steps. First some features are drawn at random. Then the best
// split on these features is taken, that is, the split with the lowest impurity. The impurity is
// Gini's index for classes and the variance for numbers. Of several equally good splits, the first
// is taken.
//   - With [RandomSplits], one threshold is drawn for each feature. It is uniform over the whole
//     numbers from the feature's least value in the node to its greatest value minus 1.
//   - With [BestSplits], all thresholds are tried. A threshold is half way between two neighbouring
//     values, rounded down.
//
// A node becomes a leaf in any of these cases:
//   - All labels are equal.
//   - No feature varies.
//   - Every tried split would leave fewer distinct rows on one side than [Options.SmallestLeaf].
//   - Splits are random, labels are numbers, and the node has few rows. The limit is a fortieth of
//     all rows, but at least four and at most ten rows.
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

// growWithWeights grows a forest, like [Grow]. A bootstrap draws row r with a probability
// proportional to drawWeights[r]. If drawWeights is nil, all rows have the same probability.
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

	t := newFeatureTable(d, f.features)
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
