package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// learnt returns what is learnt of some rows.
func learnt(tb testing.TB, d *Data, o LearnOptions) *LearnedModel {
	tb.Helper()
	m, err := Learn(tb.Context(), d, o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// learnedCases are of all kinds that a score can be of.
func learnedCases(tb testing.TB) map[string]*LearnedScore {
	tb.Helper()
	of := func(d *Data, o LearnOptions, w Want) *LearnedScore {
		o.Forest.Trees, o.Forest.Seed = 30, 4
		s, err := learnt(tb, d, o).Score(w)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}
	random := rand.New(rand.NewPCG(8, 8))
	described := smooth(60, 2, 6)
	withDescriptors(described, random)
	classes := book{rows: 60, ingredients: 6, total: 1000, classes: 3, seed: 6, sizes: []int{2, 3, 4}}.data()
	failed := book{rows: 25, ingredients: 6, total: 1000, seed: 9, sizes: []int{2, 3}}.data().Rows
	positive := smooth(60, 2, 6)
	for r := range positive.Numbers {
		positive.Numbers[r] = math.Exp(positive.Numbers[r] / 20)
	}
	return map[string]*LearnedScore{
		"average":             of(smooth(60, 12, 6), LearnOptions{}, Maximize()),
		"average, bounds":     of(smooth(60, 12, 6), LearnOptions{}, Between(40, 60)),
		"weighted":            of(smooth(60, 2, 6), LearnOptions{}, Maximize()),
		"weighted, bounds":    of(smooth(60, 2, 6), LearnOptions{}, Between(40, 60)),
		"forest":              of(smooth(60, 2, 6), LearnOptions{Kind: ForestAlone}, Minimize()),
		"process":             of(smooth(60, 2, 6), LearnOptions{Kind: ProcessAlone}, AtLeast(50)),
		"descriptors":         of(described, LearnOptions{}, Maximize()),
		"classes":             of(classes, LearnOptions{}, AnyOf("a", "b")),
		"classes that fail":   of(classes, LearnOptions{Failed: failed}, AnyOf("c")),
		"numbers that fail":   of(smooth(60, 2, 6), LearnOptions{Failed: failed}, Minimize()),
		"logarithms":          of(positive, LearnOptions{Log: true}, Maximize()),
		"logarithms, bounded": of(positive, LearnOptions{Log: true}, AtMost(9)),
	}
}

// Law 4: a line at once equals its points, bit for bit, at wherever a scorer has gone.
func TestLearnedLineEqualsPoints(t *testing.T) {
	for name, s := range learnedCases(t) {
		linesArePoints(t, name, 10, s.NewScorer(), s.ScoreAt)
	}
}

// A lineScorer walks from composition to composition and scores lines through them.
type lineScorer interface {
	Reset(x, used []int32)
	Value() float64
	Line(i, j int) (starts []int32, values []float64)
	Set(i int, xi int32, j int, xj int32)
}

// linesArePoints walks a scorer from so many compositions of six ingredients and 1,000
// units, and compares each split of each line that it meets with the score of the point.
func linesArePoints(t *testing.T, name string, walks int, c lineScorer, at func(x, used []int32) float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	b := book{rows: 60, ingredients: 6, total: 1000, seed: 6, sizes: []int{2, 3, 4}}
	for range walks {
		x := b.composition(random, nil)
		c.Reset(x, usedIngredients(x))
		for range 8 {
			if got, want := c.Value(), at(x, usedIngredients(x)); got != want {
				t.Fatalf("%s: the score of %v is %v, as a point %v", name, x, got, want)
			}
			i := int(usedIngredients(x)[random.IntN(len(usedIngredients(x)))])
			j := random.IntN(len(x))
			if i == j {
				continue
			}
			starts, values := c.Line(i, j)
			sum := x[i] + x[j]
			y := slices.Clone(x)
			for k := int32(0); k <= sum; k++ {
				y[i], y[j] = k, sum-k
				if got, want := values[pieceOf(starts, k)], at(y, usedIngredients(y)); got != want {
					t.Fatalf("%s: split %d of %d and %d at %v is %v, as a point %v", name, k, i, j, x, got, want)
				}
			}
			k := random.Int32N(sum + 1)
			x[i], x[j] = k, sum-k
			c.Set(i, x[i], j, x[j])
		}
	}
}

// The score of a direction and the mean that is predicted are one figure on two scales.
func TestLearnedScoreIsTheMean(t *testing.T) {
	for _, d := range []*Data{smooth(60, 12, 6), smooth(60, 2, 6)} {
		scoreIsTheMean(t, d)
	}
}

func scoreIsTheMean(t *testing.T, d *Data) {
	t.Helper()
	m := learnt(t, d, LearnOptions{Forest: Options{Trees: 50, Seed: 2}})
	if m.Process() == nil || m.Forest() == nil {
		t.Fatal("nothing is averaged")
	}
	least, greatest := m.Range()
	up, err := m.Score(Maximize())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range d.Rows[:20] {
		x := dense(row)
		mean := max(m.Predict(x).Value, least+minDirectionScore*(greatest-least))
		if got := least + up.ScoreAt(x, usedIngredients(x))*(greatest-least); math.Abs(got-mean) > 1e-3*(greatest-least) {
			t.Errorf("%v: the score says %v, the prediction %v", x, got, mean)
		}
	}
	predicted := m.HeldOut()
	for r, score := range up.HeldOutUncalibrated() {
		if got := least + score*(greatest-least); math.Abs(got-predicted[r].Value) > 1e-3*(greatest-least) {
			t.Errorf("row %d held out: the score says %v, the prediction %v", r, got, predicted[r].Value)
		}
	}
}

// What is learnt depends on the data and the options, not on the number of workers.
func TestLearnAgain(t *testing.T) {
	d := smooth(60, 2, 6)
	for _, kind := range []ModelKind{BestKind, ForestAlone, ProcessAlone} {
		a := learnt(t, d, LearnOptions{Kind: kind, Forest: Options{Trees: 30, Seed: 2, Workers: 1}})
		b := learnt(t, d, LearnOptions{Kind: kind, Forest: Options{Trees: 30, Seed: 2, Workers: 5}})
		for _, row := range d.Rows {
			if p, q := a.Predict(dense(row)), b.Predict(dense(row)); p != q {
				t.Fatalf("kind %d: %v and %v", kind, p, q)
			}
		}
	}
}

// An average is better than the forest on new rows of a smooth function, its intervals
// hold what they promise, 90 ± 6 % of 400 (four standard errors), and what is stated of
// held-out rows is near to that: R² within three of its standard errors.
func TestAverageLearns(t *testing.T) {
	d, fresh := smooth(80, 5, 3), smooth(400, 5, 4)
	m := learnt(t, d, LearnOptions{Forest: Options{Trees: 100, Seed: 2}})
	f := learnt(t, d, LearnOptions{Kind: ForestAlone, Forest: Options{Trees: 100, Seed: 2}})
	var ofM, ofF meanAccumulator
	held := 0
	for r, row := range fresh.Rows {
		x, y := dense(row), fresh.Numbers[r]
		p := m.Predict(x)
		ofM.add((p.Value - y) * (p.Value - y))
		gap := f.Predict(x).Value - y
		ofF.add(gap * gap)
		if p.Low <= y && y <= p.High {
			held++
		}
	}
	if ofM.mean() > 0.9*ofF.mean() {
		t.Errorf("the average is off by %v and the forest by %v", math.Sqrt(ofM.mean()), math.Sqrt(ofF.mean()))
	}
	if held < 336 || held > 384 {
		t.Errorf("intervals hold %d of 400", held)
	}
	variance := 0.0
	mean := meanOf(fresh.Numbers)
	for _, y := range fresh.Numbers {
		variance += (y - mean) * (y - mean) / 400
	}
	q := m.Quality().Numbers
	if r2 := 1 - ofM.mean()/variance; math.Abs(r2-q.R2) > 3*q.R2SE+0.02 {
		t.Errorf("R² is %v on new rows, and %v ± %v is stated", r2, q.R2, q.R2SE)
	}
	brings := m.HeldOutComparison()
	if len(brings) != 3 || brings[2].Gain <= 0 || brings[0].Gain != 0 {
		t.Errorf("what each brings: %+v", brings)
	}
}

// Forest and process have equal weights unless one of them has far greater errors on held-out rows. If
// the process is far better, new rows are predicted better than by the plain mean.
func TestForestWeight(t *testing.T) {
	o := LearnOptions{Forest: Options{Trees: 60, Seed: 1}}
	m := learnt(t, roots(80, 3), o)
	if w := m.forestWeight; w > 0.1 {
		t.Errorf("the weight of the forest is %v for a smooth function", w)
	}
	if w := learnt(t, smooth(60, 12, 6), o).forestWeight; w != equalWeight {
		t.Errorf("the weight of the forest is %v for models that are alike", w)
	}
	held := m.newHeldOutPredictor()
	last, equal := 0.0, 0
	for k := range 21 {
		// The more of the forest's prediction is in the labels, the smaller are its errors.
		share := float64(k) / 20
		labels := make([]float64, len(m.compositions))
		byForest, byProcess := 0.0, 0.0
		for r := range labels {
			grown, fitted := held.rowDistributions(r)
			labels[r] = share*grown.Mean() + (1-share)*fitted.Mean()
			byForest += grown.CRPS(labels[r])
			byProcess += fitted.CRPS(labels[r])
		}
		want := equalWeight
		if r := byForest / byProcess / equalLossRatio; r > 1 {
			want = 1 / (1 + math.Pow(r, 8))
		} else if r := byProcess / byForest / equalLossRatio; r > 1 {
			want = 1 - 1/(1+math.Pow(r, 8))
		} else {
			equal++
		}
		w := held.chooseForestWeight(labels)
		if math.Abs(w-want) > 1e-9 || w < last {
			t.Errorf("the weight of the forest is %v if its share of the label is %v, want %v, and at least %v", w, share, want, last)
		}
		last = w
	}
	if equal == 0 || last < 0.8 {
		t.Errorf("%d of 21 weights are equal, and the last is %v", equal, last)
	}
	plain := *m
	plain.forestWeight = equalWeight
	rmse := func(m *LearnedModel) float64 {
		var squares meanAccumulator
		fresh := roots(400, 4)
		for r, row := range fresh.Rows {
			gap := m.Predict(dense(row)).Value - fresh.Numbers[r]
			squares.add(gap * gap)
		}
		return math.Sqrt(squares.mean())
	}
	if weighted, equal := rmse(m), rmse(&plain); weighted > 0.9*equal {
		t.Errorf("RMSE %v with weights, %v without", weighted, equal)
	}
	flat := roots(30, 3)
	for r := range flat.Numbers {
		flat.Numbers[r] = 1
	}
	if w := learnt(t, flat, o).forestWeight; w != equalWeight {
		t.Errorf("the weight is %v if all numbers are equal", w)
	}
}

// roots is data whose numbers are a smooth function of the amounts, without noise.
func roots(rows int, seed uint64) *Data {
	d := book{rows: rows, ingredients: 6, total: 1000, seed: seed, sizes: []int{4, 5}}.data()
	for r, row := range d.Rows {
		x := dense(row)
		d.Numbers[r] = 3*math.Sqrt(float64(x[0])) + 2*math.Sqrt(float64(x[1])) - math.Sqrt(float64(x[2]))
	}
	return d
}

func meanOf(numbers []float64) float64 {
	sum := 0.0
	for _, v := range numbers {
		sum += v / float64(len(numbers))
	}
	return sum
}

// A process that makes the average worse is left out: its normal law does not fit
// labels of which most are small and a few very large.
func TestHarmfulProcessIsLeftOut(t *testing.T) {
	left := 0
	for seed := range uint64(4) {
		d := book{rows: 100, ingredients: 12, total: 1000, seed: seed, sizes: []int{3}}.data()
		random := rand.New(rand.NewPCG(seed, 9))
		for r := range d.Rows {
			d.Numbers[r] = math.Exp(3 * random.NormFloat64())
		}
		m := learnt(t, d, LearnOptions{Forest: Options{Trees: 50, Seed: seed}})
		if b := m.HeldOutComparison()[2]; (m.Process() == nil) != (b.Gain < -b.GainSE) {
			t.Errorf("the average brings %+v, and the process is left out: %v", b, m.Process() == nil)
		}
		if m.Process() == nil {
			left++
		}
	}
	if left == 0 {
		t.Error("no process was left out")
	}
}

// Failures teach where not to go: all that has more than half of the first ingredient
// failed.
func TestFailures(t *testing.T) {
	d := smooth(160, 2, 5)
	made := &Data{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total}
	var failed [][]Part
	for r, row := range d.Rows {
		if dense(row)[0] > 400 {
			failed = append(failed, row)
		} else {
			made.Rows, made.Numbers = append(made.Rows, row), append(made.Numbers, d.Numbers[r])
		}
	}
	m := learnt(t, made, LearnOptions{Failed: failed, Forest: Options{Trees: 60, Seed: 1}})
	s, err := m.Score(Maximize())
	if err != nil {
		t.Fatal(err)
	}
	bad, good := s.SuccessProbability([]int32{800, 100, 100, 0, 0, 0}), s.SuccessProbability([]int32{50, 500, 450, 0, 0, 0})
	if bad > 0.3 || good < 0.7 || m.FailedCount() != len(failed) {
		t.Errorf("of %d failures, success is %v where all fail and %v where none does", m.FailedCount(), bad, good)
	}
	without := learnt(t, made, LearnOptions{Forest: Options{Trees: 60, Seed: 1}})
	plain, err := without.Score(Maximize())
	if err != nil {
		t.Fatal(err)
	}
	x := []int32{800, 100, 100, 0, 0, 0}
	if got, want := s.ScoreAt(x, usedIngredients(x)), plain.ScoreAt(x, usedIngredients(x))*bad; math.Abs(got-want) > 1e-12 {
		t.Errorf("the score is %v, and %v times success is %v", got, plain.ScoreAt(x, usedIngredients(x)), want)
	}
	for r, y := range s.HeldOut() {
		if math.IsNaN(y) || y < 0 || y > 1.5 {
			t.Errorf("row %d is predicted as %v", r, y)
		}
	}
}

// Numbers that span decades: the logarithm is learnt, and predictions are in the
// label's unit.
func TestLogarithms(t *testing.T) {
	d, fresh := smooth(80, 1, 3), smooth(200, 1, 4)
	for _, of := range []*Data{d, fresh} {
		for r := range of.Numbers {
			of.Numbers[r] = math.Exp(of.Numbers[r] / 8)
		}
	}
	o := Options{Trees: 60, Seed: 1}
	logs, plain := learnt(t, d, LearnOptions{Log: true, Forest: o}), learnt(t, d, LearnOptions{Forest: o})
	var ofLogs, ofPlain meanAccumulator
	held := 0
	for r, row := range fresh.Rows {
		x, y := dense(row), fresh.Numbers[r]
		ofLogs.add(logs.Law(x).CRPS(y))
		ofPlain.add(plain.Law(x).CRPS(y))
		p := logs.Predict(x)
		if p.Low <= y && y <= p.High {
			held++
		}
		if p.Low < 0 || p.Low > p.Value || p.Value > p.High {
			t.Fatalf("%+v", p)
		}
	}
	if ofLogs.mean() > ofPlain.mean() {
		t.Errorf("the logarithm is off by %v, the number by %v", ofLogs.mean(), ofPlain.mean())
	}
	if held < 160 {
		t.Errorf("intervals hold %d of 200", held)
	}
	s, err := logs.Score(AtLeast(math.Exp(6)))
	if err != nil {
		t.Fatal(err)
	}
	if y := s.ScoreAt(dense(d.Rows[0]), usedIngredients(dense(d.Rows[0]))); y < 0 || y > 1 {
		t.Errorf("a probability of %v", y)
	}
	d.Numbers[3] = 0
	var bad *RowError
	if _, err := Learn(t.Context(), d, LearnOptions{Log: true}); !errors.As(err, &bad) || bad.Row != 3 {
		t.Errorf("the logarithm of 0: %v", err)
	}
}

// Features are chosen by what they bring.
func TestLearnChoosesFeatures(t *testing.T) {
	b := book{rows: 90, ingredients: 30, total: 1000, seed: 3, sizes: []int{3, 4}}
	d := b.data()
	group := Feature{Name: "first ten", Ingredients: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}
	random := rand.New(rand.NewPCG(1, 1))
	for r, row := range d.Rows {
		d.Numbers[r] = random.NormFloat64()
		for _, p := range row {
			if p.Ingredient < 10 {
				d.Numbers[r] += float64(p.Amount) / 50
			}
		}
	}
	plain := amountFeatures(d.Ingredients)
	sets := []FeatureSet{{"amounts", plain}, {"amounts and groups", append(slices.Clone(plain), group)}}
	m := learnt(t, d, LearnOptions{Features: sets, Forest: Options{Trees: 40, Seed: 1}})
	if c := m.Choice(); c == nil || c.Chosen != 1 || len(m.Forest().Features()) != 31 {
		t.Errorf("groups that tell all are not chosen: %+v", c)
	}
	// Where nothing tells the label, features that tell no more are taken by chance: a
	// difference above its standard error, of once in six.
	taken := 0
	for range 6 {
		for r := range d.Numbers {
			d.Numbers[r] = random.NormFloat64()
		}
		taken += learnt(t, d, LearnOptions{Features: sets, Forest: Options{Trees: 40, Seed: 1}}).Choice().Chosen
	}
	if taken > 4 {
		t.Errorf("features are taken %d of 6 times for labels that nothing tells", taken)
	}
}

func TestLearnRefuses(t *testing.T) {
	classes := book{rows: 20, ingredients: 6, total: 100, classes: 2, seed: 1, sizes: []int{2}}.data()
	if _, err := Learn(t.Context(), classes, LearnOptions{Kind: ProcessAlone}); err == nil {
		t.Error("a process learns classes")
	}
	if _, err := Learn(t.Context(), classes, LearnOptions{Log: true}); err == nil {
		t.Error("classes have logarithms")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Learn(ctx, smooth(60, 1, 1), LearnOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("learning goes on when its context has ended: %v", err)
	}
	m := learnt(t, smooth(30, 1, 1), LearnOptions{Forest: Options{Trees: 5}})
	for _, w := range []Want{AnyOf("a"), Between(3, 2)} {
		if _, err := m.Score(w); err == nil {
			t.Errorf("%v is scored", w)
		}
	}
}
