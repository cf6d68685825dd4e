package count

import (
	"context"
	"math/rand/v2"
	"testing"
)

// The figures that are known from elsewhere: Table 1 of Obara, Morimura and
// Yanagisawa (2019), and others that were computed apart.
func TestKnownFigures(t *testing.T) {
	table, err := NewUnconstrainedTable(50, 5)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"0", "50", "4900", "117600", "921200", "2118760", "0"} {
		if got := table.Count(n).String(); got != want {
			t.Errorf("N = 50, M = 5: |X_%d| = %s, not %s", n, got, want)
		}
	}

	table, err = New(context.Background(), Space{Total: 100, Ingredients: make([]Ingredient, 50)}, Options{MaxUsed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"0", "50", "121275", "95079600", "36122324700", "7975809293760"} {
		if got := table.Count(n).String(); got != want {
			t.Errorf("N = 50, M = 100: |X_%d| = %s, not %s", n, got, want)
		}
	}

	table, err = New(context.Background(), assets(), Options{MaxUsed: 20})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.TotalCount().String(), "499323586091939421828102219725287268000"; got != want {
		t.Errorf("100 assets of 2 to 20 of 100 units, at most 20 used: %s compositions, not %s", got, want)
	}
}

// assets are 100 that are unused or take 2 to 20 of 100 units.
func assets() Space {
	s := Space{Total: 100, Ingredients: make([]Ingredient, 100)}
	for i := range s.Ingredients {
		s.Ingredients[i] = Ingredient{Min: 2, Max: 20}
	}
	return s
}

// large is 2,000 ingredients with bounds that are all different, and ten
// groups, of which the least members a group has is given.
func large(members int) Space {
	r := rand.New(rand.NewPCG(2000, 10))
	s := Space{Total: 1000, Ingredients: make([]Ingredient, 2000)}
	for i := range s.Ingredients {
		lo := 1 + r.IntN(20)
		s.Ingredients[i] = Ingredient{Min: lo, Max: lo + 20 + r.IntN(900)}
	}
	order := r.Perm(2000)
	for g := range 10 {
		s.Groups = append(s.Groups, Group{
			Members: order[g*members : (g+1)*members],
			Used:    &Range{0, 10 + g},
			Total:   &Range{10 * g, 300 + 50*g},
		})
	}
	return s
}

func BenchmarkCount(b *testing.B) {
	for _, c := range []struct {
		name    string
		space   Space
		maxUsed int
	}{
		{"assets", assets(), 20},
		{"bounds", Space{Total: 1000, Ingredients: large(0).Ingredients}, 40},
		{"groups", large(100), 40},
		{"all in groups", large(200), 40},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(context.Background(), c.space, Options{MaxUsed: c.maxUsed}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
