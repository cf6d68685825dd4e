package property_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// conditionedModel is a model learnt from recipes of some ingredients and their conditions: one of numbers with the given
// number of values, and one of three categories.
func conditionedModel(t testing.TB, ingredients, total, numbers, conditions, rows int, kind model.ModelKind) (*property.ConditionEncoder, *mcmc.Space, *model.LearnedModel) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	d := &model.Data{Label: "y", Total: total}
	for i := range ingredients {
		d.Ingredients = append(d.Ingredients, fmt.Sprint("ingredient ", i))
	}
	var amounts [][][]int32
	var of []mcmc.Condition
	column := ingredients
	for c := range conditions {
		values, one := numbers, mcmc.Condition{Name: fmt.Sprint("condition ", c)}
		var codes [][]int32
		if c%2 == 1 { // three categories
			values = 3
			for v := range values {
				code := make([]int32, 3)
				code[v] = model.MaxBesideAmount
				codes = append(codes, code)
			}
		} else {
			for v := range values {
				u := 0.25 + 0.75*float64(v)/float64(max(values-1, 1))
				codes = append(codes, []int32{int32(u * u * model.MaxBesideAmount)})
			}
		}
		for k := range codes[0] {
			d.Ingredients = append(d.Ingredients, fmt.Sprintf("condition %d %d", c, k))
		}
		for range values {
			one.Weights = append(one.Weights, 0.5+r.Float64())
		}
		amounts, of = append(amounts, codes), append(of, one)
		column += len(codes[0])
	}
	d.Beside = column - ingredients
	base, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.WithConditions(base, of, nil)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := property.NewConditions(ingredients, amounts)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, min(ingredients, 5)))
	if err != nil {
		t.Fatal(err)
	}
	prior, random := mcmc.NewPrior(target), mcmc.NewRand(1, "rows", 0)
	for range rows {
		x, err := prior.Draw(random)
		if err != nil {
			t.Fatal(err)
		}
		var row []model.Part
		sum := r.NormFloat64() / 10
		for i, a := range codes.Amounts(x) {
			if a > 0 {
				row = append(row, model.Part{Ingredient: int32(i), Amount: a})
				scale := float64(total) / 8 // as important as the conditions together
				if i >= ingredients {
					scale = model.MaxBesideAmount
				}
				sum += math.Sin(3*float64(i)) * float64(a) / scale
			}
		}
		d.Rows, d.Numbers = append(d.Rows, row), append(d.Numbers, sum)
	}
	m, err := model.Learn(context.Background(), d, model.LearnOptions{Kind: kind, Forest: model.Options{Trees: 100, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return codes, space, m
}

// The scores of lines and of the values of conditions, however a chain came to where it is, are those of the
// compositions, bit for bit; and a model predicts from the amounts that stand for the conditions.
func TestConditionsScoreAsPoints(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.ModelKind{model.ForestAlone, model.ProcessAlone, model.BestKind} {
		codes, space, m := conditionedModel(t, 6, 40, 9, 3, 60, kind)
		score, err := m.Score(model.Maximize())
		if err != nil {
			t.Fatal(err)
		}
		p := codes.Wrap(property.NewLearned(score, 0.01))
		target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 5), mcmc.Objective{Name: "y", Property: p, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := mcmc.NewRand(7, "walk", 0)
		x, err := mcmc.NewPrior(target).Draw(r)
		if err != nil {
			t.Fatal(err)
		}
		x = x.Clone()
		s := p.Scorer(x).(mcmc.ConditionScorer)
		s.Reset()
		check := func(got float64, y *mcmc.Composition, what string) {
			t.Helper()
			if want := p.LogScore(y); got != want {
				t.Fatalf("%v: %s of %v is %v, and the point %v", kind, what, y, got, want)
			}
		}
		at := func(p *mcmc.PiecewiseConstant, k int) (v float64) {
			for q := range p.Len() {
				if start, value := p.Piece(q); start <= k {
					v = value
				}
			}
			return v
		}
		for step := range 150 {
			check(s.LogScore(), x, "the score")
			c := r.Intn(3)
			var values mcmc.PiecewiseConstant
			s.Values(c, &values)
			for v := range space.Conditions()[c].Weights {
				y := x.Clone()
				if err := y.SetCondition(c, v); err != nil {
					t.Fatal(err)
				}
				check(at(&values, v), y, "a value")
			}
			check(s.LogScore(), x, "the score after its values")
			if step%2 == 0 {
				if err := x.SetCondition(c, r.Intn(len(space.Conditions()[c].Weights))); err != nil {
					t.Fatal(err)
				}
				s.ConditionSet(c)
				continue
			}
			i, j := r.Intn(6), r.Intn(6)
			sum := x.Amount(i) + x.Amount(j)
			if i == j || sum == 0 {
				continue
			}
			var line mcmc.PiecewiseConstant
			s.Line(i, j, &line)
			k := r.Intn(sum + 1)
			y := x.Clone()
			if err := y.Move(i, j, k); err != nil {
				t.Fatal(err)
			}
			check(at(&line, k), y, "a split")
			if err := x.Move(i, j, k); err != nil {
				t.Fatal(err)
			}
			s.Moved(i, j)
		}
	}
}

// BenchmarkConditions compares all values of a condition with a line of two ingredients, with 32 conditions of which 16
// have 1,000 values.
func BenchmarkConditions(b *testing.B) {
	codes, space, m := conditionedModel(b, 30, 1000, 1000, 32, 1000, model.ForestAlone)
	score, err := m.Score(model.Maximize())
	if err != nil {
		b.Fatal(err)
	}
	p := codes.Wrap(property.NewLearned(score, 0.01))
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 5), mcmc.Objective{Name: "y", Property: p, Weight: 1})
	if err != nil {
		b.Fatal(err)
	}
	r := mcmc.NewRand(7, "walk", 0)
	x, err := mcmc.NewPrior(target).Draw(r)
	if err != nil {
		b.Fatal(err)
	}
	s := p.Scorer(x).(mcmc.ConditionScorer)
	s.Reset()
	used := x.Ingredients()
	var pieces mcmc.PiecewiseConstant
	b.Run("line", func(b *testing.B) {
		for k := range b.N {
			i := int(used[k%len(used)])
			j := (i + 1 + k%7) % 30
			pieces.Reset()
			s.Line(i, j, &pieces)
			s.Moved(i, j)
		}
	})
	b.Run("values", func(b *testing.B) {
		for k := range b.N {
			pieces.Reset()
			s.Values(2*(k%16), &pieces)
		}
	})
}
