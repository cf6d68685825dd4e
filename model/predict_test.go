package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/testmode"
)

// made returns rows of ten ingredients whose label is a function of them and a
// normal error of that standard deviation.
func made(random *rand.Rand, rows int, label func(x []int32) (mean, sd float64)) *Data {
	d := &Data{Label: "y", Total: 100}
	for i := range 10 {
		d.Ingredients = append(d.Ingredients, string(rune('a'+i)))
	}
	for range rows {
		x := make([]int32, 10)
		left := int32(100)
		for _, i := range random.Perm(10)[:5] {
			x[i] = random.Int32N(left + 1)
			left -= x[i]
		}
		d.Rows = append(d.Rows, PositiveParts(x))
		mean, sd := label(x)
		d.Numbers = append(d.Numbers, mean+sd*random.NormFloat64())
	}
	return d
}

func dense(row []Part) []int32 {
	x := make([]int32, 10)
	for _, p := range row {
		x[p.Ingredient] = p.Amount
	}
	return x
}

func sum(x []int32) (mean, sd float64) {
	return float64(x[0]) - float64(x[1]) + float64(x[2]*x[3])/50, 5
}
func uneven(x []int32) (mean, sd float64) { return float64(x[0]), 1 + float64(x[1]) }
func noise([]int32) (mean, sd float64)    { return 0, 1 }

// TestIntervalsCover counts how many labels of new rows lie in the intervals. With
// 1,500 rows to calibrate on and 4,000 new ones the standard error of the share is
// √(0.09/1500 + 0.09/4000) = 0.0091, and 0.0102 with the 2,000 of the short form; 4 of them
// are a false alarm in 16,000. New rows are predicted by all trees and calibrated by a third
// of them, which makes the intervals up to 0.03 too wide.
func TestIntervalsCover(t *testing.T) {
	rows := testmode.Pick(4000, 2000)
	se := math.Sqrt(0.09/1500 + 0.09/float64(rows))
	widened := 0.0
	for name, label := range map[string]func([]int32) (float64, float64){"sum": sum, "uneven": uneven, "noise": noise} {
		for _, leaf := range []int{1, 40} {
			random := rand.New(rand.NewPCG(1, uint64(leaf)))
			f := mustGrow(t, made(random, 1500, label), Options{Seed: 1, SmallestLeaf: leaf, Trees: 60})
			fresh := made(random, rows, label)
			inside := 0
			for r, row := range fresh.Rows {
				x := dense(row)
				p := f.Predict(x)
				if p.Low > p.Value || p.Value > p.High {
					t.Fatalf("%s: %+v", name, p)
				}
				near(t, "the value", p.Value, f.Mean(x))
				if p.Low <= fresh.Numbers[r] && fresh.Numbers[r] <= p.High {
					inside++
				}
			}
			cover := float64(inside) / float64(rows)
			t.Logf("%s, leaves of %d: %.3f are covered, %.3f out of bag before the ends are moved by %.2f", name, leaf, cover, f.quality.Numbers.Coverage90, f.quality.Numbers.Widen90)
			if cover < 0.9-4*se || cover > 0.93+4*se {
				t.Errorf("%s, leaves of %d: the intervals of 90 %% cover %.3f", name, leaf, cover)
			}
			widened = max(widened, f.quality.Numbers.Widen90/f.quality.Numbers.PriorRMSE)
		}
	}
	if widened < 0.02 {
		t.Errorf("nothing was widened by more than %.3f: the test cannot tell whether that is right", widened)
	}
}

// TestOutOfBag compares the scores of known rows with the quality, which was found
// while the forest was grown, also for a forest that was read from a file.
func TestOutOfBag(t *testing.T) {
	d := made(rand.New(rand.NewPCG(2, 2)), 150, sum)
	grown := mustGrow(t, d, Options{Seed: 3, Trees: 30})
	var file bytes.Buffer
	if err := grown.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*Forest{"grown": grown, "read": read} {
		s := mustScore(t, f, Maximize())
		scores, err := f.OutOfBag(s, d.Rows)
		if err != nil {
			t.Fatal(err)
		}
		least, greatest := f.Range()
		squares, rows, inBag := 0.0, 0, 0.0
		for r, p := range scores {
			if math.IsNaN(p) {
				continue
			}
			rows++
			e := least + p*(greatest-least) - d.Numbers[r]
			squares += e * e
			in := s.Value(s.Point(dense(d.Rows[r]))) - d.Numbers[r]
			inBag += in * in
		}
		if q := f.Quality(); rows != q.Rows || math.Abs(math.Sqrt(squares/float64(rows))-q.Numbers.RMSE) > 1e-6 {
			t.Errorf("%s: %d rows with an error of %v, the quality has %d with %v", name, rows, math.Sqrt(squares/float64(rows)), q.Rows, q.Numbers.RMSE)
		}
		if inBag > 0.8*squares {
			t.Errorf("%s: rows in bag are predicted no better than out of bag: the test cannot tell them apart", name)
		}
		if _, err := f.OutOfBag(s, d.Rows[1:]); err == nil {
			t.Errorf("%s: a row less passed", name)
		}
	}
	if _, err := grown.OutOfBag(mustScore(t, read, Maximize()), d.Rows); err == nil {
		t.Error("the score of another forest passed")
	}
}

// TestStrength tells a forest that knows from one whose labels were shuffled, for
// numbers and for classes.
func TestStrength(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	good := made(random, 400, sum)
	shuffled := *good
	shuffled.Numbers = slices.Clone(good.Numbers)
	random.Shuffle(400, func(i, j int) {
		shuffled.Numbers[i], shuffled.Numbers[j] = shuffled.Numbers[j], shuffled.Numbers[i]
	})
	classes := func(d *Data) *Data {
		c := *d
		c.Numbers = nil
		for _, v := range d.Numbers {
			class := "low"
			if v > 10 {
				class = "high"
			}
			c.Classes = append(c.Classes, class)
		}
		return &c
	}
	middling := *good
	middling.Numbers = nil
	for _, v := range good.Numbers {
		middling.Numbers = append(middling.Numbers, v+30*random.NormFloat64())
	}
	for _, c := range []struct {
		name string
		data *Data
		want Strength
	}{
		{"numbers", good, Good}, {"shuffled numbers", &shuffled, WeakStrength}, {"noisy numbers", &middling, Fair},
		{"classes", classes(made(random, 400, func(x []int32) (float64, float64) { return float64(x[0]), 1 })), Good},
		{"shuffled classes", classes(&shuffled), WeakStrength},
	} {
		q := mustGrow(t, c.data, Options{Seed: 1}).Quality()
		if got := q.Strength(); got != c.want {
			t.Errorf("%s: %v, not %v: %+v %+v", c.name, got, c.want, q.Numbers, q.Classes)
		}
	}
	for _, c := range []struct {
		quality Quality
		want    Strength
	}{
		{Quality{}, WeakStrength},
		{Quality{Numbers: &NumberQuality{R2: 0.11, R2SE: 0.01}}, WeakStrength},
		{Quality{Numbers: &NumberQuality{R2: 0.4, R2SE: 0.25}}, WeakStrength},
		{Quality{Numbers: &NumberQuality{R2: 0.4, R2SE: 0.1}}, Fair},
		{Quality{Classes: &ClassQuality{Skill: 0.6, SkillSE: 0.1, Accuracy: 0.9, MajorityAccuracy: 0.9}}, Fair},
		{Quality{Classes: &ClassQuality{Skill: 0.6, SkillSE: 0.1, Accuracy: 0.9, MajorityAccuracy: 0.8}}, Good},
	} {
		if got := c.quality.Strength(); got != c.want {
			t.Errorf("%+v %+v: %v, not %v", c.quality.Numbers, c.quality.Classes, got, c.want)
		}
	}
}

// TestExplained compares the standard error of a share with the spread over 2,000
// samples of independent rows, which is known to 1.6 %. To first order the two are
// equal; 15 % leaves room for the second at 100 rows.
func TestExplained(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var shares meanAccumulator
	said := 0.0
	for range 2000 {
		var e explainedVariance
		for range 100 {
			signal, error := random.NormFloat64(), random.NormFloat64()
			e.addRow(error*error, (signal+error)*(signal+error))
		}
		share, standardError := e.explainedShare()
		shares.add(share)
		said += standardError / 2000
	}
	spread := shares.standardError() * math.Sqrt(2000)
	if math.Abs(said/spread-1) > 0.15 || math.Abs(shares.mean()-0.5) > 0.02 {
		t.Errorf("shares of %.3f vary by %.4f, and the standard error says %.4f", shares.mean(), spread, said)
	}
	if share, standardError := (&explainedVariance{modelErrors: []float64{0}, priorErrors: []float64{0}}).explainedShare(); share != 0 || standardError != 0 {
		t.Errorf("nothing is explained by %v ± %v", share, standardError)
	}
}

// TestHalves: every row is in one half, in order, and another seed divides others.
func TestHalves(t *testing.T) {
	d := made(rand.New(rand.NewPCG(6, 6)), 101, sum)
	a, b := d.SplitIntoHalves(1)
	if len(a.Rows) != 51 || len(b.Rows) != 50 || len(a.Numbers) != 51 || a.Classes != nil {
		t.Fatalf("%d and %d rows", len(a.Rows), len(b.Rows))
	}
	i, j := 0, 0
	for _, v := range d.Numbers {
		switch {
		case i < len(a.Numbers) && a.Numbers[i] == v:
			i++
		case j < len(b.Numbers) && b.Numbers[j] == v:
			j++
		default:
			t.Fatalf("%v is next in neither half", v)
		}
	}
	if c, _ := d.SplitIntoHalves(2); slices.Equal(a.Numbers, c.Numbers) {
		t.Error("another seed makes the same halves")
	}
}
