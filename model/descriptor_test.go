package model

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// withDescriptors makes the features of a book amounts, totals, presence, means and
// log-ratios of random groups.
func withDescriptors(d *Data, random *rand.Rand) {
	withGroups(d, random)
	n := len(d.Ingredients)
	largest := int32(math.MaxInt32 / d.Total)
	for g := range 6 {
		mean := Feature{Name: fmt.Sprintf("mean %d", g)}
		for _, i := range random.Perm(n)[:1+random.IntN(n)] {
			w := largest
			if random.IntN(4) > 0 {
				w = random.Int32N([]int32{2, 10, min(largest, 1<<20) + 1}[g%3])
			}
			mean.Ingredients, mean.Weights = append(mean.Ingredients, int32(i)), append(mean.Weights, w)
		}
		ratio := Feature{Name: fmt.Sprintf("ratio %d", g)}
		order := random.Perm(n)
		middle := 1 + random.IntN(n-1)
		end := middle + 1 + random.IntN(n-middle)
		for k, i := range order[:end] {
			if k < middle {
				ratio.Ingredients = append(ratio.Ingredients, int32(i))
			} else {
				ratio.Over = append(ratio.Over, int32(i))
			}
		}
		d.Features = append(d.Features, mean, ratio)
	}
}

// A log-ratio is what its definition says, in exact arithmetic, and near the logarithm.
func TestRatio(t *testing.T) {
	f := Feature{Ingredients: []int32{0}, Over: []int32{1}}
	random := rand.New(rand.NewPCG(1, 5))
	half := big.NewRat(1, 2)
	for range 3000 {
		limit := int32(1) << (1 + random.IntN(30))
		x := []int32{random.Int32N(limit), random.Int32N(limit)}
		switch random.IntN(10) {
		case 0:
			x[0] = 0
		case 1:
			x[1] = 0
		case 2:
			x = []int32{MaxTotal, 0}
		case 3:
			x[0] = x[1]
		}
		of := func(v int32) *big.Rat { return new(big.Rat).Add(big.NewRat(int64(v), 1), half) }
		ratio := new(big.Rat).Quo(of(x[0]), of(x[1]))
		want := int32(0)
		for step := range ratioStepCount {
			if above, below := ratioStepFraction(step); ratio.Cmp(big.NewRat(above, below)) > 0 {
				want++
			}
		}
		got := f.value(x)
		if got != want {
			t.Fatalf("the log-ratio of %v is %d, and by exact arithmetic %d", x, got, want)
		}
		exact, _ := ratio.Float64()
		if log := min(max(4*math.Log2(exact)+64, 0), 129); math.Abs(float64(got)-log-0.5) > 0.51 {
			t.Fatalf("the log-ratio of %v is step %d, and 4·log₂ is %v", x, got, log)
		}
	}
	if a, b := f.value([]int32{0, 0}), f.value([]int32{7, 7}); a != b || a != 64 {
		t.Errorf("nothing over nothing is step %d, and like over like %d", a, b)
	}
}

// The table has of each row what features are of its composition.
func TestTableOfDescriptors(t *testing.T) {
	for name, b := range growingBooks {
		d := b.data()
		withDescriptors(d, rand.New(rand.NewPCG(b.seed, 6)))
		if err := d.check(); err != nil {
			t.Fatal(err)
		}
		table := newFeatureTable(d, d.Features)
		for r, row := range d.Rows {
			x := make([]int32, len(d.Ingredients))
			for _, p := range row {
				x[p.Ingredient] = p.Amount
			}
			for f := range d.Features {
				if got, want := table.value(int32(r), int32(f)), d.Features[f].value(x); got != want {
					t.Fatalf("%s: %s of row %d is %d in the table and %d", name, d.Features[f].Name, r, got, want)
				}
			}
		}
	}
}

// Every point and every line of a forest with descriptors has the leaves that the trees
// have at that composition's features.
func TestDescriptorsScore(t *testing.T) {
	for name, b := range growingBooks {
		d := b.data()
		random := rand.New(rand.NewPCG(b.seed, 7))
		withDescriptors(d, random)
		f := mustGrow(t, d, Options{Seed: 1, Trees: 30})
		again, err := Read(bytes.NewReader(saved(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		want := Maximize()
		if !f.Numeric() {
			want = AnyOf(f.classes[0], f.classes[1])
		}
		s := mustScore(t, again, want)
		tested := make(map[bool]bool)
		byTrees := func(x []int32) int64 {
			values, sum, base := f.featureValues(x), int64(0), 0
			for k := range f.trees {
				for _, n := range f.trees[k].nodes {
					if n.feature >= 0 && f.features[n.feature].isDescriptor() {
						tested[f.features[n.feature].Over != nil] = true
					}
				}
				sum += s.leafValues[base+int(f.trees[k].leafNumber(values))]
				base += f.trees[k].leafCount()
			}
			return sum
		}
		w := s.NewScorer()
		for range 8 {
			x := b.composition(random, nil)
			w.Reset(x, usedIngredients(x))
			for range 6 {
				used := usedIngredients(x)
				i := int(used[random.IntN(len(used))])
				j := (i + 1 + random.IntN(len(x)-1)) % len(x)
				starts, sums := w.Line(i, j)
				total, piece := x[i]+x[j], 0
				for k := range total + 1 {
					if piece+1 < len(starts) && starts[piece+1] == k {
						piece++
					}
					x[i], x[j] = k, total-k
					if want := byTrees(x); s.Point(x) != want || sums[piece] != want || int64(s.ensembleScore.Sums(x)[0]) != want {
						t.Fatalf("%s: split %d of %d, %d: the trees say %d, the point %d or %v, the line %v", name, k, i, j, want, s.Point(x), s.ensembleScore.Sums(x), sums[piece])
					}
				}
				x[i] = random.Int32N(total + 1)
				x[j] = total - x[i]
				w.Set(i, x[i], j, x[j])
				if got := w.Value(); got != byTrees(x) {
					t.Fatalf("%s: after a move the scorer says %d, the trees %d", name, got, byTrees(x))
				}
			}
		}
		if !tested[false] || !tested[true] {
			t.Errorf("%s: no tree tests a mean or a log-ratio: %v", name, tested)
		}
		// What is said of known rows does not depend on who scores.
		if _, err := again.OutOfBag(s, d.Rows); err != nil {
			t.Error(err)
		}
		if grown, err := again.IsGrownFrom(t.Context(), d); err != nil || !grown {
			t.Errorf("%s: grown from its rows: %v, %v", name, grown, err)
		}
	}
}

// Features that are no feature are refused, grown and read.
func TestDescriptorsRefused(t *testing.T) {
	for _, c := range []struct {
		feature Feature
		says    string
	}{
		{Feature{Ingredients: []int32{0}, Weights: []int32{1, 2}}, "2 weights for 1 ingredients"},
		{Feature{Ingredients: []int32{0}, Weights: []int32{-1}}, "must be in 0..214748364"},
		{Feature{Ingredients: []int32{0}, Weights: []int32{214748365}}, "must be in 0..214748364"},
		{Feature{Ingredients: []int32{0}, Weights: []int32{1}, Presence: true}, "several kinds"},
		{Feature{Ingredients: []int32{0}, Over: []int32{1}, Presence: true}, "several kinds"},
		{Feature{Ingredients: []int32{0}, Weights: []int32{1}, Over: []int32{1}}, "several kinds"},
		{Feature{Ingredients: []int32{0}, Over: []int32{}}, "over no ingredients"},
		{Feature{Ingredients: []int32{0}, Over: []int32{0}}, "given twice"},
		{Feature{Ingredients: []int32{0}, Over: []int32{9}}, "out of range"},
	} {
		c.feature.Name = "f"
		d := &Data{Label: "l", Ingredients: []string{"a", "b"}, Total: 10, Features: []Feature{c.feature},
			Rows: [][]Part{{{0, 4}, {1, 6}}, {{0, 9}, {1, 1}}}, Classes: []string{"x", "y"}}
		if _, err := Grow(t.Context(), d, Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.feature, err, c.says)
		}
	}
	d := &Data{Label: "l", Ingredients: []string{"a", "b"}, Total: 10, Rows: [][]Part{{{0, 4}, {1, 6}}, {{0, 9}, {1, 1}}}, Classes: []string{"x", "y"},
		Features: []Feature{{Name: "mean", Ingredients: []int32{0, 1}, Weights: []int32{0, 7}}, {Name: "ratio", Ingredients: []int32{0}, Over: []int32{1}}}}
	good := string(saved(t, mustGrow(t, d, Options{Trees: 8, Splits: BestSplits, Seed: 1})))
	if !strings.Contains(good, `"version":3`) {
		t.Fatal(good)
	}
	for old, change := range map[string]string{
		`"weights":[0,7]`: `"weights":[0,-7]`, `"over":[1]`: `"over":[0]`,
		`"version":3`: `"version":5`, `"over":[1]}`: `"over":[1],"weights":[1]}`,
	} {
		bad := strings.Replace(good, old, change, 1)
		if bad == good {
			t.Fatalf("no %s in %s", old, good)
		}
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is read", change)
		}
	}
}

// A choice is the plainest of those that are not told from the best.
func TestChoose(t *testing.T) {
	// The label is the share of the even ingredients, which amounts tell badly.
	d := &Data{Label: "even", Total: 100}
	even := Feature{Name: "even"}
	for i := range 40 {
		d.Ingredients = append(d.Ingredients, fmt.Sprint(i))
		if i%2 == 0 {
			even.Ingredients = append(even.Ingredients, int32(i))
		}
	}
	random := rand.New(rand.NewPCG(3, 3))
	b := book{ingredients: 40, total: 100, sizes: []int{3, 5}}
	for range 80 {
		x := b.composition(random, nil)
		d.Rows = append(d.Rows, PositiveParts(x))
		d.Numbers = append(d.Numbers, float64(even.value(x)))
	}
	plain := Candidate{Name: "amounts", Options: Options{Trees: 20, Seed: 1}}
	same := Candidate{Name: "the same", Options: Options{Trees: 20, Seed: 1}}
	better := Candidate{Name: "total", Features: []Feature{even}, Options: Options{Trees: 20, Seed: 1}}
	classes := *d
	classes.Numbers = nil
	for _, v := range d.Numbers {
		classes.Classes = append(classes.Classes, fmt.Sprint(v > 50))
	}
	for _, data := range []*Data{d, &classes} {
		c, err := Choose(t.Context(), data, []Candidate{plain, same, better}, 2, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		if g := c.Tried[2]; c.Chosen != 2 || g.Gain < 3*g.GainSE || g.Gain != c.Tried[0].Loss-g.Loss && math.Abs(g.Gain-(c.Tried[0].Loss-g.Loss)) > 1e-12 {
			t.Errorf("of what tells the label by far, chosen is %+v", c)
		}
		if c.Tried[0].Loss != c.Tried[1].Loss || c.Tried[1].Gain != 0 || c.Tried[1].GainSE != 0 {
			t.Errorf("the same twice: %+v", c.Tried)
		}
		if c, err = Choose(t.Context(), data, []Candidate{plain, same}, 1, 5, 1); err != nil || c.Chosen != 0 {
			t.Errorf("of equals the first: %+v, %v", c, err)
		}
		ways := []Candidate{plain, better}
		f, err := GrowBest(t.Context(), data, ways, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k := range ways {
			ways[k].Options.Workers = 1 + k
		}
		g, err := GrowBest(t.Context(), data, ways, 1)
		if err != nil || !bytes.Equal(saved(t, f), saved(t, g)) {
			t.Errorf("the choice depends on the workers: %v", err)
		}
		if h, err := Read(bytes.NewReader(saved(t, f))); err != nil || h.Choice() == nil || fmt.Sprint(*h.Choice()) != fmt.Sprint(*f.Choice()) {
			t.Errorf("the choice is not kept: %v", err)
		}
	}
	if _, err := Choose(t.Context(), &Data{Ingredients: []string{"a"}, Total: 1, Rows: d.Rows[:0], Numbers: []float64{}}, []Candidate{plain}, 1, 5, 1); err == nil {
		t.Error("a choice without rows")
	}
	one := *d
	one.Rows, one.Numbers = d.Rows[:1], d.Numbers[:1]
	if _, err := Choose(t.Context(), &one, []Candidate{plain}, 1, 5, 1); err == nil || !strings.Contains(err.Error(), "two rows") {
		t.Errorf("a choice by one row: %v", err)
	}
}

// The loss of a candidate is that of predictions by hand.
func TestChooseLoss(t *testing.T) {
	for _, name := range []string{"cocktails", "numbers"} {
		d := growingBooks[name].data()
		q := Candidate{Options: Options{Trees: 10, Seed: 2}}
		c, err := Choose(t.Context(), d, []Candidate{q}, 1, 4, 9)
		if err != nil {
			t.Fatal(err)
		}
		labels := d.labelling()
		fold := dealFolds(newRandomStream(9, streamForFolding, 0), &labels, 4)
		loss := 0.0
		for part := range 4 {
			known := *d
			known.Rows, known.Classes, known.Numbers = nil, nil, nil
			for r := range d.Rows {
				if fold[r] == part {
					continue
				}
				known.Rows = append(known.Rows, d.Rows[r])
				if d.Classes != nil {
					known.Classes = append(known.Classes, d.Classes[r])
				} else {
					known.Numbers = append(known.Numbers, d.Numbers[r])
				}
			}
			f := mustGrow(t, &known, q.Options)
			for r, row := range d.Rows {
				if fold[r] != part {
					continue
				}
				x := make([]int32, len(d.Ingredients))
				for _, p := range row {
					x[p.Ingredient] = p.Amount
				}
				if d.Classes != nil {
					p := 0.0
					if k := slices.Index(f.classes, d.Classes[r]); k >= 0 {
						p = f.Shares(x)[k]
					}
					loss -= math.Log(max(p, 0.05))
					continue
				}
				// ∫ (F(z) − 1{z ≥ y})² dz between all labels, F by the forest's wants.
				for k, z := range labels.numbers[:len(labels.numbers)-1] {
					under := 0.0
					if z >= f.numbers[0] {
						s := mustScore(t, f, AtMost(z))
						under = s.Probability(s.Point(x))
					}
					if z >= d.Numbers[r] {
						under--
					}
					loss += under * under * (labels.numbers[k+1] - z)
				}
			}
		}
		if want := loss / float64(len(d.Rows)); math.Abs(c.Tried[0].Loss-want) > 1e-6*want {
			t.Errorf("%s: the %s is %v, and by hand %v", name, c.Loss, c.Tried[0].Loss, want)
		}
	}
}

// Folds are of like size, and have like shares of each label.
func TestDeal(t *testing.T) {
	d := cocktailBook.data()
	labels := d.labelling()
	for seed := range uint64(20) {
		sizes := make(map[int]int)
		of := make(map[[2]int]int)
		all := make(map[int]int)
		for r, k := range dealFolds(newRandomStream(seed, streamForFolding, 0), &labels, 5) {
			sizes[k]++
			of[[2]int{k, int(labels.labelIndices[r])}]++
			all[int(labels.labelIndices[r])]++
		}
		for k := range 5 {
			if sizes[k] < 13 || sizes[k] > 14 {
				t.Fatalf("the folds have sizes %v of 69", sizes)
			}
			for label, n := range all {
				// Consecutive rows of one label fill whole rounds but for both ends.
				if got := of[[2]int{k, label}]; math.Abs(float64(got)-float64(n)/5) >= 2 {
					t.Fatalf("fold %d has %d of %d rows of label %d", k, got, n, label)
				}
			}
		}
	}
}
