package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A row with a large standard deviation moves the prediction less: the number of one row
// is raised, and the forest follows the less the worse that row was measured. Seen as often
// as others, the row makes up about two thirds of a leaf at its place in the trees that drew
// it; with 100 times the spread it is drawn about once in 10,000 times.
func TestForestTrustsByRow(t *testing.T) {
	moved := func(sd float64) float64 {
		d := smooth(80, 1, 3)
		d.SD = make([]float64, len(d.Rows))
		for r := range d.SD {
			d.SD[r] = 1
		}
		d.SD[7] = sd
		before := mustGrow(t, d, Options{Seed: 1}).Mean(dense(d.Rows[7]))
		d.Numbers[7] += 100
		return mustGrow(t, d, Options{Seed: 1}).Mean(dense(d.Rows[7])) - before
	}
	well, badly := moved(1), moved(1000)
	if !(well > 20) || !(math.Abs(badly) < well/10) {
		t.Errorf("a number that is raised by 100 raises the prediction by %v, and by %v where it was measured badly", well, badly)
	}
}

// Of rows of which half have an error of 30 and half of 1, a forest that knows the errors
// is nearer to the truth. A tenth is asked.
func TestForestOfErrors(t *testing.T) {
	truth := func(x []int32) float64 {
		return 50 + 30*math.Sin(4*float64(x[0])/1000) - 20*math.Sqrt(float64(x[1])/1000)
	}
	off := func(d *Data) float64 {
		f := mustGrow(t, d, Options{Seed: 2})
		squares := 0.0
		for _, row := range (book{rows: 200, ingredients: 6, total: 1000, seed: 77, sizes: []int{2, 3, 4}}).data().Rows {
			gap := f.Mean(dense(row)) - truth(dense(row))
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
		if !(knowing < 0.9*blind) {
			t.Errorf("seed %d: %.2f without standard deviations and %.2f with them", seed, blind, knowing)
		}
	}
}

// Where rows are measured alike, or nobody knows how, they are drawn alike; one without a
// standard deviation is drawn as that in the middle is.
func TestChances(t *testing.T) {
	nan := math.NaN()
	numbers := []float64{1, 2, 3, 4, 5, 6, 7, 8} // quartiles 2 and 6: a spread of 2
	for name, c := range map[string]struct{ sd, want []float64 }{
		"none":    {nil, nil},
		"unknown": {slices.Repeat([]float64{nan}, 8), nil},
		"alike":   {slices.Repeat([]float64{3}, 8), nil},
		"exact":   {make([]float64, 8), nil},
		"one":     {[]float64{0, 0, 0, 2, 0, 0, 0, 0}, []float64{1, 1, 1, 0.5, 1, 1, 1, 1}},
		"some":    {[]float64{nan, 2, 2, 2, 4, 4, 0, nan}, []float64{0.5, 0.5, 0.5, 0.5, 0.2, 0.2, 1, 0.5}},
		"huge":    {[]float64{0, 0, 0, 1e12, 0, 0, 0, 0}, []float64{1, 1, 1, 1.0 / maxDrawWeight, 1, 1, 1, 1}},
	} {
		got := (&Data{Numbers: numbers, SD: c.sd}).drawWeights()
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for r := range got {
			if math.Abs(float64(got[r])/maxDrawWeight-c.want[r]) > 1e-6 {
				t.Errorf("%s, row %d: %v, want %v", name, r, float64(got[r])/maxDrawWeight, c.want[r])
			}
		}
	}
	if got := (&Data{Numbers: make([]float64, 2), SD: []float64{1, 2}}).drawWeights(); got != nil {
		t.Errorf("numbers that are all the same have the chances %v", got)
	}
}

// Rows are drawn as their chances say: over 4,000 bootstraps of 40 rows a row of twice the
// chances comes twice as often, ±5 standard errors of the count (once in 10⁶).
func TestDrawByChances(t *testing.T) {
	chances := make([]int64, 40)
	for r := range chances {
		chances[r] = int64(1 + r%3)
	}
	total := 0.0
	for _, c := range chances {
		total += float64(c)
	}
	drawn, sum := make([]int32, 40), make([]float64, 40)
	for k := range uint64(4000) {
		out := drawBootstrap(newRandomStream(5, streamForGrowing, k), drawn, chances)
		for r, n := range drawn {
			if sum[r] += float64(n); out.contains(r) != (n == 0) {
				t.Fatalf("row %d was drawn %d times", r, n)
			}
		}
	}
	for r, c := range chances {
		p := float64(c) / total
		if z := (sum[r] - 160_000*p) / math.Sqrt(160_000*p*(1-p)); math.Abs(z) > 5 {
			t.Errorf("row %d was drawn %v times, z = %.1f", r, sum[r], z)
		}
	}
}

// A forest of rows that were measured unequally well is the same when it was saved and
// read, down to which rows each tree left out, and grows again from its rows.
func TestChancesAreSaved(t *testing.T) {
	d := smooth(60, 1, 9)
	for r := range d.Rows {
		d.SD = append(d.SD, float64(1+20*(r%4)))
	}
	f := mustGrow(t, d, Options{Seed: 4, Trees: 30})
	read, err := Read(bytes.NewReader(saved(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.HeldOut(d.Rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read.HeldOut(d.Rows)
	if err != nil || !slices.EqualFunc(got, want, func(a, b Prediction) bool { return a == b || math.IsNaN(a.Value) && math.IsNaN(b.Value) }) || !slices.Equal(saved(t, read), saved(t, f)) {
		t.Errorf("the forest that was read says otherwise of what it has not seen: %v", err)
	}
	d.SD = nil
	if same, err := read.IsGrownFrom(t.Context(), d); err != nil || !same {
		t.Errorf("it is not of its rows: %v", err)
	}
	for _, bad := range [][]int64{{1}, slices.Repeat([]int64{0}, 60), slices.Repeat([]int64{maxDrawWeight + 1}, 60)} {
		f.drawWeights = bad
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err == nil {
			t.Errorf("chances of %v are taken", bad[0])
		}
	}
}
