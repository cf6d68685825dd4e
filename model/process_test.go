package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// smooth are rows whose label is a smooth function of two ingredients, with noise.
func smooth(rows int, noise float64, seed uint64) *Data {
	random := rand.New(rand.NewPCG(seed, 3))
	b := book{rows: rows, ingredients: 6, total: 1000, seed: seed, sizes: []int{2, 3, 4}}
	d := b.data()
	for r, row := range d.Rows {
		x := dense(row)
		d.Numbers[r] = 50 + 30*math.Sin(4*float64(x[0])/1000) - 20*math.Sqrt(float64(x[1])/1000) + noise*random.NormFloat64()
	}
	return d
}

// The gradient is that of the energy: central differences over 2·10⁻⁵ have a rounding
// error of about 10⁻¹⁶·energy/10⁻⁵ and one of third order of 10⁻¹⁰, so 10⁻⁵ of the
// largest component.
func TestEnergyGradient(t *testing.T) {
	for _, kernel := range []Kernel{Matern52, Matern32, SquaredExponential} {
		d := smooth(30, 2, 1)
		d.Rows[7], d.Rows[8] = d.Rows[6], d.Rows[6] // replicates
		p, err := newProcess(d, ProcessOptions{Kernel: kernel})
		if err != nil {
			t.Fatal(err)
		}
		q := p.newPosterior([]int32{0, 1, 2, 3, 4, 5})
		theta := []float64{-0.3, 0.4, -2, 0.2, -0.4, 0.1, 0, 0.3, -0.2}
		g, scratch := make([]float64, len(theta)), make([]float64, len(theta))
		q.negativeLogDensity(theta, g)
		largest := 0.0
		for _, v := range g {
			largest = max(largest, math.Abs(v))
		}
		for k := range theta {
			const h = 1e-5
			at := theta[k]
			theta[k] = at + h
			up := q.negativeLogDensity(theta, scratch)
			theta[k] = at - h
			down := q.negativeLogDensity(theta, scratch)
			theta[k] = at
			if want := (up - down) / (2 * h); math.Abs(g[k]-want) > 1e-5*largest {
				t.Errorf("%s: component %d is %v, by differences %v", kernel, k, g[k], want)
			}
		}
	}
}

// fitted returns a process of some rows.
func fitted(tb testing.TB, d *Data) *Process {
	tb.Helper()
	p, err := FitProcess(tb.Context(), d, ProcessOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// A step is the rounded root of the share, and first the least amount of a step.
func TestAxis(t *testing.T) {
	for _, total := range []int{1, 7, 1000, 99_991, MaxTotal} {
		for _, per := range []int64{1, 13, minInitialSteps, 100, maxSteps} {
			a := shareRounding{stepsPerUnit: per, leastAmounts: leastAmountsOfSteps(per, total)}
			random := rand.New(rand.NewPCG(1, uint64(per)))
			for range 2000 {
				x := int32(random.IntN(total + 1))
				l := a.roundToStep(x, total)
				if x < a.leastAmounts[l] || x >= a.leastAmounts[l+1] {
					t.Fatalf("%d of %d is step %d, which goes from %d to %d", x, total, l, a.leastAmounts[l], a.leastAmounts[l+1]-1)
				}
				if root := math.Sqrt(float64(x)/float64(total)) * float64(per); x > 0 && math.Abs(root-float64(l)) > 0.5+1e-9 {
					t.Fatalf("%d of %d is step %d, and its root %v steps", x, total, l, root)
				}
			}
			if a.roundToStep(0, total) != 0 || a.roundToStep(int32(total), total) != int32(per) {
				t.Errorf("of %d, nothing is step %d and all is step %d", total, a.roundToStep(0, total), a.roundToStep(int32(total), total))
			}
		}
	}
}

// The table of a kernel is the kernel, but for what lies between its points.
func TestRadial(t *testing.T) {
	for _, k := range []Kernel{Matern52, Matern32, SquaredExponential} {
		table := newKernelTable(k)
		worst := 0.0
		for square := 0.0; square < maxTableDistance; square += 0.00137 {
			want, _ := k.correlation(square)
			worst = max(worst, math.Abs(table.correlationAt(int64(math.Ldexp(square, distanceBits)))-want))
		}
		if most := 3e-3; worst > most {
			t.Errorf("%s: the table is off by %v, more than %v", k, worst, most)
		}
		if table.correlationAt(maxTableDistance<<distanceBits) != 0 || table.correlationAt(1<<62) != 0 {
			t.Errorf("%s: far away is not 0", k)
		}
	}
}

// The held-out prediction of a row is that of a process of the others that has the
// same hyperparameters and the same grid.
func TestLeaveOut(t *testing.T) {
	d := smooth(40, 2, 2)
	d.Rows[11] = d.Rows[10]
	p := fitted(t, d)
	mean, sd := p.HeldOut()
	for _, out := range []int32{0, 10, 25, 39} {
		without := &Data{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total}
		for r := range d.Rows {
			if p.compositionOfRow[r] != p.compositionOfRow[out] {
				without.Rows, without.Numbers = append(without.Rows, d.Rows[r]), append(without.Numbers, d.Numbers[r])
			}
		}
		q, err := newProcess(without, ProcessOptions{})
		if err != nil {
			t.Fatal(err)
		}
		q.hyperparameters, q.labelMean, q.labelSD = p.hyperparameters, p.labelMean, p.labelSD
		q.kernelTable = p.kernelTable
		var steps []int64
		for _, a := range p.roundings {
			steps = append(steps, a.stepsPerUnit)
		}
		if err := q.precomputeWithSteps(t.Context(), steps); err != nil {
			t.Fatal(err)
		}
		wantMean, wantSD := q.Predict(dense(d.Rows[out]))
		if math.Abs(mean[out]-wantMean) > 1e-6*p.labelSD || math.Abs(sd[out]-wantSD) > 1e-5*p.labelSD {
			t.Errorf("row %d: %v ± %v, without it %v ± %v", out, mean[out], sd[out], wantMean, wantSD)
		}
	}
}

// A process learns a smooth function: of 200 new rows it leaves a small part of the
// variance, the intervals of 90 % hold 90 ± 8 % (which is 3.8 standard errors and false
// once in 7,000), and far from all rows they are wider.
func TestProcessLearns(t *testing.T) {
	d, fresh := smooth(80, 2, 3), smooth(200, 2, 4)
	p := fitted(t, d)
	left, all, held := 0.0, 0.0, 0
	for r, row := range fresh.Rows {
		y := fresh.Numbers[r]
		mean, sd := p.Predict(dense(row))
		left += (mean - y) * (mean - y)
		all += (y - p.labelMean) * (y - p.labelMean)
		if math.Abs(y-mean) < 1.645*sd {
			held++
		}
	}
	if left/all > 0.15 {
		t.Errorf("%v of the variance is left", left/all)
	}
	if held < 164 || held > 196 {
		t.Errorf("intervals hold %d of 200", held)
	}
	some := &Data{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total}
	for r, row := range d.Rows {
		if dense(row)[0] < 300 {
			some.Rows, some.Numbers = append(some.Rows, row), append(some.Numbers, d.Numbers[r])
		}
	}
	p = fitted(t, some)
	_, near := p.Predict(dense(some.Rows[0]))
	_, far := p.Predict([]int32{1000, 0, 0, 0, 0, 0})
	if far < 2*near {
		t.Errorf("the standard deviation is %v at a known row and %v far from all", near, far)
	}
	if noise := p.Noise(); noise < 1 || noise > 4 {
		t.Errorf("a noise of 2 is taken for %v", noise)
	}
}

// Replicates tell the noise.
func TestReplicates(t *testing.T) {
	d := smooth(40, 0, 5)
	random := rand.New(rand.NewPCG(6, 6))
	for r := range 40 {
		d.Rows, d.Numbers = append(d.Rows, d.Rows[r]), append(d.Numbers, d.Numbers[r])
	}
	for r := range d.Numbers {
		d.Numbers[r] += 5 * random.NormFloat64()
	}
	p := fitted(t, d)
	rows, sd := p.Replicates()
	if rows != 80 || len(p.compositions) != 40 {
		t.Errorf("%d replicates of %d compositions", rows, len(p.compositions))
	}
	// The standard deviation of 40 pairs has a standard error of 5/√80 = 0.56.
	if sd < 3 || sd > 7 || p.Noise() < 3 || p.Noise() > 7 {
		t.Errorf("a noise of 5 shows as %v and is taken for %v", sd, p.Noise())
	}
}

// Law 4: a line at once equals its points, bit for bit, at wherever a scorer has gone.
func TestProcessLineEqualsPoints(t *testing.T) {
	p := fitted(t, smooth(60, 2, 6))
	for _, w := range []Want{Maximize(), Minimize(), AtLeast(45), Between(40, 50), AtMost(60)} {
		s, err := p.Score(w)
		if err != nil {
			t.Fatal(err)
		}
		linesArePoints(t, w.String(), 20, s.NewScorer(), s.ScoreAt)
	}
}

func TestProcessRefuses(t *testing.T) {
	d := smooth(20, 1, 1)
	d.Classes, d.Numbers = make([]string, 20), nil
	for r := range d.Classes {
		d.Classes[r] = "a"
	}
	if _, err := FitProcess(t.Context(), d, ProcessOptions{}); err == nil {
		t.Error("classes are fitted")
	}
	if _, err := FitProcess(t.Context(), smooth(20, 1, 1), ProcessOptions{Kernel: 9}); err == nil {
		t.Error("an unknown kernel is fitted")
	}
	p := fitted(t, smooth(20, 1, 1))
	for _, w := range []Want{AnyOf("a"), Between(3, 2), AtLeast(math.NaN())} {
		if _, err := p.Score(w); err == nil {
			t.Errorf("%v is scored", w)
		}
	}
	same := smooth(10, 0, 1)
	for r := range same.Numbers {
		same.Numbers[r] = 7
	}
	q := fitted(t, same)
	if _, err := q.Score(Maximize()); err == nil {
		t.Error("a constant label is maximized")
	}
	if m := q.Mean(dense(same.Rows[3])); m != 7 {
		t.Errorf("a constant label of 7 is said to be %v", m)
	}
}

// One row, rows that are all alike, and one ingredient in one row are no trouble.
func TestProcessOfLittle(t *testing.T) {
	for _, rows := range [][][]Part{
		{{{0, 1000}}},
		{{{0, 500}, {1, 500}}, {{0, 500}, {1, 500}}},
		{{{0, 1000}}, {{1, 1000}}, {{2, 1000}}},
	} {
		d := &Data{Label: "y", Ingredients: []string{"a", "b", "c"}, Total: 1000, Rows: rows}
		for r := range rows {
			d.Numbers = append(d.Numbers, float64(3*r))
		}
		p := fitted(t, d)
		for _, x := range [][]int32{{1000, 0, 0}, {0, 0, 1000}, {300, 300, 400}} {
			mean, sd := p.Predict(x)
			if math.IsNaN(mean) || math.IsNaN(sd) || mean < -10 || mean > 20 {
				t.Errorf("%d rows: %v is %v ± %v", len(rows), x, mean, sd)
			}
		}
	}
}

// Amounts are rounded as coarsely as held-out errors allow: of a label that is mostly
// noise to fewer steps than of one that has none, and the held-out error is hardly larger
// than with fine steps.
func TestRounding(t *testing.T) {
	var steps [2]int64
	for k, noise := range []float64{0, 20} {
		p := fitted(t, smooth(80, noise, 3))
		for _, a := range p.roundings {
			steps[k] += a.stepsPerUnit
		}
		coarse := p.heldOutRMSE()
		if err := p.precomputeWithSteps(t.Context(), p.initialSteps()); err != nil {
			t.Fatal(err)
		}
		// Rounding adds a hundredth in the mean; four times that is allowed.
		if fine := p.heldOutRMSE(); coarse > 1.04*fine {
			t.Errorf("with noise of %v, the held-out error is %v, and %v with fine steps", noise, coarse, fine)
		}
	}
	if 2*steps[1] > steps[0] {
		t.Errorf("%d steps with noise, and %d without", steps[1], steps[0])
	}
}

// Rows that were measured badly count less: of rows of which half have an error of 30 and
// half of 1, a process that knows the errors is nearer to the truth. Both are fitted to the same
// rows; the errors of these seeds are 5 to 7 times as large without, and 1.25 is asked.
func TestProcessTrustsByRow(t *testing.T) {
	off := func(d *Data) float64 {
		p := fitted(t, d)
		b := book{rows: 200, ingredients: 6, total: 1000, seed: 77, sizes: []int{2, 3, 4}}
		squares := 0.0
		for _, row := range b.data().Rows {
			x := dense(row)
			gap := p.Mean(x) - (50 + 30*math.Sin(4*float64(x[0])/1000) - 20*math.Sqrt(float64(x[1])/1000))
			squares += gap * gap
		}
		return math.Sqrt(squares / 200)
	}
	for seed := range uint64(3) {
		d := smooth(80, 1, 20+seed)
		random := rand.New(rand.NewPCG(seed, 5))
		told := *d
		for r := range d.Numbers {
			sd := 1.0
			if r%2 == 0 {
				sd = 30
				d.Numbers[r] += 30 * random.NormFloat64()
			}
			told.SD = append(told.SD, sd)
		}
		blind, knowing := off(d), off(&told)
		t.Logf("seed %d: %.2f without, %.2f with standard deviations", seed, blind, knowing)
		if !(knowing < 0.8*blind) {
			t.Errorf("seed %d: %.2f without standard deviations and %.2f with them", seed, blind, knowing)
		}
	}
}

// A row without a standard deviation has that of the others in the middle, and one of 0
// for all says as much as none at all.
func TestStandardDeviations(t *testing.T) {
	d := smooth(40, 2, 1)
	plain := fitted(t, d)
	zeros := *d
	zeros.SD = make([]float64, len(d.Rows))
	x := dense(d.Rows[3])
	if p := fitted(t, &zeros); p.Mean(x) != plain.Mean(x) || p.Noise() != plain.Noise() {
		t.Errorf("of zeros the mean is %v, without %v", p.Mean(x), plain.Mean(x))
	}
	some, full := *d, *d
	some.SD, full.SD = make([]float64, len(d.Rows)), make([]float64, len(d.Rows))
	for r := range some.SD {
		some.SD[r], full.SD[r] = 3, 3
	}
	some.SD[5] = math.NaN()
	if a, b := fitted(t, &some).Mean(x), fitted(t, &full).Mean(x); a != b {
		t.Errorf("a row without one: %v, with that of the others: %v", a, b)
	}
	for _, bad := range []*Data{
		{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total, Rows: d.Rows, Numbers: d.Numbers, SD: []float64{1}},
		{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total, Rows: d.Rows[:1], Numbers: d.Numbers[:1], SD: []float64{-1}},
		{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total, Rows: d.Rows[:1], Classes: []string{"a"}, SD: []float64{1}},
	} {
		if err := bad.check(); err == nil {
			t.Errorf("%v is taken", bad.SD)
		}
	}
}

// A model that is saved knows its standard deviations, of logarithms too.
func TestSaveStandardDeviations(t *testing.T) {
	d := smooth(40, 2, 1)
	for r := range d.Rows {
		d.SD = append(d.SD, 1+float64(r%7))
	}
	d.SD[3] = math.NaN()
	for _, logs := range []bool{false, true} {
		m := learnt(t, d, LearnOptions{Forest: Options{Trees: 20, Seed: 2}, Log: logs})
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLearned(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		x := dense(d.Rows[9])
		if again.Predict(x) != m.Predict(x) || !again.IsLearntFrom(d) {
			t.Errorf("log %v: %v is read as %v", logs, m.Predict(x), again.Predict(x))
		}
		other := *d
		other.SD = slices.Clone(d.SD)
		other.SD[0]++
		if again.IsLearntFrom(&other) {
			t.Error("other standard deviations are taken for the same")
		}
	}
}
