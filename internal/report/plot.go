package report

// A Plot holds the data of the rank plot and the trace plot of a statistic.
type Plot struct {
	Name string `json:"name"` // name of the statistic

	// Ranks holds shares by chain and bin: the share of the chain's draws whose ranks among the
	// draws of all chains fall into the bin. A share is 1/20 if all chains have the same
	// distribution (Vehtari et al. 2021, section 4.2). Draws of equal value share their ranks
	// evenly. RankSE is the standard error of such a share.
	Ranks  [][]Number `json:"ranks"`
	RankSE Number     `json:"rank_se"`

	// Trace holds evenly spaced draws of each chain, beginning with the first draw. Every is the
	// number of draws from one to the next.
	Trace [][]Number `json:"trace"`
	Every int        `json:"every"`
}

// A Histogram compares the scores of the draws with those of random compositions.
type Histogram struct {
	Log    bool     `json:"log"`    // whether the edges are decimal logarithms
	Edges  []Number `json:"edges"`  // edges of the bins, one more than there are bins
	Draws  []Number `json:"draws"`  // by bin: share of the draws
	Random []Number `json:"random"` // by bin: share of the random compositions
	// DrawsBelow and RandomBelow are the shares of scores below the first edge, mostly scores of 0.
	DrawsBelow  Number `json:"draws_below"`
	RandomBelow Number `json:"random_below"`
	DrawCount   int    `json:"looked"` // number of draws in the histogram
}
