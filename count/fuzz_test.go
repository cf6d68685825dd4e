package count

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// No ruleset, however strange, makes anything panic, and what is drawn keeps the
// rules.
func FuzzRuleset(f *testing.F) {
	f.Add([]byte{3, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{5, 12, 8, 7, 0xf8, 0xff, 3, 1, 9, 5, 2, 4, 4, 0xff, 200, 3, 17, 90, 1, 2, 3})
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
		rs := Ruleset{Ingredients: next() % 50, Total: next()}
		if next()%4 == 0 {
			rs.Used = []int{next(), next()}
		}
		for len(data) > 0 && len(rs.Rules) < 12 {
			what := next()
			rule := Rule{Require: what&1 > 0, Exclude: what&2 > 0}
			for range next() % 8 {
				rule.Of = append(rule.Of, next())
			}
			if what&4 > 0 {
				rule.Min, rule.Max, rule.Step = next(), next(), next()
			}
			if what&8 > 0 {
				rule.Used = &Range{next(), next()}
			}
			if what&16 > 0 {
				rule.Total = &Range{next(), next()}
			}
			rs.Rules = append(rs.Rules, rule)
		}
		ctx := context.Background()
		options := Options{MaxUsed: 8, Memory: 1 << 24, Steps: 1e8}
		expected := func(err error) {
			var size *SizeError
			var overlap *OverlapError
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrEmpty) && !errors.As(err, &size) && !errors.As(err, &overlap) {
				t.Fatal(err)
			}
		}
		s, err := rs.Space()
		if err != nil {
			expected(err)
			return
		}
		s.Disjoint()
		table, err := New(ctx, s, options)
		if err != nil {
			expected(err)
			return
		}
		if rs.Total < 2000 {
			if _, err := rs.Explain(ctx); err != nil {
				expected(err)
			}
		}
		sampler, err := table.Sampler(ctx)
		if err != nil {
			expected(err)
			return
		}
		r := pcg{rand.New(rand.NewPCG(1, 1))}
		for n := range table.MaxUsed() + 1 {
			if math.IsInf(table.LogCount(n), -1) != table.Empty(n) {
				t.Fatalf("log |X_%d| = %v", n, table.LogCount(n))
			}
			ingredients, amounts, err := sampler.Draw(r, n, nil, nil)
			if err != nil {
				expected(err)
			} else if len(ingredients) != n || !s.Contains(ingredients, amounts) {
				t.Fatalf("%+v: %v of %v is drawn from X_%d", rs, amounts, ingredients, n)
			}
		}
	})
}
