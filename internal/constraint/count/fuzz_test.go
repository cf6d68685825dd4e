package count

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// No space, however strange, makes anything panic, and what is drawn keeps the
// rules.
func FuzzSpace(f *testing.F) {
	f.Add([]byte{3, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{5, 12, 8, 7, 0xf8, 0xff, 3, 1, 9, 5, 2, 4, 4, 0xff, 200, 3, 17, 90, 1, 2, 3})
	f.Add([]byte{5, 12, 63, 4, 0, 1, 2, 3, 1, 9, 1, 2, 4, 1, 3, 3, 17, 9, 1, 8, 9, 7, 8, 60, 2, 3, 4, 1, 9, 1, 2, 4, 0, 20, 9, 7, 7, 7, 9})
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
		s := Space{Ingredients: make([]Ingredient, uint(next())%50), Total: next()}
		for len(data) > 0 && len(s.Groups) < 12 {
			what := next()
			var of []int
			for range uint(next()) % 8 {
				of = append(of, next())
			}
			for _, i := range of {
				if i < len(s.Ingredients) && i >= 0 && what&4 > 0 {
					s.Ingredients[i] = Ingredient{next(), next(), next(), what&1 > 0, what&2 > 0}
				}
			}
			group := Group{Members: of}
			if what&8 > 0 {
				group.Used = &Range{next(), next()}
			}
			if what&16 > 0 {
				group.Total = &Range{next(), next()}
			}
			s.Groups = append(s.Groups, group)
			if what&32 > 0 {
				sum := Sum{Min: int64(next()), Max: int64(next())}
				for _, i := range of {
					sum.Terms = append(sum.Terms, Term{i, int64(next()) - 8, int64(next()) - 8})
				}
				s.Sums = append(s.Sums, sum)
			}
		}
		ctx := context.Background()
		options := Options{MaxUsed: 8, MaxMemory: 1 << 24, MaxSteps: 1e8}
		expected := func(err error) {
			var size *SizeError
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrEmpty) && !errors.As(err, &size) {
				t.Fatal(err)
			}
		}
		s.CompatibleGroups()
		table, err := New(ctx, s, options)
		if err != nil {
			expected(err)
			return
		}
		if s.Total < 2000 {
			can, _, err := ReachableUsedCounts(ctx, s, options.MaxUsed)
			if err != nil {
				expected(err)
			}
			for n := range can {
				if can[n] == table.IsEmpty(n) {
					t.Fatalf("%+v: X_%d is empty: %v, and can be reached: %v", s, n, table.IsEmpty(n), can[n])
				}
			}
		}
		sampler, err := table.Sampler(ctx)
		if err != nil {
			expected(err)
			return
		}
		r := pcg{rand.New(rand.NewPCG(1, 1))}
		for n := range table.MaxUsed() + 1 {
			if math.IsInf(table.LogCount(n), -1) != table.IsEmpty(n) {
				t.Fatalf("log |X_%d| = %v", n, table.LogCount(n))
			}
			ingredients, amounts, err := sampler.Draw(r, n, nil, nil)
			if err != nil {
				expected(err)
			} else if len(ingredients) != n || !s.Contains(ingredients, amounts) {
				t.Fatalf("%+v: %v of %v is drawn from X_%d", s, amounts, ingredients, n)
			}
		}
	})
}
