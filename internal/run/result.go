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

// A Result holds the results of a run. None depends on the number of workers or on interruptions,
// except Timing and the seconds of the answer. A statistic that the draws do not determine is NaN.
type Result struct {
	Settings   mcmc.Settings // with the draws and thin that a run of [mcmc.AutoDraws] came to
	Auto       Auto          // why that stopped; zero of other runs
	Parts      []PartFile    // the files that the figures were made of
	Chains     []ChainResult
	Tally      mcmc.Tally    // of all chains after warm-up
	Rates      Rates         // the same as shares
	Moves      []Move        // of a kernel that mixes several
	Ladders    []Ladder      // of a tempered run, by chain
	LogZ       *Estimate     // nil unless tempered
	Sizes      []Size        // by n, over the law's support
	Variation  number.Number // total variation distance of the law of n and the draws
	Expected   number.Number // what it would be at draws that follow the law, see [diagnose.ExpectedTotalVariation]
	Used       Statistic
	LogDensity Statistic
	Score      *Statistic // of Π_k y_k^c_k; nil if no property counts
	Properties []Statistic
	Inclusion  []Inclusion // by ingredient; of more than MostInclusion, those used most
	Conditions []ConditionShares
	Unlisted   Unlisted       // what else is used
	Best       []Best         // at most 100, the best first
	New        []Best         // of those that are not in the book; nil without a book
	Answer     *search.Answer // what a search beside the chains found; nil without a question or if no property counts
	UnseenMode *UnseenMode    // a region that the search found and the chains do not know of; nil: none was seen
	Baseline   *Baseline      // nil if no property counts

	inverse logMean // of 1/Π_k y_k^c_k over all draws

	Notes  []string // what happened to the run that the user should know
	Timing Timing
}

// A ChainResult holds the statistics of one chain.
type ChainResult struct {
	Chain  int          `json:"chain"`
	Starts int          `json:"starts"` // draws from the sparsity law until one had positive density
	Rates  Rates        `json:"rates"`
	Tally  mcmc.Tally   `json:"-"` // after warm-up
	Ladder *mcmc.Ladder `json:"-"` // of a tempered chain, else nil
}

// Rates are shares of iterations after warm-up, in 0..1.
type Rates struct {
	Accepted number.Number `json:"accepted"` // iterations whose proposal was accepted
	Updated  number.Number `json:"updated"`  // iterations that changed the composition
}

// ratesOf returns counts as shares of iterations.
func ratesOf(accepted, updated, iterations int64) Rates {
	return Rates{number.Number(float64(accepted) / float64(iterations)), number.Number(float64(updated) / float64(iterations))}
}

// A Move holds the statistics of one of a kernel's moves after warm-up.
type Move struct {
	Name  string `json:"name"`
	Tried int64  `json:"tried"` // iterations
	Rates        // shares of these
}

// movesOf returns the statistics of each move, for a kernel that mixes several.
func movesOf(t mcmc.Tally) []Move {
	moves := []Move{}
	for _, m := range t.Moves {
		if m.Tried > 0 {
			moves = append(moves, Move{m.Name, m.Tried, ratesOf(m.Accepted, m.Updated, m.Tried)})
		}
	}
	return moves
}

// A Size is one number of ingredients: its probability in the law and among the draws, with the
// standard error of the latter.
type Size struct {
	N        int           `json:"n"`
	Target   number.Number `json:"target"`
	Observed number.Number `json:"observed"` // its share of the draws
	MCSE     number.Number `json:"mcse"`

	// LawSE is the part of MCSE that comes from Share; 0 without.
	LawSE number.Number `json:"law_se"`
	// Share is set where some rules cannot be counted: the share of the counted compositions that
	// keeps them. Its error limits the accuracy of the law of n.
	Share *mcmc.Share `json:"share,omitempty"`

	Counts []int64 `json:"-"` // draws, by chain
}

// RulesShare returns the share of the counted compositions of n ingredients that keeps all rules, nil
// where all rules are counted.
func RulesShare(space *mcmc.Space, n int) *mcmc.Share {
	if shares := space.Shares(); shares != nil {
		return &shares[n-1]
	}
	return nil
}

// A Statistic summarises one series of numbers.
type Statistic struct {
	Name string `json:"-"`
	diagnose.Summary
}

// Inclusion is the share of draws that use an ingredient, and its amount in them.
type Inclusion struct {
	Ingredient  string        `json:"ingredient"`
	Probability number.Number `json:"probability"`
	MCSE        number.Number `json:"mcse"`
	MeanAmount  number.Number `json:"mean_amount"` // units, over the draws that use it

	// AmountMCSE is an upper bound, since it comes from at most 524,288 draws. It is null if all
	// draws that use the ingredient have the same amount. BookShare and BookAmount are the share of
	// known recipes that use it, and the mean units in these. A report adds all three; else, and
	// without known recipes, they are unknown.
	AmountMCSE number.Number `json:"mean_amount_mcse"`
	BookShare  number.Number `json:"book_share"`
	BookAmount number.Number `json:"book_amount"`

	Index int     `json:"-"` // the ingredient's
	ESS   float64 `json:"-"`
}

// Timing is the duration of a run. Only this differs between equal runs.
type Timing struct {
	Seconds             number.Number `json:"seconds"` // in all sessions that led here
	IterationsPerSecond number.Number `json:"iterations_per_second"`
	SearchSeconds       number.Number `json:"search_seconds"` // of the search for the best

	Iterations int64 `json:"-"` // of all chains, warm-up included
}

// withholdErrors returns the smallest bulk effective sample size of a statistic, +Inf if none is
// known. If it is too small for a standard error, it removes the standard errors.
func (r *Result) withholdErrors() (slowest float64) {
	all := []*Statistic{&r.Used, &r.LogDensity}
	for k := range r.Properties {
		all = append(all, &r.Properties[k])
	}
	slowest, name := math.Inf(1), ""
	for _, s := range all {
		if ess := float64(s.ESSBulk); ess < slowest {
			slowest, name = ess, s.Name
		}
	}
	err := diagnose.CheckESS(slowest, len(r.Chains))
	if err == nil {
		return slowest
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
				s.Undefined = append(s.Undefined, diagnose.Undefined{Figure: f.figure, Err: fmt.Errorf("%w, of %s", err, name)})
			}
		}
	}
	return slowest
}

// newStatistic summarises a series of each chain.
func newStatistic(name string, series []*diagnose.Series) Statistic {
	var z diagnose.Summarizer
	return Statistic{name, z.Series(series)}
}

// Unlisted summarises the ingredients that draws use but a result does not list.
type Unlisted struct {
	Count     int
	Variance  float64 // Σ p(1−p) over their probabilities p
	Variance2 float64 // Σ (p(1−p))²
}

// MostInclusion is the most ingredients that a result lists.
const MostInclusion = 10_000

// newInclusion returns the use of the ingredients. If there are more than MostInclusion, it lists
// the most used ones, lower numbers first among equals, and summarises the rest.
func newInclusion(names []string, chains []*chainFigures, slowest float64) (inclusion []Inclusion, unlisted Unlisted, err error) {
	var presences []*diagnose.Presence
	for _, r := range chains {
		presences = append(presences, r.presence)
	}
	wanted := func(int) bool { return true }
	if n := presences[0].Ingredients(); n > MostInclusion {
		counts := make([]uint64, n)
		for _, p := range presences {
			p.AddCounts(counts)
		}
		sorted := slices.DeleteFunc(slices.Clone(counts), func(count uint64) bool { return count == 0 })
		slices.Sort(sorted)
		unlisted.Count = max(0, len(sorted)-MostInclusion)
		draws := float64(float64(len(presences)) * float64(presences[0].Draws()))
		for _, count := range sorted[:unlisted.Count] {
			p := float64(count) / draws
			unlisted.Variance += float64(p * (1 - p))
			unlisted.Variance2 += float64(p * (1 - p) * p * (1 - p))
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
		se, _ := x.StatedError(slowest) // NaN where it is not known
		inclusion = append(inclusion, Inclusion{
			Ingredient: names[i], Probability: number.Number(x.Probability), MCSE: number.Number(se), MeanAmount: number.Number(x.MeanAmount),
			AmountMCSE: number.Unknown(), BookShare: number.Unknown(), BookAmount: number.Unknown(), Index: i, ESS: x.ESS,
		})
	}
	return inclusion, unlisted, nil
}

// setSizes compares the law of n with the draws.
func (r *Result) setSizes(target *mcmc.Target, chains []*chainFigures, slowest float64) error {
	var histograms []*diagnose.Histogram
	counts := make([][]int64, len(chains))
	for c, rec := range chains {
		histograms = append(histograms, rec.sizes)
		alone, err := diagnose.Shares([]*diagnose.Histogram{rec.sizes})
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
	added := target.Space().LawErrors(observed)
	for n, share := range shares {
		wanted = append(wanted, law.P(n))
		shares[n].MCSE = portable.Hypot(share.MCSE, added[n])
		if lo, hi := law.Support(); n < lo || n > hi {
			continue
		}
		se, _ := share.StatedError(slowest) // NaN where it is not known
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
	r.Expected = number.Number(diagnose.ExpectedTotalVariation(wanted, shares))
	return nil
}
