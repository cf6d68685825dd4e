package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A classTruth is how probable classes are at shares of ingredients: what no book tells.
type classTruth func(x []float64) []float64

// classTruths make truths of kinds that a forest knows something of, little, and nothing.
var classTruths = []struct {
	name string
	make func(r *rand.Rand, n int) classTruth
}{
	{"shuffled: no recipe differs", func(*rand.Rand, int) classTruth {
		return func([]float64) []float64 { return []float64{0.5, 0.5} }
	}},
	{"a dose: 0.1 to 0.65", func(r *rand.Rand, n int) classTruth {
		a, b := r.IntN(n), r.IntN(n)
		return func(x []float64) []float64 {
			p := 0.3 + 0.35*math.Min(1, 4*x[a]) - 0.2*math.Min(1, 4*x[b])
			return []float64{p, 1 - p}
		}
	}},
	{"what is used: 0.2 or 0.75", func(r *rand.Rand, n int) classTruth {
		a, b, c := r.IntN(n), r.IntN(n), r.IntN(n)
		return func(x []float64) []float64 {
			if (x[a] > 0 || x[b] > 0) && x[c] == 0 {
				return []float64{0.75, 0.25}
			}
			return []float64{0.2, 0.8}
		}
	}},
	{"three classes, all ingredients", func(r *rand.Rand, n int) classTruth {
		var of [3][]float64
		for k := range of {
			for range n {
				of[k] = append(of[k], 2*r.NormFloat64())
			}
		}
		return func(x []float64) []float64 {
			p, sum := make([]float64, 3), 0.0
			for k := range p {
				for i, v := range x {
					p[k] += of[k][i] * math.Sqrt(v)
				}
				p[k] = math.Exp(p[k])
				sum += p[k]
			}
			for k := range p {
				p[k] /= sum
			}
			return p
		}
	}},
}

// randomShares are the shares of a random recipe of 2 to 6 ingredients.
func randomShares(r *rand.Rand, n int) []float64 {
	x, sum := make([]float64, n), 0.0
	for _, i := range r.Perm(n)[:2+r.IntN(5)] {
		x[i] = 0.05 + r.ExpFloat64()
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// classBook writes a book of random recipes with classes by a truth, and loads a problem
// that asks for the first class.
func classBook(t *testing.T, r *rand.Rand, truth classTruth, n, rows int) *Problem {
	t.Helper()
	var book strings.Builder
	book.WriteString("recipe")
	for i := range n {
		fmt.Fprintf(&book, ",i%d", i)
	}
	book.WriteString(",class\n")
	for k := range rows {
		x := randomShares(r, n)
		fmt.Fprintf(&book, "r%d", k)
		for _, v := range x {
			fmt.Fprintf(&book, ",%.4f", v*100)
		}
		class, u := 0, r.Float64()
		for p := truth(x); class < len(p)-1 && u >= p[class]; class++ {
			u -= p[class]
		}
		fmt.Fprintf(&book, ",c%d\n", class)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"book.csv": book.String(), "problem.yaml": "recipes: book.csv\ntotal: 200\nsparsity: recipes\nproperties: {y: {forest: {label: class, want: c0}}}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestChances holds the stated probability of a class against truths that no forest has seen, over
// books of 60 and of 150 recipes. Of fresh recipes it is right on average. Of shortlists,
// which a search has chosen, the stated one is too much by a quarter of what the forest's own
// probability is, at most. (Within 4 standard errors over the books: a false alarm of any
// of the 16 comparisons has a probability of 10⁻³, and seeds are fixed. -v prints the table
// of bench/RESULTS.md.)
func TestChances(t *testing.T) {
	const n, fresh = 20, 300
	books := testmode.Pick(12.0, 6)
	for _, kind := range classTruths {
		for _, rows := range []int{60, 150} {
			var raw, told, truly, low, high, held, skill, off, squares, freshOff, freshSquares float64
			for b := range int(books) {
				r := rand.New(rand.NewPCG(1000+uint64(b), uint64(rows)))
				truth := kind.make(r, n)
				p := classBook(t, r, truth, n, rows)
				w := &p.Properties[0]
				c, err := w.Calibration()
				if err != nil {
					t.Fatal(err)
				}
				quality := w.Model.Quality()
				skill += quality.Classes.Skill / books
				q, err := p.SearchQuestion()
				if err != nil {
					t.Fatal(err)
				}
				q.HalfTargets = nil
				if !testmode.Enabled() {
					q.BoundProblem = nil // a search that proves no bound chooses as well
				}
				a, err := q.Answer(t.Context(), search.RunContext{Iterations: testmode.Pick[int64](40_000, 16_000), Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				var of, is, from, to float64 // means over the shortlist
				at := func(parts []mcmc.Part) (own, truly float64) {
					x, err := mcmc.NewComposition(n, parts...)
					if err != nil {
						t.Fatal(err)
					}
					shares := make([]float64, n)
					for i, units := range x.Amounts() {
						shares[i] = float64(units) / float64(p.Total)
					}
					return w.Probability(x), truth(shares)[0]
				}
				each := 1 / float64(len(a.Entries))
				for _, e := range a.Entries {
					own, true_ := at(e.Parts)
					chance := c.Chance(own)
					raw += own * each / books
					of += chance.Value * each
					is += true_ * each
					from += chance.Low * each
					to += chance.High * each
				}
				if from <= is && is <= to {
					held++
				}
				told, truly, low, high = told+of/books, truly+is/books, low+from/books, high+to/books
				off += (of - is) / books
				squares += (of - is) * (of - is) / books
				mean := 0.0
				for range fresh {
					x := randomShares(r, n)
					var parts []mcmc.Part
					left := p.Total
					for i, v := range x {
						if units := min(int(math.Round(v*float64(p.Total))), left); units > 0 {
							parts = append(parts, mcmc.Part{Ingredient: i, Amount: units})
							left -= units
						}
					}
					parts[0].Amount += left
					own, true_ := at(parts)
					mean += (c.Value(own) - true_) / fresh
				}
				freshOff += mean / books
				freshSquares += mean * mean / books
			}
			error := func(mean, squares float64) float64 { return math.Sqrt(max(squares-mean*mean, 0) / (books - 1)) }
			t.Logf("| %s | %d | %.2f | %.2f | %.2f (%.2f to %.2f) | %.2f | %.0f of %.0f |", kind.name, rows, skill, raw, told, low, high, truly, held, books)
			if most := (raw - truly) / 4; off > most+4*error(off, squares) {
				t.Errorf("%s, %d recipes: of shortlists the forest's own probability is %.3f too much, and the stated one %.3f ± %.3f", kind.name, rows, raw-truly, off, error(off, squares))
			}
			if math.Abs(freshOff) > 4*error(freshOff, freshSquares) {
				t.Errorf("%s, %d recipes: of fresh recipes it is off by %.3f ± %.3f", kind.name, rows, freshOff, error(freshOff, freshSquares))
			}
		}
	}
}
