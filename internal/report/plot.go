package report

// A Plot holds the rank plot and the trace of a statistic.
type Plot struct {
	Name string `json:"name"` // of the statistic

	// Ranks are, by chain and bin, the share of the chain's draws whose ranks
	// among the draws of all chains fall into the bin: 1/20 each if the chains
	// follow one law (Vehtari et al. 2021, section 4.2). Equal draws share
	// their ranks evenly. RankSE is the standard error of such a share.
	Ranks  [][]Number `json:"ranks"`
	RankSE Number     `json:"rank_se"`

	// Trace are, by chain, evenly spaced draws from the first on, Every draws apart.
	Trace [][]Number `json:"trace"`
	Every int        `json:"every"`
}

// A Histogram compares the scores of the draws with those of random compositions.
type Histogram struct {
	Log    bool     `json:"log"`    // whether the edges are of the decimal logarithm
	Edges  []Number `json:"edges"`  // one more than bins
	Draws  []Number `json:"draws"`  // by bin, the share of the draws
	Random []Number `json:"random"` // by bin, the share of the random compositions
	// DrawsBelow and RandomBelow are the shares below the first edge, mostly scores of 0.
	DrawsBelow  Number `json:"draws_below"`
	RandomBelow Number `json:"random_below"`
	Looked      int    `json:"looked"` // draws that were looked at
}
