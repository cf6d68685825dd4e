package conflict

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/rule"
)

// Whatever the rules, they are refused or explained, and what is said is true: no
// composition is judged both ways, and each change leaves rules that are some.
func FuzzExplain(f *testing.F) {
	f.Add([]byte{3, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{5, 12, 8, 7, 0xf8, 0xff, 3, 1, 9, 5, 2, 4, 4, 0xff, 200, 3, 17, 90, 1, 2, 3})
	f.Add([]byte{2, 8, 1, 7, 2, 0, 1, 40, 5, 30, 40, 7, 2, 0, 1, 40, 5, 10, 12})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int { // mostly small
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			if b < 0xf0 || len(data) < 8 {
				return int(b)
			}
			v := int(binary.LittleEndian.Uint64(data))
			data = data[8:]
			return v
		}
		float := func() float64 { return math.Float64frombits(uint64(next()) << 48) }
		s := rule.Set{Ingredients: next() % 8, Total: next() % 300}
		if next()%4 == 0 {
			s.Used = []int{next(), next()}
		}
		for len(data) > 0 && len(s.Rules) < 8 {
			var of []int
			kind := next() % 13
			for range next() % 5 {
				of = append(of, next())
			}
			switch kind {
			case 0:
				s.Rules = append(s.Rules, rule.Require{Of: of})
			case 1:
				s.Rules = append(s.Rules, rule.Exclude{Of: of})
			case 2:
				s.Rules = append(s.Rules, rule.Amount{Of: of, Min: next(), Max: next(), Step: next()})
			case 3:
				s.Rules = append(s.Rules, rule.Group{Of: of, Used: &rule.Range{Min: next(), Max: next()}})
			case 4:
				s.Rules = append(s.Rules, rule.Group{Of: of, Total: &rule.Range{Min: next(), Max: next()}})
			case 5:
				s.Rules = append(s.Rules, rule.Need{If: next(), Then: of})
			case 6:
				s.Rules = append(s.Rules, nil)
			case 9:
				s.Rules = append(s.Rules, rule.Ratio{Of: of, To: []int{next()}, Min: float(), Max: float()})
			case 10:
				near := rule.Near{Changes: bounded(next() - 1), Distance: bounded(next() - 1)}
				for _, i := range of {
					near.Recipe = append(near.Recipe, rule.Part{Ingredient: i, Amount: next()})
				}
				s.Rules = append(s.Rules, near)
			case 11, 12: // behind a condition
				if n := len(s.Rules); n > 0 && s.Rules[n-1] != nil {
					s.Rules[n-1] = rule.If{Used: of, Unused: []int{next()}[:kind-11], Then: s.Rules[n-1]}
				}
			default:
				limit := rule.Limit{Min: float(), Max: float()}
				if limit.Of = of; next()%2 == 0 {
					limit.Of = nil
				}
				if kind == 7 {
					limit.Min, limit.Max = float64(next())/4, float64(next())/4
				}
				for range s.Ingredients {
					if kind == 7 {
						limit.Factors = append(limit.Factors, float64(next())/4)
					} else {
						limit.Factors = append(limit.Factors, float())
					}
				}
				s.Rules = append(s.Rules, limit)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c, err := Explain(ctx, s)
		if err != nil {
			var bad *rule.Error
			var size *count.SizeError
			if s.Ingredients > 0 && s.Total > 0 && !errors.As(err, &bad) && !errors.As(err, &size) && ctx.Err() == nil {
				t.Fatal(err)
			}
			return
		}
		if c == nil {
			return
		}
		conditions, err := constraint.FromRules(s)
		if err != nil {
			t.Fatal(err)
		}
		if newWalk(conditions, slices.Clip(question{Set: s}.usedCounts())).findComposition(ctx) {
			t.Fatalf("%+v can hold, and is explained as %v", s, c)
		}
		for _, change := range c.Changes {
			if _, err := change.applyTo(question{Set: s}).conditions(); err != nil {
				t.Fatalf("%+v: %q leaves rules that are none: %v", s, change.Text, err)
			}
		}
	})
}
