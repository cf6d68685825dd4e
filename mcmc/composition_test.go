package mcmc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// A ledger is a composition kept as a plain map.
type ledger struct {
	ingredients int
	units       map[int]int
}

func (l ledger) total() int {
	sum := 0
	for _, a := range l.units {
		sum += a
	}
	return sum
}

// differ says how a composition differs from the ledger.
func (l ledger) differ(x *mcmc.Composition) error {
	if err := x.Consistent(); err != nil {
		return err
	}
	if x.N() != l.ingredients || x.Total() != l.total() || x.UsedCount() != len(l.units) {
		return fmt.Errorf("%v has N=%d, total %d, %d used; want N=%d, %v", x, x.N(), x.Total(), x.UsedCount(), l.ingredients, l.units)
	}
	var parts []mcmc.Part
	for i := range l.ingredients {
		if x.Amount(i) != l.units[i] || int(x.Amounts()[i]) != l.units[i] {
			return fmt.Errorf("%v has %d of %d, want %d", x, x.Amount(i), i, l.units[i])
		}
		if l.units[i] > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: l.units[i]})
		}
	}
	if !slices.Equal(x.Parts(), parts) {
		return fmt.Errorf("parts %v, want %v", x.Parts(), parts)
	}
	used := slices.Clone(x.Ingredients())
	slices.Sort(used)
	for k, p := range parts {
		if int(used[k]) != p.Ingredient {
			return fmt.Errorf("ingredients %v, want those of %v", used, parts)
		}
	}
	return nil
}

// play makes the moves that bytes spell and compares with a ledger after each.
func play(ingredients int, moves []byte) error {
	start := []mcmc.Part{{Ingredient: 0, Amount: 7}, {Ingredient: ingredients - 1, Amount: 3}}
	if ingredients == 1 {
		start = start[:1]
	}
	x, err := mcmc.NewComposition(ingredients, start...)
	if err != nil {
		return err
	}
	l := ledger{ingredients, make(map[int]int)}
	for _, p := range start {
		l.units[p.Ingredient] = p.Amount
	}
	old := x.Clone()
	for ; len(moves) >= 4; moves = moves[4:] {
		i, j, k := int(int8(moves[1])), int(int8(moves[2])), int(int8(moves[3]))
		if ingredients < 100 {
			i, j, k = i%(ingredients+1), j%(ingredients+1), k%12
		}
		switch moves[0] % 8 {
		default:
			err := x.Move(i, j, k)
			valid := i >= 0 && i < ingredients && j >= 0 && j < ingredients && i != j && k >= 0 && k <= l.units[i]+l.units[j]
			if valid != (err == nil) {
				return fmt.Errorf("move %d %d %d of %v: %v", i, j, k, l.units, err)
			}
			if valid {
				s := l.units[i] + l.units[j]
				l.units[i], l.units[j] = k, s-k
				for _, q := range []int{i, j} {
					if l.units[q] == 0 {
						delete(l.units, q)
					}
				}
			}
		case 5:
			parts := []mcmc.Part{{Ingredient: i, Amount: k}, {Ingredient: j, Amount: 2}}
			err := x.SetParts(parts...)
			valid := i >= 0 && i < ingredients && j >= 0 && j < ingredients && i != j && k >= 1
			if valid != (err == nil) {
				return fmt.Errorf("set %v: %v", parts, err)
			}
			if valid {
				l.units = map[int]int{i: k, j: 2}
			}
		case 6:
			old = x.Clone()
			if !old.Equal(x) {
				return fmt.Errorf("%v is not its clone %v", x, old)
			}
		case 7:
			before := x.Clone()
			x.CopyFrom(old)
			if !x.Equal(old) || !old.Equal(x) {
				return fmt.Errorf("%v is not its copy %v", old, x)
			}
			same := slices.Equal(before.Amounts(), x.Amounts())
			if before.Equal(x) != same {
				return fmt.Errorf("%v equals %v: %v", before, x, !same)
			}
			clear(l.units)
			for _, p := range old.Parts() {
				l.units[p.Ingredient] = p.Amount
			}
		}
		if err := l.differ(x); err != nil {
			return err
		}
		if err := old.Consistent(); err != nil {
			return err
		}
	}
	return nil
}

func TestCompositionAgainstLedger(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, ingredients := range []int{1, 2, 3, 5, 40, 120} {
		for range 50 {
			moves := make([]byte, 4*200)
			for k := range moves {
				moves[k] = byte(r.Uint32())
			}
			if err := play(ingredients, moves); err != nil {
				t.Fatalf("%d ingredients: %v", ingredients, err)
			}
		}
	}
}

func FuzzComposition(f *testing.F) {
	f.Add(uint8(3), []byte{0, 0, 1, 2, 5, 1, 2, 3, 6, 0, 0, 0, 0, 2, 0, 0, 7, 0, 0, 0})
	f.Fuzz(func(t *testing.T, ingredients uint8, moves []byte) {
		if err := play(1+int(ingredients), moves); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCompositionErrors(t *testing.T) {
	for _, c := range []struct {
		parts []mcmc.Part
		want  string
	}{
		{[]mcmc.Part{{Ingredient: 3, Amount: 1}}, "ingredient 3 is not one of 0 to 2"},
		{[]mcmc.Part{{Ingredient: -1, Amount: 1}}, "ingredient -1 is not one of"},
		{[]mcmc.Part{{Ingredient: 0, Amount: 0}}, "at least 1"},
		{[]mcmc.Part{{Ingredient: 0, Amount: -5}}, "at least 1"},
		{[]mcmc.Part{{Ingredient: 0, Amount: 1}, {Ingredient: 0, Amount: 2}}, "twice"},
		{[]mcmc.Part{{Ingredient: 0, Amount: math.MaxInt32}, {Ingredient: 1, Amount: 1}}, "more than 2147483647"},
		{[]mcmc.Part{{Ingredient: 0, Amount: math.MaxInt}, {Ingredient: 1, Amount: math.MaxInt}}, "more than 2147483647"},
	} {
		if _, err := mcmc.NewComposition(3, c.parts...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.parts, err, c.want)
		}
	}
	x, err := mcmc.NewComposition(3, mcmc.Part{Ingredient: 1, Amount: math.MaxInt32})
	if err != nil || x.Total() != math.MaxInt32 {
		t.Errorf("the largest total: %v, %v", x, err)
	}
	if got := x.String(); got != "{1: 2147483647}" {
		t.Errorf("%s", got)
	}
	other, err := mcmc.NewComposition(4, mcmc.Part{Ingredient: 1, Amount: math.MaxInt32})
	if err != nil || x.Equal(other) {
		t.Errorf("compositions of 3 and of 4 ingredients are equal (%v)", err)
	}
}

func newComposition(t *testing.T, amounts ...int) *mcmc.Composition {
	t.Helper()
	var parts []mcmc.Part
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
