package model

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// saved returns the forest's file.
func saved(tb testing.TB, f *Forest) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// growingBooks differ in what decides about growing: classes or numbers, sparse
// or dense, much or little to tell.
var growingBooks = map[string]book{
	"cocktails": cocktailBook,
	"dense":     {rows: 120, ingredients: 9, total: 30, classes: 4, seed: 2, sizes: []int{2, 5, 9}},
	"twins":     {rows: 60, ingredients: 3, total: 4, classes: 3, seed: 3, sizes: []int{1, 2, 3}},
	"numbers":   {rows: 90, ingredients: 12, total: 200, seed: 4, sizes: []int{2, 3, 7}},
}

// grownTree is a tree with all that is known of its growth.
type grownTree struct {
	*testing.T
	data  *Data
	o     Options
	x     [][]int32 // by row: its features
	draws []int     // by row
	tree  *tree
	label func(r int) float64
}

// loss returns the impurity of the rows times their weight: Gini's index, or the
// variance.
func (g *grownTree) loss(rows []int) float64 {
	weight, sum, squares := 0.0, 0.0, 0.0
	counts := map[float64]float64{}
	for _, r := range rows {
		w, y := float64(g.draws[r]), g.label(r)
		weight += w
		sum += w * y
		squares += w * y * y
		counts[y] += w
	}
	if g.data.Numbers != nil {
		return squares - sum*sum/weight
	}
	loss := weight
	for _, c := range counts {
		loss -= c * c / weight
	}
	return loss
}

// lowestLoss returns the lowest sum of the two sides' losses over all splits of
// all features, and whether there is any.
func (g *grownTree) lowestLoss(rows []int) (lowest float64, any bool) {
	lowest = math.Inf(1)
	for f := range g.x[0] {
		for _, at := range rows {
			left, right := g.divide(rows, f, g.x[at][f])
			if len(left) >= g.o.SmallestLeaf && len(right) >= g.o.SmallestLeaf {
				lowest, any = min(lowest, g.loss(left)+g.loss(right)), true
			}
		}
	}
	return lowest, any
}

func (g *grownTree) divide(rows []int, f int, threshold int32) (left, right []int) {
	for _, r := range rows {
		if g.x[r][f] <= threshold {
			left = append(left, r)
		} else {
			right = append(right, r)
		}
	}
	return left, right
}

// check compares the node with the definition and returns the node after those
// below it.
func (g *grownTree) check(at int, rows []int) int {
	n := g.tree.nodes[at]
	lowest, divisible := g.lowestLoss(rows)
	pure := !slices.ContainsFunc(rows, func(r int) bool { return g.label(r) != g.label(rows[0]) })
	if n.feature < 0 {
		if !pure && divisible && len(rows) >= 2*g.o.SmallestLeaf {
			g.Errorf("node %d is a leaf though its %d rows can be split", at, len(rows))
		}
		want := map[int32]int32{}
		labels := g.data.labelling()
		for _, r := range rows {
			want[labels.labelIndices[r]] += int32(g.draws[r])
		}
		content, counts := g.tree.leafContent(n.right)
		if len(content) != len(want) || !slices.IsSorted(content) {
			g.Errorf("node %d: leaf has labels %v, want %v", at, content, want)
		}
		for c, label := range content {
			if counts[c] != want[label] {
				g.Errorf("node %d: leaf has %d draws of label %d, want %d", at, counts[c], label, want[label])
			}
		}
		return at + 1
	}
	if pure {
		g.Errorf("node %d is split though its labels are all equal", at)
	}
	left, right := g.divide(rows, int(n.feature), n.threshold)
	if len(left) < g.o.SmallestLeaf || len(right) < g.o.SmallestLeaf {
		g.Fatalf("node %d: sides of %d and %d rows", at, len(left), len(right))
	}
	if loss := g.loss(left) + g.loss(right); loss > lowest+1e-9 {
		g.Errorf("node %d: the split leaves a loss of %g, the best one %g", at, loss, lowest)
	}
	below, above := int32(0), int32(math.MaxInt32)
	for _, r := range left {
		below = max(below, g.x[r][n.feature])
	}
	for _, r := range right {
		above = min(above, g.x[r][n.feature])
	}
	if want := below + (above-below)/2; n.threshold != want {
		g.Errorf("node %d: threshold %d between %d and %d, want %d", at, n.threshold, below, above, want)
	}
	next := g.check(at+1, left)
	if next != int(n.right) {
		g.Fatalf("node %d: right child %d, want %d", at, n.right, next)
	}
	return g.check(next, right)
}

// TestTreesFollowTheDefinition grows forests that try all features at each node,
// so that each split must be a best one, and checks every node by brute force.
func TestTreesFollowTheDefinition(t *testing.T) {
	for name, b := range growingBooks {
		for _, smallest := range []int{1, 4} {
			d := b.data()
			if name == "twins" {
				withGroups(d, rand.New(rand.NewPCG(1, 1)))
			}
			features := max(len(d.Features), len(d.Ingredients))
			o := Options{Trees: 4, Splits: BestSplits, FeaturesPerSplit: features, SmallestLeaf: smallest, Seed: 9}
			f := mustGrow(t, d, o)
			g := &grownTree{T: t, data: d, o: o}
			labels := d.labelling()
			g.label = func(r int) float64 { return float64(labels.labelIndices[r]) }
			if d.Numbers != nil {
				g.label = func(r int) float64 { return d.Numbers[r] }
			}
			for _, row := range d.Rows {
				x := make([]int32, b.ingredients)
				for _, p := range row {
					x[p.Ingredient] = p.Amount
				}
				g.x = append(g.x, f.featureValues(x))
			}
			for k := range f.trees {
				random := newRandomStream(o.Seed, streamForGrowing, uint64(k))
				g.draws = make([]int, len(d.Rows))
				for range d.Rows {
					g.draws[random.drawBelow(len(d.Rows))]++
				}
				var rows []int
				for r, n := range g.draws {
					if n > 0 {
						rows = append(rows, r)
					}
				}
				g.tree = &f.trees[k]
				if end := g.check(0, rows); end != len(g.tree.nodes) {
					t.Errorf("%s, tree %d: %d nodes, want %d", name, k, len(g.tree.nodes), end)
				}
			}
		}
	}
}

// TestGrowingIsTheSameHoweverDone grows the same forest with one worker and with
// many, and with either way to find a feature's values in a node.
func TestGrowingIsTheSameHoweverDone(t *testing.T) {
	for name, b := range growingBooks {
		for _, splits := range []Splits{RandomSplits, BestSplits} {
			d := b.data()
			want := mustGrow(t, d, Options{Splits: splits, Seed: 5, Workers: 1, Importances: true})
			got := mustGrow(t, d, Options{Splits: splits, Seed: 5, Workers: 7, Importances: true})
			if !bytes.Equal(saved(t, got), saved(t, want)) {
				t.Errorf("%s, %s splits: seven workers grow another forest than one", name, splits)
			}
			other := mustGrow(t, d, Options{Splits: splits, Seed: 6, Importances: true})
			if bytes.Equal(saved(t, other), saved(t, want)) {
				t.Errorf("%s, %s splits: another seed grows the same forest", name, splits)
			}
			labels := d.labelling()
			for _, limit := range []int{-1, math.MaxInt} {
				g := newGrower(newFeatureTable(d, want.features), &labels, want)
				g.gatherLimit = limit
				for k := range want.trees {
					tree, _, err := g.growTree(context.Background(), k)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(tree.nodes, want.trees[k].nodes) || !slices.Equal(tree.counts, want.trees[k].counts) {
						t.Fatalf("%s, %s splits: with a limit of %d values to gather, tree %d differs", name, splits, limit, k)
					}
				}
			}
		}
	}
}

// TestRandomSplitsFollowTheDefinition checks each node of forests with random splits:
// what is split can be split, the threshold lies between the least and the greatest
// value in the node, and both sides have enough rows. With leaves of one row a node
// of enough rows that differ is split.
func TestRandomSplitsFollowTheDefinition(t *testing.T) {
	for name, b := range growingBooks {
		for _, o := range []Options{{Trees: 4, Seed: 9}, {Trees: 4, Seed: 9, SmallestLeaf: 4, FeaturesPerSplit: 2}} {
			d := b.data()
			f := mustGrow(t, d, o)
			labels := d.labelling()
			var x [][]int32
			for _, row := range d.Rows {
				dense := make([]int32, b.ingredients)
				for _, p := range row {
					dense[p.Ingredient] = p.Amount
				}
				x = append(x, f.featureValues(dense))
			}
			for k := range f.trees {
				drawn := make([]int32, len(d.Rows))
				drawBootstrap(newRandomStream(o.Seed, streamForGrowing, uint64(k)), drawn, f.drawWeights)
				var check func(at int, rows []int) int
				check = func(at int, rows []int) int {
					n := f.trees[k].nodes[at]
					if n.feature < 0 {
						differ := slices.ContainsFunc(rows, func(r int) bool { return !slices.Equal(x[r], x[rows[0]]) })
						pure := !slices.ContainsFunc(rows, func(r int) bool { return labels.labelIndices[r] != labels.labelIndices[rows[0]] })
						fewest := 2
						if f.Numeric() {
							fewest = splitRowsFloor
						}
						if o.SmallestLeaf < 2 && len(rows) >= fewest && differ && !pure {
							t.Errorf("%s, tree %d, node %d is a leaf of %d rows that differ", name, k, at, len(rows))
						}
						return at + 1
					}
					if f.Numeric() && len(rows) < splitRowsFloor {
						t.Errorf("%s, tree %d, node %d splits %d rows", name, k, at, len(rows))
					}
					var left, right []int
					for _, r := range rows {
						if x[r][n.feature] <= n.threshold {
							left = append(left, r)
						} else {
							right = append(right, r)
						}
					}
					if len(left) < max(1, o.SmallestLeaf) || len(right) < max(1, o.SmallestLeaf) {
						t.Fatalf("%s, tree %d, node %d: %d rows go left and %d right", name, k, at, len(left), len(right))
					}
					return check(check(at+1, left), right)
				}
				var rows []int
				for r, n := range drawn {
					if n > 0 {
						rows = append(rows, r)
					}
				}
				if end := check(0, rows); end != len(f.trees[k].nodes) {
					t.Errorf("%s, tree %d: %d nodes, want %d", name, k, len(f.trees[k].nodes), end)
				}
			}
		}
	}
}

// TestRandomSplitsTakeTheBest has one feature that tells the label at any threshold
// and three that never do: where all are tried, it is always the one, and its
// thresholds are uniform on 0, …, 9. χ² on 9 degrees of freedom exceeds 33.7 with
// probability 1e-4.
func TestRandomSplitsTakeTheBest(t *testing.T) {
	d := &Data{Label: "l", Ingredients: []string{"a", "b", "c", "d"}, Total: 40}
	numbers := &Data{Label: "l", Ingredients: d.Ingredients, Total: 40}
	for r := range 40 {
		row := []Part{{1, int32(r % 2)}, {2, int32(r / 2 % 2)}, {3, int32(r / 4 % 2)}}
		class, number := "no", 0.0
		if r >= 20 {
			row, class, number = append(row, Part{0, 10}), "yes", 1
		}
		d.Rows, d.Classes, numbers.Numbers = append(d.Rows, row), append(d.Classes, class), append(numbers.Numbers, number)
	}
	numbers.Rows = d.Rows
	for _, d := range []*Data{d, numbers} {
		const trees = 2000
		f := mustGrow(t, d, Options{Trees: trees, FeaturesPerSplit: 4, Seed: 3})
		drawn := make([]float64, 10)
		for k := range f.trees {
			if root := f.trees[k].nodes[0]; root.feature != 0 || len(f.trees[k].nodes) != 3 {
				t.Fatalf("tree %d is %v, want one split on feature 0", k, f.trees[k].nodes)
			}
			drawn[f.trees[k].nodes[0].threshold]++
		}
		chi2 := 0.0
		for _, n := range drawn {
			chi2 += (n - trees/10) * (n - trees/10) / (trees / 10)
		}
		if chi2 > 33.7 {
			t.Errorf("thresholds were drawn %v times, χ² = %.1f", drawn, chi2)
		}
	}
}

// TestFeaturesAreDrawnUniformly grows stumps on features that are equally good:
// each must be chosen equally often. χ² on 5 degrees of freedom exceeds 25.7 with
// probability 1e-4.
func TestFeaturesAreDrawnUniformly(t *testing.T) {
	d := &Data{Label: "l", Ingredients: []string{"a", "b", "c", "d", "e", "f"}, Total: 6}
	for range 10 {
		d.Rows = append(d.Rows, nil, []Part{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}})
		d.Classes = append(d.Classes, "no", "yes")
	}
	for _, o := range []Options{
		{FeaturesPerSplit: 1}, {FeaturesPerSplit: 3}, {FeaturesPerSplit: 6},
		{Splits: BestSplits, FeaturesPerSplit: 1}, {Splits: BestSplits, FeaturesPerSplit: 3}, {Splits: BestSplits, FeaturesPerSplit: 6},
	} {
		const trees = 3000
		o.Trees, o.Seed = trees, 3
		f := mustGrow(t, d, o)
		chosen := make([]float64, 6)
		for k := range f.trees {
			chosen[f.trees[k].nodes[0].feature]++
		}
		chi2 := 0.0
		for _, n := range chosen {
			chi2 += (n - trees/6) * (n - trees/6) / (trees / 6)
		}
		if chi2 > 25.7 {
			t.Errorf("%+v: chosen %v times, χ² = %.1f", o, chosen, chi2)
		}
	}
}

// TestFeaturesAreDrawnUntilOneVaries hides one feature that varies among many
// that do not: with one feature a split it must be found all the same.
func TestFeaturesAreDrawnUntilOneVaries(t *testing.T) {
	d := &Data{Label: "l", Total: 100}
	for k := range 50 {
		d.Ingredients = append(d.Ingredients, string(rune('A'+k)))
	}
	for r := range 20 {
		row := []Part{{3, 7}} // positive everywhere, and constant
		class := "no"
		if r%2 == 0 {
			row, class = append(row, Part{40, int32(r + 1)}), "yes"
		}
		d.Rows, d.Classes = append(d.Rows, row), append(d.Classes, class)
	}
	f := mustGrow(t, d, Options{Trees: 50, Splits: BestSplits, FeaturesPerSplit: 1, Seed: 1})
	for k := range f.trees {
		nodes := f.trees[k].nodes
		if len(nodes) != 3 || nodes[0].feature != 40 || nodes[0].threshold != 0 && nodes[0].threshold > 9 {
			t.Fatalf("tree %d is %v, want one split on feature 40", k, nodes)
		}
	}
}

// TestBootstrap checks that each tree's leaves hold as many draws as there are
// rows, and that rows are left out as often as drawing with replacement says. The
// share left out has mean (1−1/n)^n and, over T trees, a standard error of at most
// 1/√(nT) (a single row's is ½/√T, and rows are negatively correlated): 5 of them
// fail once in 1.7 million.
func TestBootstrap(t *testing.T) {
	const rows, trees = 200, 400
	random := newRandomStream(1, streamForGrowing, 0)
	left := 0
	for range trees {
		drawn := make([]bool, rows)
		for range rows {
			drawn[random.drawBelow(rows)] = true
		}
		for _, d := range drawn {
			if !d {
				left++
			}
		}
	}
	share, want := float64(left)/rows/trees, math.Pow(1-1.0/rows, rows)
	if se := 1 / math.Sqrt(rows*trees); math.Abs(share-want) > 5*se {
		t.Errorf("a share of %.4f rows is left out, want %.4f ± %.4f", share, want, se)
	}
	f := mustGrow(t, cocktailBook.data(), Options{Seed: 1})
	for k := range f.trees {
		draws := int64(0)
		for l := range int32(f.trees[k].leafCount()) {
			draws += f.trees[k].leafDraws(l)
		}
		if draws != 69 {
			t.Errorf("tree %d has %d draws, want 69", k, draws)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		splits           Splits
		classes, numbers [2]int // features tried at a split, of 65 and of 12, and rows in a leaf
	}{{RandomSplits, [2]int{10, 1}, [2]int{12, 1}}, {BestSplits, [2]int{8, 1}, [2]int{4, 5}}} {
		for book, want := range map[string][2]int{"cocktails": c.classes, "numbers": c.numbers} {
			o := mustGrow(t, growingBooks[book].data(), Options{Splits: c.splits}).Options()
			if got := [2]int{o.FeaturesPerSplit, o.SmallestLeaf}; o.Trees != 100 || got != want {
				t.Errorf("%s, %s splits: the defaults are %+v", book, c.splits, o)
			}
		}
	}
}

func TestGrowEndsWithItsContext(t *testing.T) {
	d := book{rows: 3000, ingredients: 300, total: 1000, classes: 5, seed: 1, sizes: []int{40}}.data()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	before := runtime.NumGoroutine()
	f, err := Grow(ctx, d, Options{Trees: 10000})
	if !errors.Is(err, context.Canceled) || f != nil {
		t.Errorf("got forest %v, error %v; want none and %v", f != nil, err, context.Canceled)
	}
	// The one that cancelled may not have ended yet, nor those that are done.
	after := runtime.NumGoroutine()
	for wait := time.Millisecond; after > before && wait < 2*time.Second; wait *= 2 {
		time.Sleep(wait)
		after = runtime.NumGoroutine()
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestBadData(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(d *Data, o *Options)
		want  string
		row   int // −1: not a row
	}{
		{"no rows", func(d *Data, _ *Options) { d.Rows = nil }, "no rows", -1},
		{"no ingredients", func(d *Data, _ *Options) { d.Ingredients = nil }, "no ingredient", -1},
		{"doubled ingredient", func(d *Data, _ *Options) { d.Ingredients[1] = "a" }, `ingredients 0 and 1 are both named "a"`, -1},
		{"total", func(d *Data, _ *Options) { d.Total = 0 }, "total is 0 and must be in 1..", -1},
		{"no labels", func(d *Data, _ *Options) { d.Classes = nil }, "no labels", -1},
		{"both labels", func(d *Data, _ *Options) { d.Numbers = []float64{1, 2} }, "both as classes and as numbers", -1},
		{"few classes", func(d *Data, _ *Options) { d.Classes = d.Classes[:1] }, "2 rows and 1 classes", -1},
		{"few numbers", func(d *Data, _ *Options) { d.Classes, d.Numbers = nil, []float64{1} }, "2 rows and 1 numbers", -1},
		{"NaN", func(d *Data, _ *Options) { d.Classes, d.Numbers = nil, []float64{1, math.NaN()} }, "NaN is not a number", 1},
		{"infinite", func(d *Data, _ *Options) { d.Classes, d.Numbers = nil, []float64{math.Inf(1), 1} }, "+Inf is not a number", 0},
		{"unnamed class", func(d *Data, _ *Options) { d.Classes[1] = "" }, "the class has no name", 1},
		{"negative amount", func(d *Data, _ *Options) { d.Rows[1][0].Amount = -1 }, `amount of "a" is -1`, 1},
		{"unknown ingredient", func(d *Data, _ *Options) { d.Rows[0][0].Ingredient = 2 }, "ingredient 2 is out of range", 0},
		{"negative ingredient", func(d *Data, _ *Options) { d.Rows[0][0].Ingredient = -1 }, "ingredient -1 is out of range", 0},
		{"doubled part", func(d *Data, _ *Options) { d.Rows[1] = []Part{{0, 1}, {0, 1}} }, `"a" is given twice`, 1},
		{"large sum", func(d *Data, _ *Options) { d.Rows[1] = []Part{{0, 6}, {1, 5}} }, "sum to 11, more than the total of 10", 1},
		{"no features", func(d *Data, _ *Options) { d.Features = []Feature{} }, "no features", -1},
		{"unnamed feature", func(d *Data, _ *Options) { d.Features = []Feature{{Ingredients: []int32{0}}} }, "feature 0 has no name", -1},
		{"empty feature", func(d *Data, _ *Options) { d.Features = []Feature{{Name: "g"}} }, "has no ingredients", -1},
		{"feature out of range", func(d *Data, _ *Options) { d.Features = []Feature{{Name: "g", Ingredients: []int32{2}}} }, "ingredient 2 is out of range", -1},
		{"doubled in feature", func(d *Data, _ *Options) { d.Features = []Feature{{Name: "g", Ingredients: []int32{1, 1}}} }, "given twice", -1},
		{"doubled feature", func(d *Data, _ *Options) {
			d.Features = []Feature{{Name: "g", Ingredients: []int32{1}}, {Name: "g", Ingredients: []int32{0}}}
		}, `features 0 and 1 are both named "g"`, -1},
		{"trees", func(_ *Data, o *Options) { o.Trees = -1 }, "number of trees is -1", -1},
		{"many trees", func(_ *Data, o *Options) { o.Trees = MaxTrees + 1 }, "must be in 1..65536", -1},
		{"features a split", func(_ *Data, o *Options) { o.FeaturesPerSplit = 3 }, "features a split is 3 and must be in 1..2", -1},
		{"smallest leaf", func(_ *Data, o *Options) { o.SmallestLeaf = -2 }, "smallest leaf is -2", -1},
	} {
		d := &Data{
			Label: "l", Ingredients: []string{"a", "b"}, Total: 10,
			Rows:    [][]Part{{{0, 10}}, {{0, 5}, {1, 5}}},
			Classes: []string{"x", "y"},
		}
		var o Options
		c.spoil(d, &o)
		_, err := Grow(context.Background(), d, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		var row *RowError
		if errors.As(err, &row) != (c.row >= 0) || row != nil && row.Row != c.row {
			t.Errorf("%s: error %v should be of row %d", c.name, err, c.row)
		}
	}
}

// TestDegenerateData grows forests where there is nothing to learn from.
func TestDegenerateData(t *testing.T) {
	for name, d := range map[string]*Data{
		"one row":          {Ingredients: []string{"a"}, Total: 5, Rows: [][]Part{{{0, 5}}}, Classes: []string{"x"}},
		"one class":        {Ingredients: []string{"a", "b"}, Total: 5, Rows: [][]Part{{{0, 5}}, {{1, 5}}}, Classes: []string{"x", "x"}},
		"equal rows":       {Ingredients: []string{"a"}, Total: 5, Rows: [][]Part{{{0, 5}}, {{0, 5}}, {{0, 5}}}, Classes: []string{"x", "y", "x"}},
		"empty rows":       {Ingredients: []string{"a"}, Total: 5, Rows: [][]Part{nil, nil, nil}, Classes: []string{"x", "y", "x"}},
		"one number":       {Ingredients: []string{"a", "b"}, Total: 5, Rows: [][]Part{{{0, 5}}, {{1, 5}}}, Numbers: []float64{3, 3}},
		"opposite zeros":   {Ingredients: []string{"a", "b"}, Total: 5, Rows: [][]Part{{{0, 5}}, {{1, 5}}}, Numbers: []float64{0, math.Copysign(0, -1)}},
		"very far numbers": {Ingredients: []string{"a", "b"}, Total: 5, Rows: [][]Part{{{0, 5}}, {{1, 5}}, {{0, 3}}}, Numbers: []float64{-maxAbsLabel, maxAbsLabel, 0}},
	} {
		d.Label = "l"
		f := mustGrow(t, d, Options{Trees: 20, Importances: true, SmallestLeaf: 1})
		again, err := Read(bytes.NewReader(saved(t, f)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "one row" || name == "one class" || name == "one number" {
			if shape := f.Shape(); shape.MaxDepth != 0 || shape.MedianDepth != 0 || shape.Leaves != 20 || shape.LargestTree != 1 {
				t.Errorf("%s: leaves alone are %+v", name, shape)
			}
		}
		w := AtLeast(0)
		if !f.Numeric() {
			w = AnyOf(f.classes...)
		}
		s := mustScore(t, again, w)
		if p := s.Probability(s.Point(make([]int32, len(d.Ingredients)))); !(p >= 0 && p <= 1) || !f.Numeric() && p != 1 {
			t.Errorf("%s: probability %g", name, p)
		}
	}
}
