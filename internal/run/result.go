package run

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
)

// A Result holds the results of a run. No result depends on the number of workers or on
// interruptions, except Timing and the duration of the search in Answer. A statistic that the draws
// do not determine is NaN.
type Result struct {
	Settings          mcmc.Settings // settings of the run; for a run of [mcmc.AutoDraws] with the number of draws and thin at its end
	Auto              Auto          // reason why a run that determines its number of draws itself stopped; the zero value for other runs
	Parts             []PartFile    // files of draws from which the results were computed
	Chains            []ChainResult
	Tally             mcmc.Tally          // counts of iterations and accepted moves of all chains after warm-up
	Rates             Rates               // counts of Tally divided by the number of iterations
	Moves             []Move              // statistics of each kind of move, for a kernel that mixes several kinds
	Ladders           []Ladder            // statistics of tempered chains for each inverse temperature, one ladder for each chain; empty for other kernels
	LogZ              *Estimate           // log of the mean score over random compositions; nil unless the kernel is tempered
	Sizes             []Size              // for each possible number of ingredients: its probability in the sparsity law and its share of the draws
	Variation         number.Number       // total variation distance between two distributions of the number of ingredients: the sparsity law and that of the draws
	ExpectedVariation number.Number       // expected value of Variation for draws that follow the sparsity law; see [diagnose.ExpectedTotalVariation]
	IngredientCount   Statistic           // statistic of the number of ingredients
	LogDensity        Statistic           // statistic of the log density
	Score             *Statistic          // statistic of the total score Π_k y_k^c_k; nil if no property has a positive weight
	Properties        []Statistic         // item k is the statistic of the scores of property k
	Inclusion         []Inclusion         // use of each ingredient in the draws; if there are more than [MaxListedIngredients], only the most used
	Conditions        []ConditionShares   // for each condition: the share of the draws with each value
	Unlisted          UnlistedIngredients // summary of the used ingredients that Inclusion does not list
	Best              []Best              // best compositions of all draws, at most 100, the best first
	NewBest           []Best              // best compositions of all draws whose set of ingredients no known recipe has; nil if there are no known recipes
	Answer            *search.Answer      // result of the search after the chains; nil without a question or if no property has a positive weight
	UnseenMode        *UnseenMode         // region of high score that the search found although no chain went there; nil if there is none
	Baseline          *Baseline           // scores of random compositions; nil if no property has a positive weight

	meanInverseScore logMean // mean of 1/Π_k y_k^c_k over all draws

	Notes  []string // messages about the run for the user
	Timing Timing
}

// A ChainResult holds the statistics of one chain.
type ChainResult struct {
	Chain      int                    `json:"chain"`
	StartTries int                    `json:"starts"` // number of random compositions that were drawn to find the chain's first state, which must have positive density
	Rates      Rates                  `json:"rates"`
	Tally      mcmc.Tally             `json:"-"` // counts of iterations and accepted moves after warm-up
	Ladder     *mcmc.LadderStatistics `json:"-"` // statistics of a tempered chain for each inverse temperature, else nil
}

// Rates are shares of iterations after warm-up, in 0..1.
type Rates struct {
	Accepted number.Number `json:"accepted"` // share of iterations whose proposal was accepted
	Updated  number.Number `json:"updated"`  // share of iterations that changed the composition
}

// newRates returns accepted and updated, two numbers of iterations, as shares of all iterations.
func newRates(accepted, updated, iterations int64) Rates {
	return Rates{number.Number(float64(accepted) / float64(iterations)), number.Number(float64(updated) / float64(iterations))}
}

// A Move holds the statistics of one kind of move of a kernel after warm-up.
type Move struct {
	Name  string `json:"name"`
	Tried int64  `json:"tried"` // number of iterations that tried the move
	Rates        // shares of the iterations that tried the move
}

// newMoves returns the statistics of each kind of move that was tried.
func newMoves(t mcmc.Tally) []Move {
	moves := []Move{}
	for _, m := range t.Moves {
		if m.Tried > 0 {
			moves = append(moves, Move{m.Name, m.Tried, newRates(m.Accepted, m.Updated, m.Tried)})
		}
	}
	return moves
}

// A Size compares two numbers for compositions of N ingredients: their probability in the sparsity
// law, and their share of the draws.
type Size struct {
	N        int           `json:"n"`        // number of ingredients
	Target   number.Number `json:"target"`   // probability of N in the sparsity law
	Observed number.Number `json:"observed"` // share of the draws that have N ingredients
	MCSE     number.Number `json:"mcse"`     // standard error of Observed − Target

	// LawSE is the contribution of the standard error of Share to MCSE; 0 if Share is nil.
	LawSE number.Number `json:"law_se"`
	// Share is set if some rules are of a kind that the counts of compositions cannot take into
	// account. It then is the estimated share of the counted compositions with N ingredients that
	// keep these rules, too. The error of the estimate limits the accuracy of Target.
	Share *mcmc.UncountedRuleShare `json:"share,omitempty"`

	Counts []int64 `json:"-"` // item k is the number of draws of chain k with N ingredients
}

// RulesShare returns the estimated share of the counted compositions with n ingredients that keep
// all rules. It returns nil if the counts take all rules into account.
func RulesShare(space *mcmc.Space, n int) *mcmc.UncountedRuleShare {
	if shares := space.UncountedRuleShares(); shares != nil {
		return &shares[n-1]
	}
	return nil
}

// A Statistic is a summary of one series of numbers for each chain, such as the scores of a
// property.
type Statistic struct {
	Name string `json:"-"`
	diagnose.Summary
}

// An Inclusion describes how an ingredient is used in the draws: how often, and in which amounts.
type Inclusion struct {
	Ingredient  string        `json:"ingredient"`
	Probability number.Number `json:"probability"` // share of the draws that use the ingredient
	MCSE        number.Number `json:"mcse"`        // Monte Carlo standard error of Probability
	MeanAmount  number.Number `json:"mean_amount"` // mean number of units over the draws that use the ingredient

	// AmountMCSE is an upper bound on the standard error of MeanAmount. It is computed from at most
	// 524,288 draws. It is null if all draws that use the ingredient have the same amount. It is
	// unknown until a report sets it.
	AmountMCSE number.Number `json:"mean_amount_mcse"`
	// BookShare is the share of known recipes that use the ingredient. It is unknown until a report
	// sets it, and if there are no known recipes.
	BookShare number.Number `json:"book_share"`
	// BookAmount is the mean number of units over the known recipes that use the ingredient. It is
	// unknown in the same cases as BookShare.
	BookAmount number.Number `json:"book_amount"`

	Index int     `json:"-"` // index of the ingredient
	ESS   float64 `json:"-"` // effective sample size of the draws for Probability
}

// Timing is the duration of a run. Results of equal runs differ only in their timing.
type Timing struct {
	Seconds             number.Number `json:"seconds"`               // duration of all sessions of the run together
	IterationsPerSecond number.Number `json:"iterations_per_second"` // number of iterations of all chains per second
	SearchSeconds       number.Number `json:"search_seconds"`        // duration of the search for the best compositions

	Iterations int64 `json:"-"` // number of iterations of all chains, warm-up included
}

// withholdStandardErrors sets the standard errors of all statistics to unknown if the draws are too
// few for reliable standard errors. The smallest bulk effective sample size of a statistic decides.
// It is returned as minBulkESS, or +Inf if none is known.
func (r *Result) withholdStandardErrors() (minBulkESS float64) {
	all := []*Statistic{&r.IngredientCount, &r.LogDensity}
	for k := range r.Properties {
		all = append(all, &r.Properties[k])
	}
	minBulkESS, name := math.Inf(1), ""
	for _, s := range all {
		if ess := float64(s.ESSBulk); ess < minBulkESS {
			minBulkESS, name = ess, s.Name
		}
	}
	err := diagnose.CheckESS(minBulkESS, len(r.Chains))
	if err == nil {
		return minBulkESS
	}
	if r.Score != nil {
		all = append(all, r.Score)
	}
	for _, s := range all {
		for _, f := range []struct {
			figure string
			se     *number.Number
		}{{"SEMean", &s.SEMean}, {"SEQ5", &s.SEQ5}, {"SEMedian", &s.SEMedian}, {"SEQ95", &s.SEQ95}} {
			if !math.IsNaN(float64(*f.se)) {
				*f.se = number.Unknown()
				s.Undefined = append(s.Undefined, diagnose.UndefinedFigure{Figure: f.figure, Err: fmt.Errorf("withheld, as the row %s has %w", StatisticLabel(name), err)})
			}
		}
	}
	return minBulkESS
}

// StatisticLabel returns the name of a statistic for people. The parameter name is its key in
// summary.json.
func StatisticLabel(name string) string {
	switch name {
	case "used":
		return "number of ingredients"
	case "log_density":
		return "log probability"
	}
	return name
}

// summarizeSeries summarises a statistic, given as one series for each chain.
func summarizeSeries(name string, series []*diagnose.Series) Statistic {
	var z diagnose.Summarizer
	return Statistic{name, z.Series(series)}
}

// UnlistedIngredients summarises the ingredients that draws use but that [Result].Inclusion does
// not list.
type UnlistedIngredients struct {
	Count           int     // number of unlisted ingredients
	Variance        float64 // Σ p(1−p) over the unlisted ingredients, with p the share of draws that use the ingredient
	SquaredVariance float64 // Σ (p(1−p))² over the unlisted ingredients
}

// MaxListedIngredients is the largest number of ingredients that a result lists.
const MaxListedIngredients = 10_000

// newInclusion returns how each ingredient is used in the draws. It lists at most
// [MaxListedIngredients] ingredients, the most used ones, and summarises the others. Among equally
// used ingredients those with lower indices are listed. The parameter minBulkESS is the result of
// [Result.withholdStandardErrors].
func newInclusion(names []string, chains []*chainFigures, minBulkESS float64) (inclusion []Inclusion, unlisted UnlistedIngredients, err error) {
	var presences []*diagnose.Presence
	for _, r := range chains {
		presences = append(presences, r.presence)
	}
	wanted := func(int) bool { return true }
	if n := presences[0].Ingredients(); n > MaxListedIngredients {
		counts := make([]uint64, n)
		for _, p := range presences {
			p.AddCounts(counts)
		}
		sorted := slices.DeleteFunc(slices.Clone(counts), func(count uint64) bool { return count == 0 })
		slices.Sort(sorted)
		unlisted.Count = max(0, len(sorted)-MaxListedIngredients)
		draws := float64(float64(len(presences)) * float64(presences[0].Draws()))
		for _, count := range sorted[:unlisted.Count] {
			p := float64(count) / draws
			unlisted.Variance += float64(p * (1 - p))
			unlisted.SquaredVariance += float64(p * (1 - p) * p * (1 - p))
		}
		sorted = sorted[unlisted.Count:]
		least := sorted[0]
		alike, _ := slices.BinarySearch(sorted, least+1)
		wanted = func(i int) bool {
			if counts[i] == least && alike > 0 {
				alike--
				return true
			}
			return counts[i] > least
		}
	}
	all, err := diagnose.AllInclusions(presences, wanted)
	if err != nil {
		return nil, unlisted, err
	}
	for i, x := range all {
		se, _ := x.StatedError(minBulkESS) // NaN where it is not known
		inclusion = append(inclusion, Inclusion{
			Ingredient: names[i], Probability: number.Number(x.Probability), MCSE: number.Number(se), MeanAmount: number.Number(x.MeanAmount),
			AmountMCSE: number.Unknown(), BookShare: number.Unknown(), BookAmount: number.Unknown(), Index: i, ESS: x.ESS,
		})
	}
	return inclusion, unlisted, nil
}

// compareSizesWithLaw sets r.Sizes. It compares, for each number of ingredients, its probability in
// the sparsity law with its share of the draws. The parameter minBulkESS is the result of
// [Result.withholdStandardErrors].
func (r *Result) compareSizesWithLaw(target *mcmc.Target, chains []*chainFigures, minBulkESS float64) error {
	var histograms []*diagnose.Histogram
	counts := make([][]int64, len(chains))
	for c, rec := range chains {
		histograms = append(histograms, rec.sizeHistogram)
		alone, err := diagnose.Shares([]*diagnose.Histogram{rec.sizeHistogram})
		if err != nil {
			return err
		}
		for _, share := range alone {
			counts[c] = append(counts[c], int64(float64(share.Probability*float64(rec.draws))+0.5))
		}
	}
	shares, err := diagnose.Shares(histograms)
	if err != nil {
		return err
	}
	law := target.Law()
	var wanted, observed []float64
	for _, share := range shares {
		observed = append(observed, share.Probability)
	}
	added := target.Space().LawStandardErrors(observed)
	for n, share := range shares {
		wanted = append(wanted, law.P(n))
		shares[n].MCSE = portable.Hypot(share.MCSE, added[n])
		if lo, hi := law.Support(); n < lo || n > hi {
			continue
		}
		se, _ := share.StatedError(minBulkESS) // NaN where it is not known
		size := Size{
			N:        n,
			Target:   number.Number(law.P(n)),
			Observed: number.Number(share.Probability),
			MCSE:     number.Number(portable.Hypot(se, added[n])),
			LawSE:    number.Number(added[n]),
			Share:    RulesShare(target.Space(), n),
		}
		for _, c := range counts {
			size.Counts = append(size.Counts, c[n])
		}
		r.Sizes = append(r.Sizes, size)
	}
	r.Variation = number.Number(diagnose.TotalVariation(wanted, observed))
	r.ExpectedVariation = number.Number(diagnose.ExpectedTotalVariation(wanted, shares))
	return nil
}
