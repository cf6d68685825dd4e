package model

import (
	"context"
	"fmt"
	"slices"
)

// Grow grows a forest. Each tree sees as many rows as there are, drawn with replacement. Rows with
// a large measurement error are drawn less often: see [Data]. At a node, features are drawn at
// random, and the split with the lowest impurity among them is taken, the first drawn if several
// are equal. The impurity is Gini's index for classes and the variance for numbers.
//
// With [RandomSplits] each feature has one threshold, drawn uniformly from the whole numbers from
// its least value in the node to the greatest less 1. With [BestSplits] it has all thresholds, half
// way between two neighbouring values, rounded down.
//
// A node becomes a leaf when its labels are all equal, when none of its features vary, or when
// every split tried would leave fewer distinct rows than the smallest leaf on one side. With random
// splits and numbers a node also becomes a leaf when it has too few rows: fewer than four; of more
// than 160 rows, fewer than a fortieth of them; of more than 400, fewer than ten.
//
// The forest depends only on the data and the seed, not on the number of workers. Grow returns
// ctx's error if ctx ends first. If the data or options are invalid, it returns an error that
// describes the fault; for a row the error wraps a [*RowError].
func Grow(ctx context.Context, d *Data, o Options) (*Forest, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	return grow(ctx, d, o, d.chances())
}

// grow grows a forest whose trees draw rows in proportion to chances.
func grow(ctx context.Context, d *Data, o Options, chances []int64) (*Forest, error) {
	f := &Forest{
		label:       d.Label,
		ingredients: slices.Clone(d.Ingredients),
		total:       d.Total,
		rows:        len(d.Rows),
		chances:     chances,
		beside:      d.Beside,
	}
	f.groups, f.groupCount = d.groups()
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
	if hasDescriptors(f.features) && f.options.Trees > maxDescribed {
		return nil, fmt.Errorf("growing a forest: with descriptors it can have %d trees, and not %d", maxDescribed, f.options.Trees)
	}

	t := newTable(d, f.features)
	labels := d.labelling()
	f.classes, f.numbers = labels.classes, labels.numbers
	f.trees = make([]tree, f.options.Trees)
	bags := make([]bag, f.options.Trees)
	err = inParallel(ctx, f.options.Workers, f.options.Trees, func() func(int) error {
		g := newGrower(t, &labels, f)
		return func(k int) (err error) {
			f.trees[k], bags[k], err = g.grow(ctx, k)
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	if err := f.checkSize(); err != nil {
		return nil, fmt.Errorf("growing a forest: %w", err)
	}
	f.shrink()
	if f.quality, err = f.outOfBag(ctx, t, &labels, bags); err != nil {
		return nil, err
	}
	if f.options.Importances {
		if f.importances, err = f.permute(ctx, t, &labels, bags); err != nil {
			return nil, err
		}
	}
	f.options.Workers = 0 // the number of workers does not affect the forest
	return f, nil
}
