package examples_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"kir/examples/fragrance"
	"kir/internal/search"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/model"
	"kir/property"
	"kir/rule"
)

// A house is the formulas with what follows from them.
type house struct {
	truth       *fragrance.Truth
	data        *model.Data
	known       []*mcmc.Composition
	least, most []int // doses of the formulas, by material
	forest      *model.Forest
	score       *model.Score
	target      *mcmc.Target

	random map[uint64]*randomFormulas // by seed
}

// randomFormulas are drawn one after the other, and kept.
type randomFormulas struct {
	prior *mcmc.Prior
	rand  *mcmc.Rand
	drawn []scoredFormula
}

// A scored formula has what the forest says of it.
type scoredFormula struct {
	parts []mcmc.Part
	value int64
}

var sharedHouse *house

// theHouse is the house of all tests, which read it only.
func theHouse(t *testing.T) *house {
	t.Helper()
	if sharedHouse == nil {
		sharedHouse = newHouse(t)
	}
	return sharedHouse
}

// newHouse reads formulas.csv, grows a forest that predicts the rating, and
// returns the target that maximizes it within the doses of the book.
func newHouse(t *testing.T) *house {
	t.Helper()
	materials, err := fragrance.Materials()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{truth: fragrance.NewTruth(materials), data: &model.Data{Label: "rating", Total: 1000}, random: make(map[uint64]*randomFormulas)}
	index := make(map[string]int)
	for i, m := range materials {
		index[m.Name] = i
		h.data.Ingredients = append(h.data.Ingredients, m.Name)
	}
	_, rows := readCSV(t, "fragrance/formulas.csv")
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	h.least, h.most = make([]int, len(materials)), make([]int, len(materials))
	last := ""
	for _, row := range rows {
		if row[0] != last {
			last = row[0]
			h.data.Rows = append(h.data.Rows, nil)
			h.data.Numbers = append(h.data.Numbers, number(row[4]))
		}
		i, grams := index[row[1]], int(number(row[2]))
		formula := &h.data.Rows[len(h.data.Rows)-1]
		*formula = append(*formula, model.Part{Ingredient: int32(i), Amount: int32(grams)})
		if h.least[i] == 0 || grams < h.least[i] {
			h.least[i] = grams
		}
		h.most[i] = max(h.most[i], grams)
	}
	sizes := make(map[int]float64)
	for _, formula := range h.data.Rows {
		var parts []mcmc.Part
		for _, p := range formula {
			parts = append(parts, mcmc.Part{Ingredient: int(p.Ingredient), Amount: int(p.Amount)})
		}
		x, err := mcmc.NewComposition(len(materials), parts...)
		if err != nil {
			t.Fatal(err)
		}
		h.known = append(h.known, x)
		sizes[x.UsedCount()]++
	}
	set := rule.Set{Ingredients: len(materials), Total: 1000}
	for i := range materials {
		if h.most[i] == 0 {
			set.Rules = append(set.Rules, rule.Exclude{Of: []int{i}})
		} else {
			set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: h.least[i], Max: h.most[i]})
		}
	}
	space, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: mcmc.Table(sizes)})
	if err != nil {
		t.Fatal(err)
	}
	if h.forest, err = model.Grow(t.Context(), h.data, model.Options{Splits: model.BestSplits, Seed: 1, Trees: 300}); err != nil {
		t.Fatal(err)
	}
	if h.score, err = h.forest.Score(model.Maximize()); err != nil {
		t.Fatal(err)
	}
	h.target, err = mcmc.NewTarget(space, mcmc.Table(sizes), mcmc.Objective{Name: "rating", Property: property.NewForest(h.score, 0), Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// quality is the truth.
func (h *house) quality(parts []mcmc.Part) float64 {
	grams := make(map[int]float64)
	for _, p := range parts {
		grams[p.Ingredient] = float64(p.Amount)
	}
	return h.truth.Quality(grams)
}

// localSearch is what one would write in an afternoon: each of the known formulas
// that the forest likes best, as many as are wanted, climbs by itself. A step
// moves a part of one material's dose to another one, used or not, or swaps one
// for another, within the doses and sizes of the book, and stays if the forest
// likes it better. Each evaluation scores one formula.
func (h *house) localSearch(seed uint64, wanted, evaluations int) [][]mcmc.Part {
	r := rand.New(rand.NewPCG(seed, 1))
	var palette []int
	for i, m := range h.most {
		if m > 0 {
			palette = append(palette, i)
		}
	}
	type start struct {
		x     []int32
		value int64
	}
	var starts []start
	for _, x := range h.known {
		starts = append(starts, start{slices.Clone(x.Amounts()), h.score.Point(x.Amounts())})
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(b.value, a.value) })
	lo, hi := h.target.Law().Support()
	var found [][]mcmc.Part
	for _, s := range starts[:wanted] {
		x, used := s.x, 0
		for _, a := range x {
			if a > 0 {
				used++
			}
		}
		for range (evaluations - len(starts)) / wanted {
			i, j := palette[r.IntN(len(palette))], palette[r.IntN(len(palette))]
			for x[i] == 0 {
				i = palette[r.IntN(len(palette))]
			}
			if i == j {
				continue
			}
			give := x[i]
			if r.IntN(2) == 0 {
				give = 1 + r.Int32N(x[i])
			}
			a, b := x[i]-give, x[j]+give
			size := used
			if a == 0 {
				size--
			}
			if x[j] == 0 {
				size++
			}
			if size < lo || size > hi || a > 0 && int(a) < h.least[i] || int(b) < h.least[j] || int(b) > h.most[j] {
				continue
			}
			x[i], x[j] = a, b
			if value := h.score.Point(x); value > s.value {
				s.value, used = value, size
			} else {
				x[i], x[j] = a+give, b-give
			}
		}
		var parts []mcmc.Part
		for i, a := range x {
			if a > 0 {
				parts = append(parts, mcmc.Part{Ingredient: i, Amount: int(a)})
			}
		}
		found = append(found, parts)
	}
	return found
}

// randomSearch is the best of formulas drawn at random under the same rules. Searches with
// one seed draw the same formulas, which are kept.
func (h *house) randomSearch(t *testing.T, seed uint64, wanted, evaluations int) [][]mcmc.Part {
	t.Helper()
	of := h.random[seed]
	if of == nil {
		of = &randomFormulas{prior: mcmc.NewPrior(h.target), rand: mcmc.NewRand(seed, "random search", 0)}
		h.random[seed] = of
	}
	for len(of.drawn) < evaluations {
		x, err := of.prior.Draw(of.rand)
		if err != nil {
			t.Fatal(err)
		}
		of.drawn = append(of.drawn, scoredFormula{x.Parts(), h.score.Point(x.Amounts())})
	}
	var best []scoredFormula
	for _, x := range of.drawn[:evaluations] {
		if len(best) == wanted && x.value <= best[wanted-1].value {
			continue
		}
		best = append(best, x)
		slices.SortStableFunc(best, func(a, b scoredFormula) int { return cmp.Compare(b.value, a.value) })
		best = best[:min(len(best), wanted)]
	}
	var found [][]mcmc.Part
	for _, b := range best {
		found = append(found, b.parts)
	}
	return found
}

// medianDistance returns the median distance between two of the compositions.
func medianDistance(list [][]mcmc.Part, distance func(x, y []mcmc.Part) float64) float64 {
	var all []float64
	for a := range list {
		for b := range a {
			all = append(all, distance(list[a], list[b]))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// exchangedShare is the share of the amount that has to be exchanged to make one of the
// other, and unlike the share of their ingredients that only one has.
func exchangedShare(x, y []mcmc.Part) float64 {
	of := make(map[int]int)
	for _, p := range x {
		of[p.Ingredient] = p.Amount
	}
	common := 0
	for _, p := range y {
		common += min(of[p.Ingredient], p.Amount)
	}
	return 1 - float64(common)/1000
}

func differentShare(x, y []mcmc.Part) float64 {
	of := make(map[int]bool)
	for _, p := range x {
		of[p.Ingredient] = true
	}
	common := 0
	for _, p := range y {
		if of[p.Ingredient] {
			common++
		}
	}
	return 1 - float64(common)/float64(len(x)+len(y)-common)
}

// TestAnswerIsGood holds the shortlist against the truth that the forest has not
// seen: its best twenty are better than those of a local search and of a random
// search with as many evaluations of the same forest, for each of ten seeds, and
// differ from each other by at least 40 % of what two known formulas do, however
// the difference is measured.
func TestAnswerIsGood(t *testing.T) {
	const wanted, evaluations = 20, 20_000
	seeds := testmode.Pick(uint64(10), 1)
	h := theHouse(t)
	distance := search.NewDistance(len(h.least), h.known)
	typical := distance.Typical(h.known)
	var knownParts [][]mcmc.Part
	known := 0.0
	for _, x := range h.known {
		knownParts = append(knownParts, x.Parts())
		known += h.quality(x.Parts()) / float64(len(h.known))
	}
	t.Logf("%s; the known formulas have a mean quality of %.1f", "R² "+strconv.FormatFloat(h.forest.Quality().Numbers.R2, 'f', 2, 64), known)
	total := make(map[string]float64)
	for seed := uint64(1); seed <= seeds; seed++ {
		o := search.Options{Evaluations: evaluations, Seed: seed, Starts: h.known, DiverseCount: wanted, Distance: distance, MinDistance: search.MinDistanceShare * typical}
		r, err := search.Best(t.Context(), h.target, o)
		if err != nil {
			t.Fatal(err)
		}
		shortlist, err := search.Shortlist(t.Context(), h.target, append(r.Diverse, r.Archive.Best()...), search.ListOptions{MaxEntries: wanted, Distance: distance, MinDistance: o.MinDistance})
		if err != nil {
			t.Fatal(err)
		}
		var list [][]mcmc.Part
		for _, e := range shortlist.Entries {
			list = append(list, e.Parts)
		}
		if len(list) != wanted {
			t.Fatalf("seed %d: %d entries", seed, len(list))
		}
		looked := int(r.Evaluations + shortlist.Evaluations)
		quality := make(map[string]float64)
		for name, found := range map[string][][]mcmc.Part{"search": list, "local": h.localSearch(seed, wanted, looked), "random": h.randomSearch(t, seed, wanted, looked)} {
			for _, parts := range found {
				quality[name] += h.quality(parts) / wanted
			}
			total[name] += quality[name] / float64(seeds)
		}
		worst := math.Inf(1)
		for _, d := range []func(x, y []mcmc.Part) float64{distance.Between, exchangedShare, differentShare} {
			worst = min(worst, medianDistance(list, d)/medianDistance(knownParts, d))
		}
		t.Logf("seed %2d: %d evaluations; true quality %.1f, of a local search %.1f, of a random one %.1f; apart at least %.2f of the known", seed, looked, quality["search"], quality["local"], quality["random"], worst)
		if quality["search"] <= quality["local"] || quality["search"] < quality["random"]+20 {
			t.Errorf("seed %d: the shortlist has a quality of %.1f, a local search %.1f, a random one %.1f", seed, quality["search"], quality["local"], quality["random"])
		}
		if worst < 0.4 {
			t.Errorf("seed %d: the entries differ by %.2f of what known formulas do", seed, worst)
		}
	}
	t.Logf("mean of the seeds: %.1f, local search %.1f, random %.1f", total["search"], total["local"], total["random"])
}
