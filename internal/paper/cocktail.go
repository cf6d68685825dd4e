package paper

import (
	"context"
	"fmt"

	"slices"

	"kir/internal/dataset"
	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// These constants are the sizes of the cocktail experiment (§5.2 of the paper).
const (
	cocktailTotal               = 1000    // total units of a composition
	cocktailIterations          = 110_000 // iterations of one sequence
	cocktailDiscardedIterations = 10_000  // number of iterations at the beginning of a sequence that are not counted
	cocktailTrees               = 100     // number of trees in each forest
	cocktailNeighbours          = 4       // number of nearest recipes that the report shows
	cocktailBins                = 25      // number of bins, over 0..1, of the histogram of the product of the objectives
)

// cocktailWishes are the two objectives of the experiment: each is a label of recipes and the class of the label
// that is wanted. Each objective has weight 1.
var cocktailWishes = []struct{ label, class string }{{"taste", "Fresh"}, {"timing", "All day"}}

// cocktailExperiment holds the state of the cocktail experiment.
type cocktailExperiment struct {
	book               *dataset.Book       // recipes from which the forests learn
	scoredTarget       *mcmc.Target        // target with the objectives
	randomTarget       *mcmc.Target        // target without objectives, for random compositions
	kernel             mcmc.Kernel         // kernel of the accelerated sampler on scoredTarget
	randomKernel       mcmc.Kernel         // kernel that draws independently from randomTarget
	objectives         []mcmc.LineProperty // one property for each item of cocktailWishes: a forest that scores compositions
	recipeCompositions []*mcmc.Composition // the recipes of the book as compositions

	chainStats  []cocktailSequence // item k holds the statistics of sequence k of the accelerated sampler
	randomStats []cocktailSequence // item k holds the statistics of sequence k of independent random compositions
	result      Cocktails          // results so far
}

// A cocktailSequence holds the statistics of one sequence: of a chain, or of independent random compositions.
type cocktailSequence struct {
	tally      mcmc.Tally          // numbers of iterations in which the candidate was accepted, and in which the composition changed
	binCounts  [cocktailBins]int64 // histogram of the product of the objectives
	productSum float64             // sum of the products of the objectives
	best       candidate           // best composition found by the chain
}

// A candidate is a composition that may become the new cocktail: no recipe of the book has the same set of
// ingredients.
type candidate struct {
	parts      []mcmc.Part
	score      float64 // log of the product of the objectives
	logDensity float64 // log of the target density
}

// isBetterThan reports whether c is the better candidate: first by score, then by density. A candidate without parts
// is worse than any other candidate.
func (c candidate) isBetterThan(than candidate) bool {
	switch {
	case c.parts == nil || than.parts == nil:
		return c.parts != nil && than.parts == nil
	case c.score != than.score:
		return c.score > than.score
	}
	return c.logDensity > than.logDensity
}

// newCocktailLab prepares the experiment: it grows the forests and makes the targets.
func newCocktailLab(ctx context.Context, o Options) (*cocktailExperiment, error) {
	book := o.Book
	lab := &cocktailExperiment{
		book:        book,
		chainStats:  make([]cocktailSequence, sequenceCount),
		randomStats: make([]cocktailSequence, sequenceCount),
	}
	c := &lab.result
	c.Recipes, c.Ingredients, c.Total = len(book.Recipes), book.Ingredients.Len(), cocktailTotal
	c.Iterations, c.Discarded = cocktailIterations/o.Divide, cocktailDiscardedIterations/o.Divide

	weights := map[int]float64{}
	counts := book.RecipeCountsBySize()
	for n := 1; n < max(len(counts), 6); n++ {
		l := LawCount{N: n, Paper: publishedRecipeCounts[n]}
		if n < len(counts) {
			l.Recipes = counts[n]
			weights[n] = float64(counts[n])
		}
		c.Law = append(c.Law, l)
	}

	rows := make([][]model.Part, len(book.Recipes))
	for k := range book.Recipes {
		units, err := book.Closure(k, cocktailTotal)
		if err != nil {
			return nil, err
		}
		parts := make([]mcmc.Part, len(units))
		for q, p := range book.Recipes[k].Parts {
			rows[k] = append(rows[k], model.Part{Ingredient: p.Ingredient, Amount: int32(units[q])})
			parts[q] = mcmc.Part{Ingredient: int(p.Ingredient), Amount: units[q]}
		}
		x, err := mcmc.NewComposition(c.Ingredients, parts...)
		if err != nil {
			return nil, err
		}
		lab.recipeCompositions = append(lab.recipeCompositions, x)
	}
	var wishes []mcmc.Objective
	for k, w := range cocktailWishes {
		label, ok := book.Label(w.label)
		if !ok {
			return nil, fmt.Errorf("%s has no label %q, which the cocktail experiment is about", book.File, w.label)
		}
		if w.label == "taste" {
			c.Tastes = label.Classes
		}
		grown, score, err := growForest(ctx, o, book, label, w.class, rows, uint64(k))
		if err != nil {
			return nil, err
		}
		c.Forests = append(c.Forests, grown)
		p := property.NewForest(score, 0)
		lab.objectives = append(lab.objectives, p)
		wishes = append(wishes, mcmc.Objective{Name: w.label, Property: p, Weight: 1})
	}

	space, err := mcmc.NewSpace(c.Ingredients, cocktailTotal)
	if err != nil {
		return nil, err
	}
	if lab.scoredTarget, err = mcmc.NewTarget(space, mcmc.Table(weights), wishes...); err != nil {
		return nil, err
	}
	if lab.randomTarget, err = mcmc.NewTarget(space, mcmc.Table(weights)); err != nil {
		return nil, err
	}
	if lab.kernel, err = mcmc.NewKernel(KernelAccelerated, lab.scoredTarget); err != nil {
		return nil, err
	}
	lab.randomKernel, err = mcmc.NewExact(lab.randomTarget)
	return lab, err
}

// growForest grows the forest that predicts a label. growForest returns the quality of the forest, and a score:
// the predicted probability of the given class. Item k of rows holds the parts of recipe k of the book.
func growForest(ctx context.Context, o Options, book *dataset.Book, label *dataset.Label, class string, rows [][]model.Part, index uint64) (ForestQuality, *model.Score, error) {
	d := &model.Data{Label: label.Name, Ingredients: book.Ingredients.Names, Total: cocktailTotal}
	for k := range book.Recipes {
		if label.ClassOf[k] >= 0 {
			d.Rows = append(d.Rows, rows[k])
			d.Classes = append(d.Classes, label.Value(k))
		}
	}
	f, err := model.Grow(ctx, d, model.Options{
		Trees:   cocktailTrees,
		Splits:  model.BestSplits,
		Seed:    mcmc.NewRand(o.Seed, "paper forest", index).Uint64(),
		Workers: o.Workers,
	})
	if err != nil {
		return ForestQuality{}, nil, fmt.Errorf("label %q of %s: %w", label.Name, book.File, err)
	}
	score, err := f.Score(model.AnyOf(class))
	if err != nil {
		return ForestQuality{}, nil, fmt.Errorf("label %q of %s: %w", label.Name, book.File, err)
	}
	g := ForestQuality{Label: label.Name, Want: class, Trees: f.TreeCount()}
	if q := f.Quality().Classes; q != nil {
		g.Accuracy, g.AccuracySE, g.Majority = q.Accuracy, q.AccuracySE, q.MajorityAccuracy
		g.LogLoss, g.PriorLoss = q.LogLoss, q.PriorLogLoss
	}
	return g, score, nil
}

// add counts a composition in productSum and binCounts. The parameter score is the log of the product of the
// objectives.
func (s *cocktailSequence) add(score float64) {
	y := portable.Exp(score)
	s.productSum += y
	// The addend puts a product that rounding left just below a bin's end, such as 0.3 = 0.5·0.6, into the next
	// bin.
	s.binCounts[min(cocktailBins-1, int(float64(y*cocktailBins)+1e-9))]++
}

// runChain runs one sequence of the accelerated sampler.
func (lab *cocktailExperiment) runChain(ctx context.Context, seed uint64, index int, tick func(iterations int)) error {
	c, err := mcmc.NewChain(lab.scoredTarget, lab.kernel, seed, index)
	if err != nil {
		return err
	}
	s := &lab.chainStats[index]
	var set []int
	var log float64
	return advanceChain(ctx, c, lab.result.Discarded, lab.result.Iterations-lab.result.Discarded, tick, func(draw int) {
		log = c.State.LogScore()
		s.add(log)
		s.tally = c.Tally()
		x := candidate{score: log, logDensity: c.State.LogDensity()}
		x.parts = s.best.parts // makes isBetterThan compare score and density only
		if s.best.parts != nil && !x.isBetterThan(s.best) {
			return
		}
		set = set[:0]
		for _, i := range c.State.Composition.Ingredients() {
			set = append(set, int(i))
		}
		slices.Sort(set)
		if _, known := lab.book.RecipeWithSet(set); !known {
			x.parts = c.State.Composition.Parts()
			s.best = x
		}
	})
}

// runIndependent scores independent random compositions, one sequence of them. The number of ingredients follows
// the distribution in the book.
func (lab *cocktailExperiment) runIndependent(ctx context.Context, seed uint64, index int, tick func(iterations int)) error {
	c, err := mcmc.NewChain(lab.randomTarget, lab.randomKernel, seed, index)
	if err != nil {
		return err
	}
	scorers := make([]mcmc.Scorer, len(lab.objectives))
	for k, w := range lab.objectives {
		scorers[k] = w.Scorer(c.State.Composition)
	}
	s := &lab.randomStats[index]
	return advanceChain(ctx, c, 0, lab.result.Iterations-lab.result.Discarded, tick, func(int) {
		log := 0.0
		for _, w := range scorers {
			w.Reset()
			log += w.LogScore()
		}
		s.add(log)
		s.tally = c.Tally()
	})
}

// summarize computes the result of the experiment from the sequences of random compositions and the chains.
func (lab *cocktailExperiment) summarize() (*Cocktails, error) {
	c := &lab.result
	kept := c.Iterations - c.Discarded
	c.Random, c.Chain = productDistribution(lab.randomStats, kept), productDistribution(lab.chainStats, kept)
	var accepted, updated []float64
	var best candidate
	for _, s := range lab.chainStats {
		accepted = append(accepted, 100*float64(s.tally.Accepted)/float64(kept))
		updated = append(updated, 100*float64(s.tally.Updated)/float64(kept))
		if s.best.isBetterThan(best) {
			best = s.best
		}
	}
	for _, r := range []struct {
		name string
		x    []float64
	}{{Accepted, accepted}, {Updated, updated}} {
		mean, sd := meanSD(r.x)
		c.Rates = append(c.Rates, Share{r.name, mean, sd})
	}
	if best.parts == nil {
		return nil, fmt.Errorf("the %d sequences found no set of ingredients that the book does not have", len(lab.chainStats))
	}
	c.Rule = "Of all states kept of all sequences whose set of ingredients no recipe of the book has, the one with the highest product of the objectives; of several the one with the highest density, then the first."

	x, err := mcmc.NewComposition(c.Ingredients, best.parts...)
	if err != nil {
		return nil, err
	}
	set := make([]int, len(best.parts))
	for k, p := range best.parts {
		set[k] = p.Ingredient
	}
	near := lab.book.NearestRecipes(set, cocktailNeighbours)
	shared := map[int]bool{}
	for _, n := range near {
		for _, i := range n.Shared {
			shared[i] = true
		}
	}
	c.New = lab.describeDrink("New cocktail", x, shared)
	c.New.Overlap = 1
	own := map[int]bool{}
	for _, i := range set {
		own[i] = true
	}
	for _, n := range near {
		d := lab.describeDrink(lab.book.Recipes[n.Recipe].Name, lab.recipeCompositions[n.Recipe], own)
		d.Overlap = n.Overlap
		for _, w := range cocktailWishes {
			if label, ok := lab.book.Label(w.label); ok {
				d.Labels = append(d.Labels, label.Value(n.Recipe))
			}
		}
		c.Nearest = append(c.Nearest, d)
	}
	return c, nil
}

// describeDrink returns a composition as a drink: the parts with names, the largest part first, and the scores.
// The map sharedIngredients holds the indices of the ingredients to mark as shared (see [Portion]).
func (lab *cocktailExperiment) describeDrink(name string, x *mcmc.Composition, sharedIngredients map[int]bool) Drink {
	d := Drink{Name: name, Score: 1}
	for _, p := range x.Parts() {
		d.Parts = append(d.Parts, Portion{
			Ingredient: lab.book.Ingredients.Names[p.Ingredient],
			Units:      p.Amount,
			Percent:    100 * float64(p.Amount) / float64(x.Total()),
			Shared:     sharedIngredients[p.Ingredient],
		})
	}
	slices.SortStableFunc(d.Parts, func(a, b Portion) int { return b.Units - a.Units })
	for _, w := range lab.objectives {
		y := portable.Exp(w.LogScore(x))
		d.Scores = append(d.Scores, y)
		d.Score = float64(d.Score * y)
	}
	return d
}

// productDistribution returns the mean and the histogram of the product of the objectives over several
// sequences. Each sequence has kept compositions.
func productDistribution(sequences []cocktailSequence, kept int) Product {
	p := Product{Compositions: kept}
	values := make([]float64, len(sequences))
	for k, s := range sequences {
		values[k] = s.productSum / float64(kept)
	}
	p.Mean, p.SD = meanSD(values)
	for b := range cocktailBins {
		for k, s := range sequences {
			values[k] = float64(s.binCounts[b]) / float64(kept)
		}
		bin := Bin{Low: float64(b) / cocktailBins, High: float64(b+1) / cocktailBins}
		bin.Mean, bin.SD = meanSD(values)
		p.Bins = append(p.Bins, bin)
	}
	return p
}
