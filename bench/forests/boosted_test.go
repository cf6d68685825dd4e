package forests

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"kir/internal/compile"
	"kir/model"
)

// TestBoosted compares forests with gradient-boosted trees (Friedman 2001; second-order
// leaves and their penalty as XGBoost has them, splits over all values) by four times
// five-fold cross-validation: the log loss of each class against the others, and of a
// good rating; and the mean squared error of the rating. Of both the best of a few
// settings counts, as the same folds tell, which flatters the one with more settings.
func TestBoosted(t *testing.T) {
	if os.Getenv("KIR_BOOSTED") == "" {
		t.Skip("a minute of work: set KIR_BOOSTED")
	}
	t.Run("cocktails", compareCocktails)
	t.Run("fragrances", compareFragrances)
}

func compareCocktails(t *testing.T) {
	drinks := []*known{cocktails(t, "taste"), cocktails(t, "timing")}
	kinds := compile.Descriptors{Totals: []string{"kind"}}
	for _, d := range []*compile.Descriptors{{}, &kinds, {Totals: kinds.Totals, WithoutAmounts: true}} {
		for _, b := range drinks {
			for _, class := range slices.Compact(slices.Sorted(slices.Values(b.data.Classes))) {
				y := make([]float64, len(b.x))
				count := 0
				for r := range y {
					if b.data.Classes[r] == class {
						y[r] = 1
						count++
					}
				}
				if count >= 10 {
					b.compare(t, b.name+" "+class, d, y, false)
				}
			}
		}
	}
}

func compareFragrances(t *testing.T) {
	scents := fragrances(t)
	families := compile.Descriptors{Totals: []string{"family", "note"}}
	good := make([]float64, len(scents.x))
	for r := range good {
		if scents.good(r) {
			good[r] = 1
		}
	}
	for _, d := range []*compile.Descriptors{{Totals: families.Totals, WithoutAmounts: true}, &families, {}} {
		scents.compare(t, "fragrance, good", d, good, false)
		scents.compare(t, "fragrance, rating", d, scents.data.Numbers, true)
	}
}

// compare cross-validates forests and boosted trees that predict y.
func (b *known) compare(t *testing.T, name string, d *compile.Descriptors, y []float64, numeric bool) {
	t.Helper()
	features := b.features(t, *d)
	count := cmp.Or(len(features), len(b.data.Ingredients))
	var dense [][]float64
	for _, x := range b.x {
		var row []float64
		for i := range x {
			if features == nil {
				row = append(row, float64(x[i]))
			}
		}
		for _, f := range features {
			sum := int32(0)
			for _, i := range f.Ingredients {
				sum += x[i]
			}
			row = append(row, float64(sum))
		}
		dense = append(dense, row)
	}
	var forests []model.Options
	for _, leaf := range []int{1, 3, 5} {
		for _, of := range []int{max(1, int(math.Sqrt(float64(count)))), max(1, count/3)} {
			forests = append(forests, model.Options{Trees: 100, Splits: model.BestSplits, SmallestLeaf: leaf, FeaturesPerSplit: of})
		}
	}
	boosts := []boosting{
		{50, 2, 0.1, 0.7}, {100, 2, 0.1, 0.7}, {50, 3, 0.1, 0.7}, {100, 3, 0.1, 0.7}, {200, 3, 0.05, 0.5}, {200, 4, 0.05, 0.5},
	}
	losses := make([][]float64, len(forests)+len(boosts))
	for k := range losses {
		losses[k] = make([]float64, len(y))
	}
	const repeats, folds = 4, 5
	for repeat := range uint64(repeats) {
		order := rand.New(rand.NewPCG(repeat, 9)).Perm(len(y))
		for part := range folds {
			in := func(r int) bool { return order[r]%folds != part }
			data := b.only(in, features)
			data.Classes, data.Numbers = nil, nil
			var x [][]float64
			var known []float64
			for r := range y {
				if in(r) {
					x, known = append(x, dense[r]), append(known, y[r])
					if numeric {
						data.Numbers = append(data.Numbers, y[r])
					} else {
						data.Classes = append(data.Classes, fmt.Sprint(y[r]))
					}
				}
			}
			var predict []func(r int) float64
			for _, o := range forests {
				o.Seed = repeat
				f, err := model.Grow(t.Context(), data, o)
				if err != nil {
					t.Fatal(err)
				}
				predict = append(predict, func(r int) float64 {
					if numeric {
						return f.Mean(b.x[r])
					}
					return f.Shares(b.x[r])[1]
				})
			}
			for _, o := range boosts {
				score := o.grow(x, known, numeric, repeat)
				predict = append(predict, func(r int) float64 { return score(dense[r]) })
			}
			for r := range y {
				if in(r) {
					continue
				}
				for k := range predict {
					switch p := predict[k](r); {
					case numeric:
						losses[k][r] += (p - y[r]) * (p - y[r]) / repeats
					case y[r] == 1:
						losses[k][r] -= math.Log(max(p, clip)) / repeats
					default:
						losses[k][r] -= math.Log(max(1-p, clip)) / repeats
					}
				}
			}
		}
	}
	best := func(of [][]float64) []float64 {
		return slices.MinFunc(of, func(a, b []float64) int {
			x, _ := mean(a)
			y, _ := mean(b)
			return cmp.Compare(x, y)
		})
	}
	grown, boosted := best(losses[:len(forests)]), best(losses[len(forests):])
	loss, _ := mean(grown)
	other, _ := mean(boosted)
	gain, se := mean(less(grown, boosted))
	what := "amounts"
	if d.Totals != nil {
		what += " and totals"
	}
	if d.WithoutAmounts {
		what = "totals"
	}
	t.Logf("%-34s %-18s forest %8.4f  boosted %8.4f  gain %7.4f ± %.4f", name, what, loss, other, gain, se)
}

// boosting is how boosted trees are grown: how many, how deep, how much of each counts,
// and which share of the features each may test. Each sees 0.8 of the rows; leaves have
// at least 3 rows and a penalty of 1.
type boosting struct {
	trees, depth int
	rate, share  float64
}

// A branch tests a feature, or is a leaf.
type branch struct {
	feature     int // −1: a leaf
	threshold   float64
	left, right int
	value       float64
}

// grow returns the prediction: a number that minimizes the squared error, or the
// probability of 1.
func (o boosting) grow(x [][]float64, y []float64, numeric bool, seed uint64) func(x []float64) float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	var orders [][]int // of the features that vary, the rows by value
	var features []int
	for f := range x[0] {
		if !slices.ContainsFunc(x, func(row []float64) bool { return row[f] != x[0][f] }) {
			continue
		}
		order := make([]int, len(x))
		for r := range order {
			order[r] = r
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a][f], x[b][f]) })
		orders, features = append(orders, order), append(features, f)
	}
	base, _ := mean(y)
	if !numeric {
		base = math.Log(base / (1 - base))
	}
	sum := slices.Repeat([]float64{base}, len(x))
	slope, curve := make([]float64, len(x)), make([]float64, len(x))
	at := make([]int, len(x)) // the branch of each row, −1 if the tree does not see it
	var trees [][]branch
	for range o.trees {
		for r := range x {
			slope[r], curve[r] = y[r]-sum[r], 1
			if !numeric {
				p := 1 / (1 + math.Exp(-sum[r]))
				slope[r], curve[r] = y[r]-p, p*(1-p)
			}
			if at[r] = 0; random.Float64() > 0.8 {
				at[r] = -1
			}
		}
		var tested []int
		for k := range features {
			if random.Float64() < o.share {
				tested = append(tested, k)
			}
		}
		tree := []branch{{feature: -1}}
		for level, first := 0, 0; level < o.depth && first < len(tree); level++ {
			open := len(tree)
			for node := first; node < open; node++ {
				o.split(&tree, node, x, orders, features, tested, slope, curve, at)
			}
			first = open
		}
		slopes, curves := make([]float64, len(tree)), make([]float64, len(tree))
		for r, node := range at {
			if node >= 0 {
				slopes[node] += slope[r]
				curves[node] += curve[r]
			}
		}
		for k := range tree {
			tree[k].value = o.rate * slopes[k] / (curves[k] + 1)
		}
		trees = append(trees, tree)
		for r := range x {
			sum[r] += value(tree, x[r])
		}
	}
	return func(x []float64) float64 {
		v := base
		for _, tree := range trees {
			v += value(tree, x)
		}
		if numeric {
			return v
		}
		return 1 / (1 + math.Exp(-v))
	}
}

// split splits a node where it gains most, if anywhere.
func (o boosting) split(tree *[]branch, node int, x [][]float64, orders [][]int, features, tested []int, slope, curve []float64, at []int) {
	var g, h float64
	rows := 0
	for r := range at {
		if at[r] == node {
			g, h, rows = g+slope[r], h+curve[r], rows+1
		}
	}
	best, cut := 1e-9, branch{feature: -1}
	for _, k := range tested {
		var left, weight, last float64
		seen := 0
		for _, r := range orders[k] {
			if at[r] != node {
				continue
			}
			v := x[r][features[k]]
			if seen >= 3 && rows-seen >= 3 && v > last {
				gain := left*left/(weight+1) + (g-left)*(g-left)/(h-weight+1) - g*g/(h+1)
				if gain > best {
					best, cut = gain, branch{feature: features[k], threshold: (v + last) / 2}
				}
			}
			left, weight, last = left+slope[r], weight+curve[r], v
			seen++
		}
	}
	if cut.feature < 0 {
		return
	}
	cut.left, cut.right = len(*tree), len(*tree)+1
	(*tree)[node] = cut
	*tree = append(*tree, branch{feature: -1}, branch{feature: -1})
	for r := range at {
		if at[r] == node {
			if at[r] = cut.right; x[r][cut.feature] <= cut.threshold {
				at[r] = cut.left
			}
		}
	}
}

// value returns what a tree says.
func value(tree []branch, x []float64) float64 {
	at := 0
	for tree[at].feature >= 0 {
		if x[tree[at].feature] <= tree[at].threshold {
			at = tree[at].left
		} else {
			at = tree[at].right
		}
	}
	return tree[at].value
}
