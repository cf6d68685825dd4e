package model

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/golden"
)

// lawsByHand returns, for each row, the mean of the leaf shares over the trees
// that left it out, or nil.
func lawsByHand(d *Data, f *Forest) [][]float64 {
	n := len(d.Rows)
	laws, trees := make([][]float64, n), make([]float64, n)
	for k := range f.trees {
		random := newRandomStream(f.options.Seed, streamForGrowing, uint64(k))
		drawn := make([]bool, n)
		for range n {
			drawn[random.drawBelow(n)] = true
		}
		one := &Forest{features: f.features, classes: f.classes, numbers: f.numbers, trees: f.trees[k : k+1]}
		for r, row := range d.Rows {
			if drawn[r] {
				continue
			}
			x := make([]int32, len(d.Ingredients))
			for _, p := range row {
				x[p.Ingredient] = p.Amount
			}
			if laws[r] == nil {
				laws[r] = make([]float64, max(len(f.classes), len(f.numbers)))
			}
			trees[r]++
			for l, p := range one.labelWeights(x) {
				laws[r][l] += p
			}
		}
	}
	for r := range laws {
		for l := range laws[r] {
			laws[r][l] /= trees[r]
		}
	}
	return laws
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// TestClassQuality computes each figure again from the laws of the rows.
func TestClassQuality(t *testing.T) {
	for _, trees := range []int{100, 3} { // 3 leave some rows without a tree
		d := cocktailBook.data()
		f := mustGrow(t, d, Options{Seed: 4, Trees: trees})
		q := f.Quality().Classes
		labels := d.labelling()
		shares := make([]float64, len(f.classes))
		for _, l := range labels.labelIndices {
			shares[l] += 1 / float64(len(labels.labelIndices))
		}
		rows, right, loss, prior := 0, 0.0, 0.0, 0.0
		confusion := make([][]int, len(f.classes))
		for c := range confusion {
			confusion[c] = make([]int, len(f.classes))
		}
		majority, clipped := 0.0, 0
		table := tableByHand{}
		var losses []float64
		for r, law := range lawsByHand(d, f) {
			if law == nil {
				continue
			}
			rows++
			l := labels.labelIndices[r]
			guess := slices.Index(law, slices.Max(law))
			confusion[l][guess]++
			if guess == int(l) {
				right++
			}
			for c, p := range law {
				table.add(p, c == int(l))
			}
			if law[l] < q.Clip {
				clipped++
			}
			losses = append(losses, -math.Log(max(law[l], q.Clip)))
			loss += losses[len(losses)-1]
			prior -= math.Log(shares[l])
			if f.classes[l] == q.Majority {
				majority++
			}
		}
		n := float64(rows)
		variance := 0.0
		for _, l := range losses {
			variance += (l - loss/n) * (l - loss/n) / (n - 1)
		}
		if got := f.Quality().Rows; got != rows || trees == 3 && rows == len(d.Rows) {
			t.Errorf("%d trees: %d rows, want %d", trees, got, rows)
		}
		near(t, "accuracy", q.Accuracy, right/n)
		near(t, "its standard error", q.AccuracySE, math.Sqrt(right/n*(1-right/n)/(n-1)))
		near(t, "log loss", q.LogLoss, loss/n)
		near(t, "its standard error", q.LogLossSE, math.Sqrt(variance/n))
		near(t, "clip", q.Clip, 0.5/float64(trees))
		near(t, "majority's accuracy", q.MajorityAccuracy, majority/n)
		near(t, "prior log loss", q.PriorLogLoss, prior/n)
		table.check(t, q.Reliability)
		if clipped == 0 {
			t.Error("no probability is clipped: the test sees too little")
		}
		if want := shares[slices.Index(f.classes, q.Majority)]; want != slices.Max(shares) {
			t.Errorf("majority %q has a share of %g, and the largest is %g", q.Majority, want, slices.Max(shares))
		}
		for c := range confusion {
			if !slices.Equal(confusion[c], q.Confusion[c]) {
				t.Errorf("row %d of the confusion matrix is %v, want %v", c, q.Confusion[c], confusion[c])
			}
		}
	}
}

// TestNumberQuality computes each figure again from the laws of the rows; the
// CRPS by its other form, E|X−y| − ½E|X−X′| (Gneiting and Raftery 2007, equation
// 21).
func TestNumberQuality(t *testing.T) {
	d := growingBooks["numbers"].data()
	f := mustGrow(t, d, Options{Seed: 4})
	q := f.Quality().Numbers
	v := f.numbers
	labels := d.labelling()
	score := func(law []float64, y float64) (score float64) {
		for a := range law {
			score += law[a] * math.Abs(v[a]-y)
			for b := range law {
				score -= law[a] * law[b] * math.Abs(v[a]-v[b]) / 2
			}
		}
		return score
	}
	probability := func(law []float64, below float64) (p float64) {
		for l := range law {
			if v[l] <= below {
				p += law[l]
			}
		}
		return p
	}
	all := make([]float64, len(v))
	mean := 0.0
	for r, l := range labels.labelIndices {
		all[l] += 1 / float64(len(labels.labelIndices))
		mean += d.Numbers[r] / float64(len(labels.labelIndices))
	}
	n, errors, spread, crps, priorCRPS, in50, in90 := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	table := tableByHand{}
	for r, law := range lawsByHand(d, f) {
		if law == nil {
			continue
		}
		n++
		y := d.Numbers[r]
		guess := 0.0
		for l := range law {
			guess += law[l] * v[l]
		}
		errors += (guess - y) * (guess - y)
		spread += (mean - y) * (mean - y)
		crps += score(law, y)
		priorCRPS += score(all, y)
		// y lies between the quantiles p and 1−p if P(X ≤ y) ≥ p and P(X < y) < 1−p.
		upTo, below := probability(law, y), probability(law, math.Nextafter(y, -math.MaxFloat64))
		if upTo >= 0.25-1e-12 && below < 0.75-1e-12 {
			in50++
		}
		if upTo >= 0.05-1e-12 && below < 0.95-1e-12 {
			in90++
		}
		for k := 1; k <= 9; k++ {
			decile := slices.Sorted(slices.Values(d.Numbers))[(len(d.Numbers)*k+9)/10-1]
			table.add(probability(law, decile), y <= decile)
		}
	}
	near(t, "RMSE", q.RMSE, math.Sqrt(errors/n))
	near(t, "prior RMSE", q.PriorRMSE, math.Sqrt(spread/n))
	near(t, "R²", q.R2, 1-errors/spread)
	near(t, "CRPS", q.CRPS, crps/n)
	near(t, "prior CRPS", q.PriorCRPS, priorCRPS/n)
	near(t, "coverage of 50 %", q.Coverage50, in50/n)
	near(t, "coverage of 90 %", q.Coverage90, in90/n)
	table.check(t, q.Reliability)
}

// A tableByHand gathers the events of a reliability table.
type tableByHand map[int][]struct{ p, occurred float64 }

func (h tableByHand) add(p float64, occurred bool) {
	bin := min(int(p*10), 9)
	h[bin] = append(h[bin], struct{ p, occurred float64 }{p, indicator(occurred)})
}

func (h tableByHand) check(t *testing.T, table []Bin) {
	t.Helper()
	if len(table) != len(h) {
		t.Errorf("%d bins, want %d", len(table), len(h))
	}
	for _, b := range table {
		events := h[int(math.Round(b.Low*10))]
		if b.Events != len(events) {
			t.Errorf("bin %g has %d events, want %d", b.Low, b.Events, len(events))
		}
		predicted, observed := 0.0, 0.0
		for _, e := range events {
			predicted += e.p / float64(len(events))
			observed += e.occurred / float64(len(events))
		}
		near(t, fmt.Sprintf("predicted in bin %g", b.Low), b.Predicted, predicted)
		near(t, fmt.Sprintf("observed in bin %g", b.Low), b.Observed, observed)
	}
}

// TestGuessing grows forests on labels that follow from the compositions and on
// labels that are dealt out at random.
func TestGuessing(t *testing.T) {
	for _, numeric := range []bool{false, true} {
		for _, informed := range []bool{false, true} {
			random := rand.New(rand.NewPCG(3, 3))
			b := book{rows: 150, ingredients: 10, total: 100, classes: 2, sizes: []int{2, 3, 4}, seed: 8}
			d := b.data()
			d.Classes = nil
			for _, row := range d.Rows {
				label := random.Float64()
				if informed {
					label = float64(row[0].Amount)
				}
				if numeric {
					d.Numbers = append(d.Numbers, label)
				} else {
					d.Classes = append(d.Classes, fmt.Sprint(label > 0.5 && (!informed || label > 40)))
				}
			}
			q := mustGrow(t, d, Options{Seed: 1}).Quality()
			guessing := numeric && q.Numbers.Guessing() || !numeric && q.Classes.Guessing()
			if guessing == informed {
				t.Errorf("numeric %v, informed %v: guessing is %v: %+v %+v", numeric, informed, guessing, q.Classes, q.Numbers)
			}
		}
	}
}

// TestGrownAgain keeps what grows from books of all kinds: the trees, what they tell
// of compositions, and what is told of them.
func TestGrownAgain(t *testing.T) {
	kept := golden.Open(t)
	for name, b := range growingBooks {
		d := b.data()
		for _, o := range []Options{
			{Trees: 12, Splits: BestSplits, Seed: 7, Importances: true, Workers: 2},
			{Trees: 5, Splits: BestSplits, Seed: 8, SmallestLeaf: 3, FeaturesPerSplit: 2, Workers: 1},
			{Trees: 11, Seed: 7, Importances: true, Workers: 2},
			{Trees: 4, Seed: 8, SmallestLeaf: 3, FeaturesPerSplit: 2, Workers: 1},
		} {
			f := mustGrow(t, d, o)
			file := saved(t, f)
			said := fmt.Sprintf("%d bytes %x\n%+v\n%+v\n", len(file), sha256.Sum256(file), f.Options(), f.Shape())
			q := f.Quality()
			if f.Numeric() {
				said += fmt.Sprintf("%+.9v\n", *q.Numbers)
			} else {
				said += fmt.Sprintf("%+.9v\n", *q.Classes)
			}
			said += fmt.Sprintf("%v\n", q.Strength())
			if o.Importances {
				said += fmt.Sprintf("%.9v\n", f.Importances()[:3])
			}
			random := rand.New(rand.NewPCG(9, 9))
			for range 4 {
				x := b.composition(random, nil)
				if f.Numeric() {
					said += fmt.Sprintf("%.9g %.9g %.9g\n", f.Mean(x), f.Quantile(x, 0.1), f.Quantile(x, 0.5))
				} else {
					said += fmt.Sprintf("%.9g\n", f.Shares(x))
				}
			}
			kept.CheckText(t, fmt.Sprintf("%s, %d trees", name, o.Trees), said)
		}
	}
}

// TestChosenAgain keeps how candidates are judged.
func TestChosenAgain(t *testing.T) {
	kept := golden.Open(t)
	for _, name := range []string{"twins", "numbers"} {
		d := growingBooks[name].data()
		c, err := Choose(t.Context(), d, []Candidate{{Options: Options{Trees: 6, Splits: BestSplits}}, {Options: Options{Trees: 6, Splits: BestSplits, SmallestLeaf: 8}}}, 2, 4, 3)
		if err != nil {
			t.Fatal(err)
		}
		kept.CheckText(t, name, fmt.Sprintf("%+.9v", *c))
	}
}

// No better than guessing is also what is as good.
func TestGuessingAsGood(t *testing.T) {
	for _, c := range []struct {
		accuracy, logLoss float64
		want              bool
	}{{0.7, 0.5, false}, {0.6, 0.5, true}, {0.7, 0.8, true}, {0.5, 0.5, true}, {0.7, 0.9, true}} {
		q := ClassQuality{Accuracy: c.accuracy, MajorityAccuracy: 0.6, LogLoss: c.logLoss, PriorLogLoss: 0.8}
		if got := q.Guessing(); got != c.want {
			t.Errorf("accuracy %v of 0.6 and log loss %v of 0.8: guessing is %v", c.accuracy, c.logLoss, got)
		}
	}
}

// TestCoverage grows a forest on labels with noise that does not depend on the
// composition, where out-of-bag intervals hold what they promise: over n = 600
// rows the coverage of an interval of probability p has a standard error of
// √(p(1−p)/n), 2.0 and 1.2 points. The laws have no more than the leaves' rows to
// tell a quantile by, which makes for a few points more: 8 points are 4 and more
// standard errors, false once in 10,000.
func TestCoverage(t *testing.T) {
	b := book{rows: 600, ingredients: 8, total: 100, classes: 1, sizes: []int{2, 3}, seed: 2}
	d := b.data()
	random := rand.New(rand.NewPCG(5, 5))
	d.Classes = nil
	for _, row := range d.Rows {
		d.Numbers = append(d.Numbers, float64(row[0].Amount)/100+random.NormFloat64())
	}
	q := mustGrow(t, d, Options{Seed: 1, SmallestLeaf: 15}).Quality().Numbers
	if math.Abs(q.Coverage50-0.5) > 0.08 || math.Abs(q.Coverage90-0.9) > 0.08 {
		t.Errorf("intervals of 50 and 90 %% cover %.3f and %.3f", q.Coverage50, q.Coverage90)
	}
	if q.CRPS > q.PriorCRPS*1.05 {
		t.Errorf("CRPS %.4f, of all labels %.4f", q.CRPS, q.PriorCRPS)
	}
}

// TestImportanceIsTheExpectedRise compares the rise of a tree's loss when a
// feature is permuted, averaged over many permutations, with its expectation: in
// a permutation each row's new value is equally likely to be any row's. Five
// standard errors are exceeded once in 1.7 million, for each of a few dozen pairs.
func TestImportanceIsTheExpectedRise(t *testing.T) {
	for _, name := range []string{"cocktails", "numbers", "dense"} {
		d := growingBooks[name].data()
		o := Options{Seed: 2, Trees: 2}
		f := mustGrow(t, d, o)
		labels := d.labelling()
		table := newFeatureTable(d, f.features)
		g := newGrower(table, &labels, f)
		for k := range f.trees {
			_, out, err := g.growTree(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			p := permuter{
				forest: f, table: table, labels: &labels, rowFeatures: make([]int32, table.featureCount),
				rowLosses: make([]float64, table.rowCount), permutedValues: make([]int32, table.rowCount), predicted: make([]bool, table.rowCount),
			}
			losses, err := p.lossRises(t.Context(), k, out)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range losses {
				expected := 0.0
				for _, r := range p.leftOutRows {
					table.writeRow(int(r), p.rowFeatures)
					for _, donor := range p.leftOutRows {
						p.rowFeatures[l.feature] = table.value(donor, l.feature)
						expected += p.rowLoss(&f.trees[k], r) - p.rowLosses[r]
					}
					p.rowFeatures[l.feature] = 0
					table.clearRow(int(r), p.rowFeatures)
				}
				expected /= float64(len(p.leftOutRows) * len(p.leftOutRows))
				var m meanAccumulator
				random := newRandomStream(77, streamForPermuting, uint64(l.feature))
				for range 1000 {
					m.add(p.permuteFeature(&f.trees[k], l.feature, out, random))
				}
				if se := m.standardError(); math.Abs(m.mean()-expected) > 5*se+1e-12 {
					t.Errorf("%s, tree %d, feature %d: mean rise %g ± %g, expected %g", name, k, l.feature, m.mean(), se, expected)
				}
			}
		}
	}
}

// TestImportances asks which ingredient decides, where one does.
func TestImportances(t *testing.T) {
	b := book{rows: 200, ingredients: 12, total: 100, classes: 2, sizes: []int{3, 4}, seed: 8}
	d := b.data()
	for r, row := range d.Rows {
		d.Classes[r] = "no"
		if slices.ContainsFunc(row, func(p Part) bool { return p.Ingredient == 2 && p.Amount > 15 }) {
			d.Classes[r] = "yes"
		}
	}
	f := mustGrow(t, d, Options{Seed: 1, Importances: true})
	importances := f.Importances()
	for k, im := range importances {
		if k != 2 && im.Mean+5*im.SE > importances[2].Mean/4 {
			t.Errorf("ingredient %d has importance %+v, the deciding one %+v", k, im, importances[2])
		}
	}
	if importances[2].Mean < 0.2 {
		t.Errorf("the deciding ingredient has importance %+v", importances[2])
	}
	if mustGrow(t, d, Options{Seed: 1}).Importances() != nil {
		t.Error("importances were not asked for")
	}
}
