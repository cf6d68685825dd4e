package count

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every count of 1,000 random small spaces equals what going through all
// compositions finds, and so does whether it is zero.
func TestCountsEqualBruteForce(t *testing.T) {
	for name, random := range randomSpaces {
		t.Run(name, func(t *testing.T) { testCounts(t, random) })
	}
}

func testCounts(t *testing.T, random func(*rand.Rand) Space) {
	r := rand.New(rand.NewPCG(6, 1))
	nonempty, groups, total, frontiers := 0, 0, 0, 0
	for problem := range 1000 {
		s := random(r)
		want := make([]int64, len(s.Ingredients)+s.Total+2)
		for _, x := range bruteForce(s) {
			want[usedOf(x)]++
		}
		table, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatalf("problem %d, %+v: %v", problem, s, err)
		}
		plan, err := newPlan(context.Background(), s, table.MaxUsed(), 1e8)
		if err != nil {
			t.Fatal(err)
		}
		can, err := reachableByTables(context.Background(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if plan.frontier != nil {
			frontiers++
		}
		sum := int64(0)
		for n := range want {
			got := table.Count(n)
			if got.Cmp(big.NewInt(want[n])) != 0 {
				t.Fatalf("problem %d, %s: |X_%d| = %v, brute force finds %d", problem, show(s), n, got, want[n])
			}
			if n < len(can) && can[n] != (want[n] > 0) || table.IsEmpty(n) != (want[n] == 0) {
				t.Fatalf("problem %d, %s: X_%d is told to be empty or not, wrongly; it has %d", problem, show(s), n, want[n])
			}
			sum += want[n]
		}
		if sum > 0 {
			nonempty++
			total += int(sum)
		}
		if len(s.Groups) > 1 {
			groups++
		}
	}
	t.Logf("%d of 1000 have compositions, %d in all; %d have several groups, %d a frontier", nonempty, total, groups, frontiers)
	if nonempty < 250 || groups < 200 {
		t.Errorf("the random problems are poor: %d have compositions, %d several groups", nonempty, groups)
	}
}

// Contains agrees with the rules as the brute force reads them, for all ways to
// divide the total and for some that are none.
// Counts one after the other are those one by one, whatever the rules, and none
// is changed by the next.
func TestCountsInOrder(t *testing.T) {
	for _, s := range []Space{
		{Total: 30, Ingredients: make([]Ingredient, 40)},
		{Total: 40, Ingredients: make([]Ingredient, 30)},
		{Total: 20, Ingredients: append(make([]Ingredient, 15), Ingredient{Required: true}, Ingredient{Required: true}, Ingredient{Excluded: true})},
		{Total: 30, Ingredients: slices.Repeat([]Ingredient{{Step: 5}}, 8)},
		{Total: 31, Ingredients: slices.Repeat([]Ingredient{{Min: 3}}, 12)},
		{Total: 31, Ingredients: slices.Repeat([]Ingredient{{Min: 3, Max: 9}}, 12)},
	} {
		table, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, lo := range []int{1, 3} {
			var got []*big.Int
			for n, x := range table.Counts(lo, table.MaxUsed()) {
				if n != lo+len(got) {
					t.Fatalf("%s: %d after %d others from %d", show(s), n, len(got), lo)
				}
				got = append(got, x)
			}
			for k, x := range got {
				if want := table.Count(lo + k); x.Cmp(want) != 0 {
					t.Errorf("%s: |X_%d| is %v in order from %d and %v by itself", show(s), lo+k, x, lo, want)
				}
			}
		}
	}
}

func TestContains(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 8))
	for range 200 {
		s := randomSpace(r)
		free := Space{Total: s.Total, Ingredients: make([]Ingredient, len(s.Ingredients))}
		for _, x := range bruteForce(free) {
			var ingredients, amounts []int32
			for i, a := range x {
				if a > 0 {
					ingredients, amounts = append(ingredients, int32(i)), append(amounts, int32(a))
				}
			}
			if got := s.Contains(ingredients, amounts); got != keepsRules(s, x) {
				t.Fatalf("%s: contains %v: %v", show(s), x, got)
			}
		}
	}
	s := Space{Total: 5, Ingredients: make([]Ingredient, 3)}
	for _, c := range [][2][]int32{
		{{0}, {4}}, {{0}, {6}}, {{3}, {5}}, {{-1}, {5}}, {{0, 0}, {2, 3}}, {{0, 1}, {5, 0}}, {{0, 1}, {6, -1}}, {{0, 1}, {5}}, {nil, nil},
	} {
		if s.Contains(c[0], c[1]) {
			t.Errorf("%v of %v lies in the space", c[1], c[0])
		}
	}
}

// Ratios and logarithms agree with the counts, of formulas and of tables.
func TestRatiosAndLogarithms(t *testing.T) {
	required := Space{Total: 60, Ingredients: make([]Ingredient, 30)}
	for i := range required.Ingredients {
		required.Ingredients[i] = Ingredient{Required: i < 4}
	}
	doses := Space{Total: 100, Ingredients: make([]Ingredient, 30)}
	for i := range doses.Ingredients {
		doses.Ingredients[i] = Ingredient{Min: 5, Step: 3, Required: i < 2}
	}
	for name, s := range map[string]Space{
		"free": {Total: 100, Ingredients: make([]Ingredient, 2000)}, "required": required, "doses": doses, "assets": assets(),
		"groups": middling(), "impossible": {Total: 3, Ingredients: []Ingredient{{Required: true, Excluded: true}, {}}},
	} {
		table, err := New(context.Background(), s, Options{MaxUsed: 40})
		if err != nil {
			t.Fatal(err)
		}
		for n := range table.MaxUsed() {
			a := table.Count(n)
			x, _ := new(big.Float).SetInt(a).Float64()
			if got, want := table.LogCount(n), math.Log(x); !(math.Abs(got-want) <= 1e-14*math.Abs(want)+1e-15) && got != want {
				t.Errorf("%s: log |X_%d| = %v, not %v", name, n, got, want)
			}
			if table.IsEmpty(n) != (a.Sign() == 0) {
				t.Errorf("%s: X_%d has %v, and is told to be empty or not, wrongly", name, n, a)
			}
		}
	}
}

// A million ingredients and units are counted without working out numbers of a
// million digits.
func TestMillions(t *testing.T) {
	table, err := NewUnconstrainedTable(1_000_000, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 20, 999, 250_000, 500_000, 999_999} {
		f := float64(n)
		want := (1e6 - f) / (f + 1) * (1e6 - f) / f
		// Neighbouring logarithms are known to 1e-14 of some 10^6.
		if got := table.LogCount(n+1) - table.LogCount(n); math.Abs(got-math.Log(want)) > 3e-8 {
			t.Errorf("log |X_%d| − log |X_%d| = %v, not %v", n+1, n, got, math.Log(want))
		}
	}
	if got := table.Count(3).String(); got != "83332833334416665666667000000" {
		t.Errorf("|X_3| = %s", got)
	}
	s, err := table.Sampler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ingredients, amounts, err := s.Draw(pcg{rand.New(rand.NewPCG(1, 1))}, 1000, nil, nil)
	sum := int32(0)
	for _, a := range amounts {
		sum += a
	}
	if err != nil || len(ingredients) != 1000 || sum != 1_000_000 {
		t.Errorf("a draw of 1000 of them: %d ingredients that sum to %d, %v", len(ingredients), sum, err)
	}
}

// logBinomial is right to a relative 1e-14 or, where it is next to zero, close.
func TestLogBinomial(t *testing.T) {
	for n := 0; n <= 2100; n += 1 + n/7 {
		for k := 0; k <= n; k += 1 + k/9 {
			want := logOfBigInt(new(big.Int).Binomial(int64(n), int64(k)))
			if got := logBinomial(n, k); math.Abs(got-want) > 1e-14*want {
				t.Errorf("log C(%d, %d) = %.17g, not %.17g", n, k, got, want)
			}
		}
	}
}

// What cannot be counted is refused.
func TestNewRefuses(t *testing.T) {
	free := func(n int) []Ingredient { return make([]Ingredient, n) }
	distinct := free(5000)
	for i := range distinct {
		distinct[i].Max = 100_000 + i
	}
	for name, s := range map[string]Space{
		"no ingredients":  {Total: 5},
		"no total":        {Ingredients: free(3)},
		"negative total":  {Total: -1, Ingredients: free(3)},
		"large total":     {Total: math.MaxInt32 + 1, Ingredients: free(3)},
		"negative min":    {Total: 5, Ingredients: []Ingredient{{Min: -1}}},
		"negative max":    {Total: 5, Ingredients: []Ingredient{{Max: -1}}},
		"negative step":   {Total: 5, Ingredients: []Ingredient{{Step: -1}}},
		"member too high": {Total: 5, Ingredients: free(3), Groups: []Group{{Members: []int{3}}}},
		"member too low":  {Total: 5, Ingredients: free(3), Groups: []Group{{Members: []int{-1}}}},
		"member twice":    {Total: 5, Ingredients: free(3), Groups: []Group{{Members: []int{1, 1}}}},
	} {
		if _, err := New(context.Background(), s, Options{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(context.Background(), Space{Total: 5, Ingredients: free(3)}, Options{MaxUsed: -1}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a negative MaxUsed: %v", err)
	}
	for _, sizes := range [][2]int{{0, 5}, {5, 0}, {math.MaxInt32 + 1, 5}} {
		if _, err := NewUnconstrainedTable(sizes[0], sizes[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("unconstrained %v: %v", sizes, err)
		}
	}
	var size *SizeError
	if _, err := New(context.Background(), Space{Total: 1_000_000, Ingredients: distinct}, Options{}); !errors.As(err, &size) {
		t.Errorf("5,000 ingredients with bounds and a total of 10^6: %v", err)
	}
	for total, of := range map[int]string{10_000_000: "bytes of memory", 1_000_000: "steps"} {
		if _, _, err := ReachableUsedCounts(context.Background(), Space{Total: total, Ingredients: distinct}, 0); !errors.As(err, &size) || size.Resource != of {
			t.Errorf("what can be reached with a total of %d: %v", total, err)
		}
	}
	if _, err := New(context.Background(), middling(), Options{MaxMemory: 1000}); !errors.As(err, &size) {
		t.Errorf("1000 bytes: %v", err)
	}
	table, err := New(context.Background(), middling(), Options{MaxUsed: 20, MaxMemory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Sampler(context.Background()); !errors.As(err, &size) {
		t.Errorf("draws in 1 MB: %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, middling(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled count: %v", err)
	}
	table, err = New(context.Background(), middling(), Options{MaxUsed: 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Sampler(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled sampler: %v", err)
	}
	if _, _, err := ReachableUsedCounts(ctx, middling(), 20); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question of what can be reached: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("asking for what was not counted does not panic")
		}
	}()
	table.Count(21)
}

// Groups that cross are held by a frontier, and Disjoint finds which groups
// can be counted together.
func TestCrossingGroups(t *testing.T) {
	one := &Range{0, 1}
	s := Space{Total: 5, Ingredients: make([]Ingredient, 6), Groups: []Group{
		{Members: []int{0, 1, 2}, Used: one},
		{Members: []int{2, 3}, Used: one},    // crosses 0
		{Members: []int{0, 1}, Used: one},    // lies within 0
		{Members: []int{3, 4, 5}, Used: one}, // crosses 1
		{Members: []int{4}, Total: one},
		{Members: []int{1, 2}, Used: one},    // lies within 0, crosses 2
		{Members: []int{0, 3, 4}},            // limits nothing
		{Members: []int{2, 1, 0}, Used: one}, // the same as 0
	}}
	kept, rest := s.CompatibleGroups()
	if !slices.Equal(kept, []int{0, 2, 3, 4, 6, 7}) || !slices.Equal(rest, []int{1, 5}) {
		t.Errorf("kept %v, rest %v", kept, rest)
	}
	if table, err := New(context.Background(), s, Options{}); err != nil || table.plan.frontier == nil {
		t.Fatalf("crossing groups: %v", err)
	}
	together := s
	together.Groups = nil
	for _, g := range kept {
		together.Groups = append(together.Groups, s.Groups[g])
	}
	if _, err := New(context.Background(), together, Options{}); err != nil {
		t.Error(err)
	}
	// Groups that meet in an ingredient that cannot be used do not cross.
	s.Groups = s.Groups[:2]
	s.Ingredients[2].Excluded = true
	if kept, _ := s.CompatibleGroups(); len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
	if _, err := New(context.Background(), s, Options{}); err != nil {
		t.Error(err)
	}
}

func show(s Space) string {
	out := fmt.Sprintf("total %d, ingredients %+v, groups", s.Total, s.Ingredients)
	for _, g := range s.Groups {
		out += fmt.Sprintf(" {%v used %v total %v}", g.Members, g.Used, g.Total)
	}
	return out + fmt.Sprintf(" sums %+v", s.Sums)
}
